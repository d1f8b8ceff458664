"""English text to phonemes and token ids beside phonemizer, piper-phonemize and bare espeak-ng.

The peers stop at the phonemes; ours is also measured on to the token ids. Every round speaks
another of the sentences, all of 61 characters.
"""

import ctypes
import difflib
import itertools
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from twinvox.text.g2p import G2p
from twinvox.text.g2p.lexicon import Lexicon
from twinvox.text.ipa_tokenizer import IpaTokenizer

LENGTH = 61
SENTENCES = """\
The weather in the valley was a lot colder than we'd guessed.
She walked slowly along the river and thought about the plan.
We have to record the meeting before everyone leaves tonight.
Nobody knew why the old clock had stopped at half past seven.
If you want a quiet room, ask for one that faces the gardens.
The children were singing in the kitchen while dinner cooked.
He bought three books, a lamp and some paper for the offices.
It's hard to say whether the trains will be on time tomorrow.
Please leave the keys on the table when you go out for lunch.
A small dog followed them home; nobody asked whose pet it is.
They were going to paint their fence, but it started to rain.
I can't remember the name of the town where we met last year.
The doctor says that most of it would heal within four weeks.
Open the windows a little; the air in here is much too humid.
Her brother lives in a small house at the edge of the forest.
You should have seen the looks on our faces when we heard it.
The museum opens at nine, and closes an hour before midnight.
My sister sent a letter, two photographs and a box of stamps.
What would you do if that last bus had already left the city?
Every winter the lakes freeze, and then whole villages skate.
The reports were finished early, so we sent them to printers.
Bring a coat with you, because the evenings are getting cold.
Most of the money went into books, tools and railway tickets.
The teacher made us read a poem twice before we wrote a line.
We moved here in the spring and planted apple trees at first.
Don't forget to water the plants on the balcony when I'm out.
There is a bakery near the station that sells excellent bread
The engine made a strange noise, so he stopped to look at it.
Her voice was calm, but her hands were shaking as she talked.
They sat under the bridge until the storm had passed them by.
The bridge across the harbour will be closed for all traffic.
Some people like to work at night, when every house is quiet.
""".splitlines()
ROUNDS = 100 * len(SENTENCES)
LIKE_OURS = 0.9  # the least part of a peer's phonemes that a different espeak-ng may share

sentences = pytest.mark.benchmark(group=f"a sentence of {LENGTH} characters")


@pytest.fixture(scope="module")
def g2p():
    return G2p()


@pytest.fixture(scope="module")
def tokenizer():
    return IpaTokenizer.load(str(files("twinvox").joinpath("data/embedded/tokens.txt")))


def measure(benchmark, speak):
    assert {len(sentence) for sentence in SENTENCES} == {LENGTH}
    turn = itertools.cycle(SENTENCES)
    benchmark.pedantic(
        speak,
        setup=lambda: ((next(turn),), {}),
        rounds=ROUNDS,
        warmup_rounds=len(SENTENCES),
    )


def check(g2p, speak):
    """The peer did the same work: what it says is what we say, but for another version's taste."""
    for sentence in SENTENCES:
        ours, theirs = g2p.phonemize(sentence, normalization="upstream"), speak(sentence)
        assert difflib.SequenceMatcher(None, ours, theirs).ratio() > LIKE_OURS, (ours, theirs)


@sentences
@pytest.mark.parametrize("normalization", ["natural", "upstream"])
def test_twinvox_to_ids(benchmark, g2p, tokenizer, normalization):
    def speak(text):
        return tokenizer.encode(g2p.phonemize(text, normalization=normalization))

    for sentence in SENTENCES:
        ids, skipped = speak(sentence)
        assert len(ids) > LENGTH // 2
        assert not skipped
    measure(benchmark, speak)


@sentences
def test_twinvox_to_phonemes(benchmark, g2p):
    measure(benchmark, g2p.phonemize)


@sentences
def test_piper_phonemize(benchmark, g2p):
    piper = pytest.importorskip("piper_phonemize", reason="pip install piper-phonemize==1.1.0")

    def speak(text):
        return piper.phonemize_espeak(text, "en-us")

    check(g2p, lambda text: "".join(itertools.chain.from_iterable(speak(text))))
    measure(benchmark, speak)


@sentences
def test_phonemizer(benchmark, g2p):
    loader = pytest.importorskip("espeakng_loader", reason="pip install espeakng-loader")
    backend = pytest.importorskip("phonemizer.backend", reason="pip install phonemizer")
    from phonemizer.backend.espeak.wrapper import EspeakWrapper

    EspeakWrapper.set_library(loader.get_library_path())
    EspeakWrapper.set_data_path(loader.get_data_path())
    espeak = backend.EspeakBackend("en-us", preserve_punctuation=True, with_stress=True)

    def speak(text):
        return espeak.phonemize([text], strip=True)

    check(g2p, lambda text: speak(text)[0])
    measure(benchmark, speak)


@sentences
def test_espeak_ng(benchmark, g2p):
    loader = pytest.importorskip("espeakng_loader", reason="pip install espeakng-loader")
    library = ctypes.CDLL(loader.get_library_path())
    say = library.espeak_TextToPhonemes
    say.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int]
    say.restype = ctypes.c_char_p
    retrieval, utf8, ipa = 1, 1, 2
    rate = library.espeak_Initialize(retrieval, 0, loader.get_data_path().encode(), 0)
    assert rate > 0, "espeak-ng finds no data"
    assert library.espeak_SetVoiceByName(b"en-us") == 0

    def speak(text):
        rest = ctypes.c_char_p(text.encode())
        clauses = []
        while rest.value:
            clauses.append(say(ctypes.byref(rest), utf8, ipa).decode())
        return clauses

    check(g2p, lambda text: " ".join(speak(text)))
    measure(benchmark, speak)


MEMORY = """
import resource, sys
from twinvox.text.g2p import G2p
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() // 1024
before = resident()
g2p = G2p()
opened = resident()
for sentence in sys.stdin:
    g2p.phonemize(sentence)
print(opened - before, resident() - before)
"""


@pytest.mark.benchmark(group="opening the lexicon")
def test_open(benchmark):
    if Path("/proc/self/statm").exists():
        done = subprocess.run(
            [sys.executable, "-c", MEMORY],
            input="\n".join(SENTENCES),
            capture_output=True,
            text=True,
            check=True,
        )
        opened, used = map(int, done.stdout.split())
        benchmark.extra_info |= {"resident_kib": opened, "resident_after_use_kib": used}
    benchmark(Lexicon, str(files("twinvox.text.g2p").joinpath("data/english.lex")))
