import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.threads import in_threads
from tests.reference import letters as reference
from twinvox._native.cpu import simd_levels
from twinvox._native.letters import LONGEST, LetterNetwork

CERTAIN = 2.0
SIZES = {"n_layers": 2, "n_letters": 30, "n_labels": 9}


def toy_weights(seed, loudness=1.0, forbidden=(), mute=()):
    """Random weights whose activations fill the 16 bits; loudness makes them overflow.

    The letters forbidden may speak no label without a primary stress, the mute ones none with it.
    """
    rng = np.random.default_rng(seed)
    n_letters, n_labels = SIZES["n_letters"], SIZES["n_labels"]

    def integers(*shape):
        return rng.integers(-127, 128, shape, np.int8)

    def affine(n, scale, bias):
        return [
            rng.uniform(0.1, 1, n).astype(np.float32) * np.float32(scale),
            rng.normal(0, bias, n).astype(np.float32),
        ]

    parts = [*affine(128, 20 * loudness, 500), integers(7, n_letters + 2, 128)]
    for _ in range(SIZES["n_layers"]):
        parts += [*affine(128, 5e-4 * loudness, 500), integers(128, 384)]
    may = rng.random((n_labels, n_letters)) < 0.5
    may[:2] = True
    may[::2, list(forbidden)] = False
    may[1::2, list(mute)] = False
    marks = (may.astype(np.uint64) << np.arange(n_letters, dtype=np.uint64)).sum(1)
    marks[1::2] |= reference.PRIMARY
    parts += [*affine(n_labels, 1e-5, 1), marks, integers(n_labels, 128)]
    return b"".join(part.tobytes() for part in parts)


words = st.binary(min_size=1, max_size=LONGEST).map(lambda w: bytes(b % 30 for b in w))
ALL = bytes(range(30))


@settings(deadline=None, max_examples=60)
@given(words, st.integers(0, 5), st.sampled_from([1.0, 100.0]), st.sets(st.integers(0, 29)))
def test_equals_the_reference_at_every_level(word, seed, loudness, mute):
    blob = toy_weights(seed, loudness, mute=mute)
    network = LetterNetwork(blob, **SIZES)
    expected = reference.speak(reference.Weights(blob, **SIZES), word, CERTAIN)
    assert network(word) == expected
    for level in simd_levels():
        assert network._at_level(word, level) == expected


@settings(deadline=None, max_examples=60)
@given(words, st.integers(0, 5))
def test_a_letter_speaks_what_it_may_and_one_is_stressed(word, seed):
    blob = toy_weights(seed)
    marks = reference.Weights(blob, **SIZES).marks
    found = marks[LetterNetwork(blob, **SIZES)(word)]
    for letter, mark in zip(word, found, strict=True):
        assert mark >> np.uint64(letter) & np.uint64(1)
    assert (found & reference.PRIMARY).any()


def test_a_word_of_mute_letters_is_not_stressed():
    blob = toy_weights(0, mute=(3, 4))
    labels = LetterNetwork(blob, **SIZES)(bytes([3, 4, 3]))
    assert not (reference.Weights(blob, **SIZES).marks[labels] & reference.PRIMARY).any()


def test_toys_reach_the_limits_of_the_activations():
    loud = reference.scores(reference.Weights(toy_weights(0, 100.0), **SIZES), ALL)
    plain = reference.scores(reference.Weights(toy_weights(0), **SIZES), ALL)
    assert np.abs(loud).max() > np.abs(plain).max() > 0


@pytest.mark.parametrize("word", [b"", bytes(LONGEST + 1), b"\x1e", b"\0\xff"])
def test_bad_words(word):
    with pytest.raises(ValueError, match="word must have"):
        LetterNetwork(toy_weights(0), **SIZES)(word)


def test_bad_weights():
    blob = toy_weights(0)
    for change in ({"n_layers": 3}, {"n_letters": 29}, {"n_labels": 0}, {"n_letters": 63}):
        with pytest.raises(ValueError, match="are not those of"):
            LetterNetwork(blob, **(SIZES | change))
    with pytest.raises(ValueError, match="2 layers, 30 letters and 9 labels"):
        LetterNetwork(blob[:-1], **SIZES)
    with pytest.raises(ValueError, match="are not those of"):
        LetterNetwork(toy_weights(0, forbidden=(7,)), **SIZES)
    with pytest.raises(OverflowError):
        LetterNetwork(blob, **(SIZES | {"n_layers": -1}))
    with pytest.raises(TypeError):
        LetterNetwork(bytearray(blob), **SIZES)
    with pytest.raises(TypeError):
        LetterNetwork(blob, **SIZES)("abc")
    with pytest.raises(ValueError, match='no kernels for "avx9" here'):
        LetterNetwork(blob, **SIZES)._at_level(b"\0", "avx9")


def test_threads_agree():
    network = LetterNetwork(toy_weights(1), **SIZES)
    expected = [network(ALL[:n]) for n in range(1, 31)]

    def run(_):
        return [[network(ALL[:n]) for n in range(1, 31)] for _ in range(10)]

    for results in in_threads(run):
        assert all(result == expected for result in results)
