"""Published models from a hub on localhost: fetched, verified, found again, removed."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
from huggingface_hub import snapshot_download
from safetensors.numpy import save_file

from tests import hub_server
from tests.hub_repository import (
    BIG,
    FILES,
    REPOSITORY,
    WANTED,
    blobs,
    contents,
    damage_html,
    damage_pointer,
    damage_truncated,
    empty,
    fetched,
    free_bytes,
    repository_files,
    truncate_weights,
)
from twinvox import hub
from twinvox.backends import published_files
from twinvox.backends.cosyvoice3.folder import published_voice
from twinvox.errors import DownloadError, ModelFormatError, ModelNotFoundError, ModelWarning
from twinvox.hub.places import HubCache, PlainFolder, hub_cache


@pytest.fixture
def server(tmp_path, monkeypatch):
    """An empty cache and a hub with the LuxTTS repository."""
    with hub_server.connected(monkeypatch, tmp_path) as running:
        running.publish(REPOSITORY, repository_files())
        yield running


def test_only_the_variant_is_fetched_and_then_found_without_a_request(server):
    root = fetched()
    files = repository_files()
    assert contents(root) == {path: files[path] for path in WANTED}
    assert len(server.gets("/api/")) == 1
    server.requests.clear()
    assert fetched() == root
    assert hub.ensure("luxtts", FILES, offline=True) == root
    assert server.requests == []


def test_a_cached_model_needs_no_huggingface_hub(server):
    root = fetched()
    program = f"""
