import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twinvox.text.g2p import G2p

RECORDED = Path(__file__).parent / "data" / "sentences.tsv"


@pytest.fixture(scope="module")
def g2p():
    return G2p()


def recorded():
    lines = RECORDED.read_text(encoding="utf-8").split("\n")
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize(("text", "phonemes"), recorded())
def test_sentences_equal_the_oracle(g2p, text, phonemes):
    assert g2p.phonemize(text) == phonemes


@pytest.mark.parametrize(
    "text",
    ["", "   ", "\n\t", "...", "?!", "\"'()", "—", "🙂🎉", "\u200b\ufeff", "你好", "\x00\x1b"],
)
def test_nothing_to_say(g2p, text):
    assert g2p.phonemize(text) == ""


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("50", "fˈɪfti"),
        ("a", "ˈeɪ"),
        ("apple", "ˈæpəl"),
        ("naïve café", "naɪˈiːv kæfˈeɪ"),
        ("don’t", "dˈoʊnt"),
        ("FBI", "ˌɛfbˌiːˈaɪ"),
        ("NASA", "nˈæsɐ"),
        ("BMW", "bˌiːˌɛmdˈʌbəljˌuː"),
        ("U.S.", "jˌuːˈɛs."),
        ("twenty-one", "twˈɛntiwˌʌn"),
        ("a, b: c; d. e! f? g", "ˈeɪ, bˈiː: sˈiː; dˈiː ˈiː!ˈɛf?dʒˈiː"),
        ("date.It's fine", "dˈeɪt dˈɑːt ɪts fˈaɪn"),
    ],
)
def test_single_things(g2p, text, phonemes):
    assert g2p.phonemize(text) == phonemes


@pytest.mark.parametrize("word", ["blorfing", "Zantrupel", "quixels", "vronk's", "ungrebbably"])
def test_unknown_words_are_pronounced_not_spelt(g2p, word):
    phonemes = g2p.phonemize(word)
    assert "ˈ" in phonemes
    assert len(phonemes) < 2 * len(word)


def test_endings_follow_the_known_word(g2p):
    assert g2p.phonemize("Kierkegaard's") == g2p.phonemize("Kierkegaard") + "z"
    assert g2p.phonemize("aardvarkness") == g2p.phonemize("aardvark") + "nəs"


@settings(max_examples=400, deadline=None)
@given(text=st.text(max_size=80))
def test_any_text_is_accepted(g2p, text):
    phonemes = g2p.phonemize(text)
    assert phonemes == phonemes.lstrip()


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="abIT .,;:!?'\"()-—…&@5", max_size=60))
def test_mark_heavy_text_is_accepted(g2p, text):
    assert "?" not in g2p.phonemize(text.replace("?", ""))


def test_long_runs_need_no_deep_stack(g2p):
    for unit in ("a", "a'", "'s", "a.", "A", "a-", ". ", "x ", "(", "é", "9", "aB"):
        g2p.phonemize(unit * 5_000)


def test_threads_share_one_engine(g2p):
    texts = [text for text, _ in recorded()]
    expected = [g2p.phonemize(text) for text in texts]
    fresh = G2p()
    found: list[list[str]] = []

    def work() -> None:
        found.append([fresh.phonemize(text) for text in texts])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_the_oracle_still_says_what_is_recorded():
    oracle = pytest.importorskip("piper_phonemize", reason="the espeak oracle is a tool only")
    text, phonemes = recorded()[0]
    oracle.phonemize_espeak("Dogs run.", "en-us")
    assert "".join("".join(s) for s in oracle.phonemize_espeak(text, "en-us")) == phonemes
