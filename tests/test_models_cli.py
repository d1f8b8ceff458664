"""``twinvox models``, ``twinvox voice list | pull`` and ``say`` on models of a hub on localhost."""

import json
import re
from pathlib import Path

import pytest

from tests import hub_server, toy_cosyvoice3
from tests.mil.text_printer import compile_folder
from twinvox.backends import model_folder
from twinvox.backends.cosyvoice3.folder import published_files as cosyvoice3_patterns
from twinvox.bench import run as bench_run
from twinvox.cli import main
from twinvox.errors import TwinvoxError
from twinvox.voice import Voice

LUXTTS = "FluidInference/luxtts-coreml"
COSYVOICE3 = "FluidInference/CosyVoice3-0.5B-coreml"
OTHER_VOICE = "aishell3-zh-SSB0005-female"


def read_folder(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


@pytest.fixture(scope="session")
def luxtts_files(tmp_path_factory):
    """The embedded model as LuxTTS is published: compiled."""
    target = tmp_path_factory.mktemp("published") / "luxtts"
    files = read_folder(compile_folder(model_folder("embedded"), target))
    return {path: content for path, content in files.items() if not path.endswith(".md")}


@pytest.fixture(scope="session")
def cosyvoice3_files(tmp_path_factory):
    """The layout of CosyVoice3 as it is published, with real voices only."""
    voices = tmp_path_factory.mktemp("published") / "voices"
    for name in ("cosyvoice3-default-zh", OTHER_VOICE):
        toy_cosyvoice3.write_voice(voices / f"{name}.safetensors", 20, "你好")
    files = {f"voices/{path}": content for path, content in read_folder(voices).items()}
    for pattern in cosyvoice3_patterns():
        path = pattern.replace("*", "model.mil")
        files.setdefault(path, path.encode())
    return files


@pytest.fixture
def server(tmp_path, monkeypatch, luxtts_files, cosyvoice3_files):
    with hub_server.connected(monkeypatch, tmp_path) as running:
        running.publish(LUXTTS, luxtts_files)
        running.publish(COSYVOICE3, cosyvoice3_files)
        yield running


@pytest.fixture
def run(capsys):
    """Runs a command that must succeed: what it prints."""

    def run(*arguments: str) -> str:
        code = main(arguments)
        shown = capsys.readouterr()
        assert (code, shown.err) == (0, "")
        return shown.out.strip()

    return run


def test_say_from_an_empty_cache(server, tmp_path, run, capsys):
    def say(name: str, *options: str) -> bytes:
        out = tmp_path / name
        run("say", "Hello there.", "-o", str(out), "--threads", "1", *options)
        return out.read_bytes()

    expected = say("embedded.wav")
    assert say("first.wav", "--backend", "luxtts") == expected
    assert server.gets("weight.bin")
    server.requests.clear()
    assert say("again.wav", "--backend", "luxtts") == expected
    assert say("offline.wav", "--backend", "luxtts", "--offline") == expected
    assert server.requests == []

    root = Path(run("models", "path", "luxtts"))
    weights = root / "gpu" / "FmDecoder.mlmodelc" / "weights" / "weight.bin"
    weights.write_bytes(weights.read_bytes()[:-1])
    command = ["say", "Hello there.", "--backend", "luxtts", "--threads", "1"]
    command += ["-o", str(tmp_path / "healed.wav")]
    assert main([*command, "--offline"]) == 1
    assert "FmDecoder.mlmodelc/weights/weight.bin has " in capsys.readouterr().err
    assert not (tmp_path / "healed.wav").exists()
    assert main(command) == 0
    assert "fetching again" in capsys.readouterr().err
    assert (tmp_path / "healed.wav").read_bytes() == expected


def test_bench_fetches_before_it_measures(server, monkeypatch, capsys):
    def measure(*_, **__):
        raise TwinvoxError(f"{len(server.gets('weight.bin'))} requests for weights were made")

    monkeypatch.setattr(bench_run, "run_benchmark", measure)
    assert main(["bench", "--backend", "luxtts", "--skip-asr"]) == 1
    assert re.search("[1-9] requests for weights", capsys.readouterr().err)


def test_cosyvoice3_comes_with_its_default_voice_only(server):
    folder = model_folder("cv3")
    assert [path.stem for path in folder.glob("voices/*.json")] == ["cosyvoice3-default-zh"]
    server.requests.clear()
    assert model_folder("cosyvoice3", offline=True) == folder
    assert server.requests == []


def test_a_published_voice_joins_the_model(server, run):
    folder = Path(run("models", "pull", "cosyvoice3"))
    shown = run("voice", "list")
    assert f"{OTHER_VOICE}        for cosyvoice3, to be fetched: voice pull" in shown
    path = Path(run("voice", "pull", OTHER_VOICE))
    assert path == folder / "voices" / f"{OTHER_VOICE}.safetensors"
    assert Voice.load(path).prompt_text
    server.requests.clear()
    lines = dict(line.split(maxsplit=1) for line in run("voice", "list", "--offline").splitlines())
    assert lines == {
        "female": "ships with twinvox",
        "male": "ships with twinvox",
        "cosyvoice3-default-zh": "for cosyvoice3",
        OTHER_VOICE: "for cosyvoice3",
    }
    assert server.requests == []


def test_voices_that_are_not_there(server, capsys):
    assert main(["voice", "pull", "nobody"]) == 1
    assert "has no voices/nobody.safetensors" in capsys.readouterr().err
    assert main(["voice", "pull", "../*"]) == 1
    assert "'../*' is no voice id" in capsys.readouterr().err


def test_the_life_of_a_model(server, run, capsys):
    assert "not here; fetched from FluidInference/luxtts-coreml" in run("models", "list")
    folder = run("models", "pull", "luxtts")
    assert f"luxtts      gpu  {folder}" in run("models", "list").splitlines()
    assert run("models", "path", "luxtts", "--variant", "gpu") == folder
    commit = server.branches[LUXTTS, "main"]
    n_files = len(read_folder(Path(folder)))
    intact = f"{n_files} files are those of {LUXTTS} at {commit}"
    assert run("models", "verify", "luxtts") == intact
    (Path(folder) / "tokens.txt").write_text("?")
    assert main(["models", "verify", "luxtts"]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("tokens.txt has 1 bytes instead of ")
    assert f"1 of {n_files} files" in shown.err
    assert "(damaged)" in run("models", "list")
    run("models", "pull", "luxtts")
    assert run("models", "verify", "luxtts") == intact
    assert run("models", "remove", "luxtts").endswith(" MB freed")
    assert main(["models", "path", "luxtts"]) == 1
    assert "twinvox models pull luxtts" in capsys.readouterr().err


@pytest.mark.parametrize("by_environment", [True, False])
def test_a_folder_of_ones_own(server, run, capsys, tmp_path, monkeypatch, by_environment):
    folder = tmp_path / "mine" / "luxtts"
    where = [] if by_environment else ["--models-dir", str(folder)]
    if by_environment:
        monkeypatch.setenv("TWINVOX_MODELS_DIR", str(folder.parent))
        assert f"luxtts      gpu  not in {folder}" in run("models", "list")
    assert main(["models", "path", "luxtts", *where]) == 1
    assert (
        f"no folder {folder}; run: twinvox models pull luxtts --models-dir"
        in capsys.readouterr().err
    )
    assert run("models", "pull", "luxtts", *where) == str(folder)
    server.requests.clear()
    assert run("models", "path", "luxtts", *where) == str(folder)
    run("models", "verify", "luxtts", *where)
    if by_environment:
        rows = run("models", "list").splitlines()
        assert rows[:2] == [f"luxtts      gpu  {folder}", f"luxtts      ane  not in {folder}"]
        tokens = folder / "tokens.txt"
        intact = tokens.read_bytes()
        tokens.write_bytes(intact[:-1])
        assert run("models", "list").splitlines()[0] == f"luxtts      gpu  {folder} (damaged)"
        assert main(["models", "verify", "luxtts"]) == 1
        assert f"run: twinvox models pull luxtts --models-dir {folder}" in capsys.readouterr().err
        tokens.write_bytes(intact)
    say = ["say", "Hello.", "--backend", "luxtts", "-o", str(tmp_path / "a.wav")]
    run(*say, *where)
    assert server.requests == []
    run("models", "remove", "luxtts", *where)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("compiled", [True, False])
def test_inspect(run, tmp_path, luxtts_files, compiled):
    path = model_folder("embedded") / "gpu" / "TextEncoder.mlpackage"
    if compiled:
        path = tmp_path / "TextEncoder.mlmodelc"
        for name, content in luxtts_files.items():
            if name.startswith("gpu/TextEncoder"):
                file = path / Path(*Path(name).parts[2:])
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
    report = json.loads(run("models", "inspect", str(path), "--json"))
    assert report["inputs"]["tokens"].startswith("int32 [1, ")
    assert report["outputs"].keys() == {"token_embeds"}
    assert report["weights_bytes"] == 2_363_840  # of its weight.bin
    assert report["operations"]["linear"] > 0
    shown = run("models", "inspect", str(path)).splitlines()
    assert shown[0] == f"{report['opset']}, 2,363,840 bytes of weights"
    assert shown[2].split() == ["tokens", *report["inputs"]["tokens"].split()]


@pytest.mark.parametrize(
    "arguments",
    [
        ["models"],
        ["models", "pull"],
        ["models", "pull", "embedded"],
        ["models", "pull", "cosyvoice3", "--variant", "gpu"],
        ["models", "pull", "luxtts", "--variant", "tpu"],
    ],
)
def test_wrong_use_exits_2(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage:" in capsys.readouterr().err