import sys
from twinvox.backends import model_folder
assert str(model_folder("luxtts")) == {str(root)!r}
assert not {{"huggingface_hub", "httpx2", "httpx"}} & set(sys.modules)
"""
    server.requests.clear()
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ)
    assert server.requests == []


def test_another_variant_comes_from_the_same_commit(server):
    root = fetched()
    server.publish(REPOSITORY, repository_files() | {"tokens.txt": b"_\t0\na\t1\n"})
    server.requests.clear()
    assert hub.ensure("luxtts", published_files("luxtts", "ane")) == root
    assert (root / "tokens.txt").read_bytes() == b"_\t0\n"
    asked = [request for request in server.requests if "/api/" not in request]
    assert asked
    assert all("/ane/" in request for request in asked)


def test_pull_brings_everything_to_the_newest_commit(server, monkeypatch):
    old = fetched()
    hub.ensure("luxtts", published_files("luxtts", "ane"))
    changed = repository_files() | {"gpu/TextEncoder.mlmodelc/model.mil": b"program(1.0) newer"}
    commit = server.publish(REPOSITORY, changed)
    before = server.served_bytes
    free_bytes(monkeypatch, 5_000)  # no room for what has not changed
    published = hub.published("luxtts")
    place = HubCache.of(REPOSITORY)
    root = hub.pull(published, FILES, place, published.revision)
    assert root != old
    assert root.name == commit
    assert contents(root) == {p: c for p, c in changed.items() if p != "README.md"}
    assert server.served_bytes - before < 5_000  # what is the same is not fetched again
    assert fetched() == root


def test_offline_what_others_have_fetched_is_used_where_it_looks_sound(server, monkeypatch):
    from huggingface_hub import snapshot_download

    root = Path(snapshot_download(REPOSITORY, endpoint=server.url, cache_dir=hub_cache()))
    server.requests.clear()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert fetched() == root
    tokens = root / "tokens.txt"
    tokens.rename(root / "elsewhere.txt")
    with pytest.raises(ModelNotFoundError, match="LuxTTS models is known"):
        fetched()
    (root / "elsewhere.txt").rename(tokens)
    damage_html(tokens)
    with pytest.raises(ModelFormatError, match=r"tokens\.txt is an HTML page"):
        fetched()
    assert server.requests == []


def test_offline_without_models_says_what_to_do(server, monkeypatch):
    with pytest.raises(ModelNotFoundError, match="twinvox models pull luxtts"):
        hub.ensure("luxtts", FILES, offline=True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelNotFoundError, match="LuxTTS models is known"):
        fetched()
    assert server.requests == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"repository": 1, "files": []}',
        b'{"repository": "FluidInference/luxtts-coreml", "commit": "../../..", "files": {}}',
        b'{"repository": "FluidInference/luxtts-coreml", "commit": "%s", "files": {"tokens.txt": '
        b'{"digest": {"size": null, "algorithm": "git", "value": "0"}, "mtime_ns": 0}}}'
        % (b"0" * 40),
    ],
)
def test_a_damaged_receipt_is_none(server, content):
    root = fetched()
    HubCache.of(REPOSITORY).receipt.write_bytes(content)
    with pytest.raises(ModelNotFoundError):
        hub.ensure("luxtts", FILES, offline=True)
    server.requests.clear()
    assert fetched() == root
    assert server.gets("resolve") == []


def test_remove(server):
    place = HubCache.of(REPOSITORY)
    fetched()
    assert hub.remove(place) == sum(len(repository_files()[path]) for path in WANTED)
    assert blobs() == []
    with pytest.raises(ModelNotFoundError, match="nothing was fetched"):
        hub.remove(place)
    assert contents(fetched()).keys() == set(WANTED)


def test_remove_spares_what_others_fetched(server):
    """Of the same commit another program has everything, and of an older one what is the same."""
    older = repository_files() | {"tokens.txt": b"_\t1\n"}
    newest = server.commits[server.branches[REPOSITORY, "main"]]
    server.publish(REPOSITORY, older)
    old = Path(snapshot_download(REPOSITORY, cache_dir=hub_cache()))
    server.publish(REPOSITORY, newest)
    new = Path(snapshot_download(REPOSITORY, cache_dir=hub_cache()))
    assert fetched() == new
    place = HubCache.of(REPOSITORY)
    assert hub.remove(place) == len(newest["tokens.txt"])  # all else the older commit links to
    assert contents(old) == older
    assert contents(new) == {path: newest[path] for path in newest if path not in WANTED}
    assert huggingface_hub.scan_cache_dir(hub_cache()).warnings == []
    shutil.rmtree(old)
    fetched()
    hub.ensure("luxtts", published_files("luxtts", "ane"))
    hub.remove(place)
    assert contents(new) == {"README.md": newest["README.md"]}


@pytest.mark.parametrize("plain", [False, True])
def test_remove_after_a_process_was_killed(server, tmp_path, plain):
    place = PlainFolder(tmp_path / "mine") if plain else HubCache.of(REPOSITORY)
    reached, over = threading.Event(), threading.Event()

    def hang(handler, body):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        reached.set()
        over.wait(60)

    server.fail(f"GET {BIG}", hang)
    chosen = ["--models-dir", str(place.folder)] if plain else []
    command = [sys.executable, "-m", "twinvox", "models", "pull", "luxtts", *chosen]
    process = subprocess.Popen(command, env=os.environ)
    assert reached.wait(60)
    process.kill()
    process.wait()
    over.set()
    assert list(place.folder.rglob("*.incomplete"))
    root = hub.pull(hub.published("luxtts"), FILES, place)
    assert contents(root).keys() == set(WANTED)
    (root / "another.txt").touch()
    hub.remove(place)
    assert [path.name for path in place.folder.rglob("*") if path.is_file()] == ["another.txt"]


def test_remove_when_all_is_gone_already(server):
    place = HubCache.of(REPOSITORY)
    shutil.rmtree(fetched())
    assert hub.remove(place) == 0
    assert huggingface_hub.scan_cache_dir(hub_cache()).warnings == []


def test_remove_spares_what_was_in_the_folder_before(server, tmp_path):
    """Such as the user's own copies of published files, and the cache in the user's home."""
    folder = tmp_path / "home"
    before = {
        "tokens.txt": repository_files()["tokens.txt"],
        BIG: repository_files()[BIG],
        ".cache/huggingface/token": b"secret",
        ".cache/huggingface/hub/models--another--one/blobs/1": b"precious",
    }
    for path, content in before.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    place = PlainFolder(folder)
    hub.pull(hub.published("luxtts"), FILES, place)
    assert contents(folder).keys() == set(WANTED)
    hub.remove(place)
    after = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in (".gitignore", "CACHEDIR.TAG")
    }
    assert after == before


def test_what_a_file_of_ones_own_links_to_is_not_touched(server, tmp_path):
    shared, folder = tmp_path / "shared.txt", tmp_path / "mine"
    shared.write_text("precious")
    folder.mkdir()
    (folder / "tokens.txt").symlink_to(shared)
    hub.pull(hub.published("luxtts"), FILES, PlainFolder(folder))
    assert contents(folder).keys() == set(WANTED)
    link = fetched() / "tokens.txt"
    link.unlink()
    link.symlink_to(shared)
    with pytest.warns(ModelWarning, match=r"tokens\.txt has 8 bytes"):
        fetched()
    assert shared.read_text() == "precious"


def test_a_folder_of_ones_own(server, tmp_path):
    folder = tmp_path / "mine"
    published, place = hub.published("luxtts"), PlainFolder(folder)
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    assert hub.pull(published, FILES, place) == folder
    files = repository_files()
    assert contents(folder) == {path: files[path] for path in WANTED} | {"notes.txt": b"mine"}
    hub.check("luxtts", folder, FILES)
    damage_truncated(folder / BIG)
    with pytest.raises(ModelFormatError, match=f"{BIG} has 100 bytes") as caught:
        hub.check("luxtts", folder, FILES)
    assert str(caught.value).endswith(f"run: twinvox models pull luxtts --models-dir {folder}")
    server.requests.clear()
    hub.pull(published, FILES, place)
    assert (folder / BIG).read_bytes() == files[BIG]
    assert len(server.gets("resolve") + server.gets("cdn")) == 1
    assert hub.remove(place) == sum(len(files[path]) for path in WANTED)
    assert sorted(path.name for path in folder.iterdir()) == ["notes.txt"]


@pytest.mark.parametrize("folder", ["link", "real/../real", "with a space, é and 中"])
def test_wherever_the_folder_is(server, tmp_path, monkeypatch, folder):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.setenv("HF_HOME", f"{tmp_path}/{folder}/hf")
    assert contents(fetched()).keys() == set(WANTED)
    mine = Path(f"{tmp_path}/{folder}/mine")
    root = hub.pull(hub.published("luxtts"), FILES, PlainFolder(mine))
    assert contents(root).keys() == set(WANTED)


def test_a_receipt_cannot_point_outside(server, tmp_path):
    folder = tmp_path / "mine"
    place = PlainFolder(folder)
    hub.pull(hub.published("luxtts"), FILES, place)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    place.receipt.write_text(place.receipt.read_text().replace('"tokens.txt"', '"../victim"'))
    with pytest.raises(ModelNotFoundError):
        hub.remove(place)
    assert victim.exists()


def test_two_processes_at_once(server):
    program = "from twinvox.backends import model_folder; print(model_folder('luxtts'))"
    racers = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=os.environ)
        for _ in range(3)
    ]
    answers = {racer.communicate(timeout=60)[0] for racer in racers}
    assert [racer.returncode for racer in racers] == [0, 0, 0]
    (answer,) = answers
    root = Path(answer.decode().strip())
    assert contents(root).keys() == set(WANTED)
    assert hub.verify(HubCache.of(REPOSITORY))[1] == {}


def test_two_processes_with_different_variants_keep_both(server):
    program = (
        "import sys; from twinvox.backends import model_folder;"
        "model_folder('luxtts', variant=sys.argv[1])"
    )
    racers = [
        subprocess.Popen([sys.executable, "-c", program, variant], env=os.environ)
        for variant in ("gpu", "ane")
    ]
    assert [racer.wait(timeout=60) for racer in racers] == [0, 0]
    server.requests.clear()
    for variant in ("gpu", "ane"):
        hub.ensure("luxtts", published_files("luxtts", variant), offline=True)
    assert server.requests == []


@pytest.fixture
def fluidaudio(tmp_path, monkeypatch):
    """FluidAudio's folder, holding the gpu variant."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".cache" / "fluidaudio" / "Models" / "luxtts"
    for path in WANTED:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(repository_files()[path])
    return folder


