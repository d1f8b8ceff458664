"""The front end under load: many threads, any text, long text."""

import random

import pytest

from tests.growth import assert_linear
from tests.native.threads import N_THREADS, in_threads
from twinvox.text.g2p import G2p

SUBJECTS = ["The old man", "A child", "My sister", "Nobody", "The FBI", "Zantrupel", "It"]
VERBS = ["wanted to record", "had read", "will be thinking of", "jumped over", "didn't use"]
OBJECTS = ["the well-known song", "an apple", "what they said", "50 tables", "a résumé"]
ENDS = [".", "?", ", and then left.", "; she knew!", " at 10:30 p.m.", " (in the end)."]
LENGTHS = (0, 1, 3, 6, 10, 20, 60)


@pytest.fixture(scope="module")
def g2p():
    return G2p()


def sentences(count):
    draw = random.Random(1)
    parts = (SUBJECTS, VERBS, OBJECTS)
    return [" ".join(draw.choice(part) for part in parts) + draw.choice(ENDS) for _ in range(count)]


def test_threads_say_the_same():
    texts = sentences(1_000)
    expected = [G2p().phonemize(text) for text in texts[:50]]
    shared = G2p()
    results = in_threads(lambda _: [shared.phonemize(text) for text in texts])
    assert results == [results[0]] * N_THREADS
    assert results[0][:50] == expected
    assert results[0] == [shared.phonemize(text) for text in texts]


# Ranges from which the drawn texts take their scalars: ASCII twice as often as each other.
RANGES = [
    (0x20, 0x7F), (0x20, 0x7F), (0x00, 0x20), (0xA0, 0x250), (0x250, 0x370), (0x370, 0x500),
    (0x2000, 0x2070), (0x20A0, 0x2200), (0x3000, 0x3100), (0x4E00, 0x4F00), (0xD800, 0xE000),
    (0xFB00, 0xFF00), (0x1F300, 0x1F700), (0x10000, 0x110000),
]  # fmt: skip


def test_any_text_is_spoken_without_an_exception(g2p):
    draw = random.Random(2)
    pool = [chr(draw.randrange(*draw.choice(RANGES))) for _ in range(5_000)]
    pool += list("aeiourstlnmdhgcT'.-,") * 150
    for _ in range(100_000):
        text = "".join(draw.choices(pool, k=draw.choice(LENGTHS)))
        assert isinstance(g2p.phonemize(text), str), ascii(text)


@pytest.mark.parametrize(
    "unit",
    [
        "The quick brown fox jumps over the lazy dog. ", "to the ", "not at all ", "a", "A", "aB",
        "a-", "the-", "a'", "'s ", "a.", ". ", ".", "…", ",", "—", "x: ", "!", '"', '"a" ', "(",
        "9", "9 ", "1,", "1.", "$", "$1 ", "10:30 ", "é", "你", "🙂", "\u0301", " ", "\n", "a@",
        "www.", "&", "&:", "*", "_", "UNESCO ", "zxq", "blorfing ", "I'm ", "http://a", "MMX ",
    ],
)  # fmt: skip
def test_time_is_linear(g2p, unit):
    assert_linear(g2p.phonemize, unit, 40_000)