def test_the_folder_of_fluidaudio_is_used(server, fluidaudio):
    assert fetched() == fluidaudio
    assert server.requests == []
    assert hub.ensure("luxtts", published_files("luxtts", "ane")) != fluidaudio


@pytest.mark.parametrize("path", [BIG, "gpu/TextEncoder.mlmodelc/model.mil"])
def test_a_folder_of_fluidaudio_that_is_not_complete_is_passed_over(server, fluidaudio, path):
    (fluidaudio / path).unlink()
    with pytest.raises(ModelFormatError, match=f"{path} is missing"):
        hub.ensure("luxtts", FILES, offline=True)
    with pytest.warns(ModelWarning, match=f"{path} is missing; fetching again"):
        assert fetched().is_relative_to(hub_cache())


@pytest.mark.parametrize("damage", [damage_html, damage_pointer, empty, truncate_weights])
def test_a_damaged_folder_of_fluidaudio_is_passed_over(server, fluidaudio, damage):
    problem = damage(fluidaudio / BIG)
    with pytest.raises(ModelFormatError, match=problem):
        hub.ensure("luxtts", FILES, offline=True)
    with pytest.warns(ModelWarning, match=problem):
        root = fetched()
    assert root.is_relative_to(hub_cache())
    assert fetched() == root


def test_a_truncated_voice_of_fluidaudio_is_passed_over(server, fluidaudio):
    voice = published_voice("me")
    tensors, sidecar = (fluidaudio.parent / "cosyvoice3" / path for path in voice)
    tensors.parent.mkdir(parents=True)
    save_file({"prompt_mel": np.zeros((1, 2, 80), np.float32)}, tensors)
    sidecar.write_text("{}")
    assert hub.find("cosyvoice3", voice) == (fluidaudio.parent / "cosyvoice3", {})
    tensors.write_bytes(tensors.read_bytes()[:-1])
    with pytest.raises(ModelFormatError, match=r"voices/me\.safetensors is damaged"):
        hub.ensure("cosyvoice3", voice, offline=True)


def test_pins(server, monkeypatch, tmp_path):
    from twinvox.hub import manifest

    files = repository_files()
    commit = server.branches[REPOSITORY, "main"]

    def pin(content: bytes, revision: str) -> None:
        digest = {
            "size": len(content), "algorithm": "git", "value": hub_server.git_sha1(content),
        }  # fmt: skip
        entry = {
            "title": "LuxTTS", "repository": REPOSITORY, "revision": revision,
            "files": {"tokens.txt": digest},
        }  # fmt: skip
        path = tmp_path / "models.json"
        path.write_text(manifest.json.dumps({"luxtts": entry}))
        monkeypatch.setattr(manifest, "MANIFEST", path)

    pin(b"other", commit)
    with pytest.raises(DownloadError, match=r"the hub declares tokens\.txt .*expects"):
        fetched()
    pin(files["tokens.txt"], commit)
    server.publish(REPOSITORY, files | {"tokens.txt": b"newer"})
    root = fetched()
    assert root.name == commit
    pin(files["tokens.txt"], "0" * 40)
    with pytest.raises(ModelNotFoundError):
        hub.ensure("luxtts", FILES, offline=True)
    with pytest.raises(DownloadError, match="no such revision"):
        fetched()


def test_the_cache_is_where_huggingface_hub_has_it(monkeypatch):
    program = "from huggingface_hub.constants import HF_HUB_CACHE; print(HF_HUB_CACHE)"
    names = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME")
    cases = [
        {},
        {"XDG_CACHE_HOME": "/x"},
        {"XDG_CACHE_HOME": "/x", "HF_HOME": "~/h"},
        {"HF_HOME": "/h", "HF_HUB_CACHE": "$HOME/c"},
        {"HF_HOME": "/h", "HUGGINGFACE_HUB_CACHE": "/old"},
    ]
    for case in cases:
        for name in names:
            monkeypatch.delenv(name, raising=False)
        for name, value in case.items():
            monkeypatch.setenv(name, value)
        theirs = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        assert str(hub_cache()) == theirs.stdout.strip(), case


def test_the_pin_tool(server, monkeypatch, tmp_path, capsys):
    from tools import pin_models
    from twinvox.hub import manifest

    path = tmp_path / "models.json"
    shutil.copy(manifest.MANIFEST, path)
    monkeypatch.setattr(manifest, "MANIFEST", path)
    monkeypatch.setattr(pin_models, "MANIFEST", path)
    monkeypatch.setattr(sys, "argv", ["pin_models", "luxtts"])
    pin_models.main()
    commit = server.branches[REPOSITORY, "main"]
    n_files = len(repository_files()) - 1  # without the README
    assert capsys.readouterr().out == f"luxtts: {commit}, {n_files} files\n"
    server.publish(REPOSITORY, {"config.json": b"{}"})
    assert fetched().name == commit
    assert hub.published("cosyvoice3").revision == "main"
