import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.threads import in_threads
from tests.reference import ras as reference
from twinvox._native.cpu import simd_levels
from twinvox._native.ras import RasSampler
from twinvox._native.rng import Rng
from twinvox.errors import SynthesisError

USUAL = {"top_p": 0.8, "top_k": 25, "win_size": 10, "tau_r": 0.1}
NEVER, ALWAYS = 2.0, 0.0  # tau_r
VOCABULARY = 6761


def speech_logits(rng, n=VOCABULARY, scale=3.0):
    return (scale * rng.standard_normal(n)).astype(np.float32)


def reference_draws(seed, logits_of_step, steps, **params):
    """Ids and which of them were drawn a second time."""
    uniforms = reference.uniform_stream(Rng(seed))
    ids, redrawn = [], []
    for step in range(steps):
        drawn, again = reference.sample(logits_of_step(step), ids, uniforms, **params)
        ids.append(drawn)
        redrawn.append(again)
    return ids, redrawn


def chi_square_score(counts, probabilities):
    """Of the chi-square statistic, in standard deviations (Wilson and Hilferty)."""
    expected = probabilities * counts.sum()
    assert counts[expected == 0].sum() == 0
    common = expected >= 10
    expected = np.append(expected[common], expected[~common].sum())
    counts = np.append(counts[common], counts[~common].sum())
    counts, expected = counts[expected > 0], expected[expected > 0]
    freedom = len(counts) - 1
    statistic = ((counts - expected) ** 2 / expected).sum()
    spread = 2 / (9 * freedom)
    return ((statistic / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5


@pytest.mark.parametrize("level", simd_levels())
@pytest.mark.parametrize("scale", [0.5, 3.0, 8.0])
def test_draw_for_draw_as_the_reference(scale, level):
    rng = np.random.default_rng(0)
    shared = [speech_logits(rng, scale=scale) for _ in range(5)]
    expected, redrawn = reference_draws(1, lambda step: shared[step % 5], 400, **USUAL)
    sampler = RasSampler(1, **USUAL)
    assert [sampler._at_level(shared[step % 5], level) for step in range(400)] == expected
    assert any(redrawn)
    assert not all(redrawn)


@settings(deadline=None, max_examples=200)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 400),
    st.sampled_from([0.0, 0.3, 2.0, 30.0]),
    st.floats(0.01, 1.0),
    st.integers(1, 256),
    st.integers(1, 256),
    st.floats(0, 2),
)
def test_any_parameters_as_the_reference(seed, n, scale, top_p, top_k, win_size, tau_r):
    params = {"top_p": top_p, "top_k": top_k, "win_size": win_size, "tau_r": tau_r}
    # Rounded, so that equal logits are frequent; some -infinity, one of them never.
    rng = np.random.default_rng(seed)
    logits = np.round(speech_logits(rng, n, scale), 1)
    logits[rng.random(n) < 0.2] = -np.inf
    logits[rng.integers(n)] = 1.0
    expected, _ = reference_draws(seed, lambda _: logits, 30, **params)
    sampler = RasSampler(seed, **params)
    assert [sampler.sample(logits) for _ in range(30)] == expected


def nucleus_probabilities(logits):
    ids, weights = reference.nucleus(logits, USUAL["top_p"], USUAL["top_k"])
    probabilities = np.zeros(len(logits))
    probabilities[ids] = weights / weights.sum()
    return probabilities


def expected_probabilities(logits, repeated):
    """Of the next id where those of the mask `repeated` are drawn again from all others."""
    first = nucleus_probabilities(logits)
    whole = np.exp(logits.astype(np.float64))
    whole /= whole.sum()
    result = np.where(repeated, 0, first)
    for drawn in np.flatnonzero(repeated & (first > 0)):
        others = whole.copy()
        others[drawn] = 0
        result += first[drawn] * others / others.sum()
    return result


@pytest.mark.parametrize("tau_r", [NEVER, ALWAYS])
def test_a_million_draws_follow_the_distribution(tau_r):
    logits = speech_logits(np.random.default_rng(2), 300, 1.5)
    sampler = RasSampler(3, **USUAL | {"tau_r": tau_r})
    draws = [sampler.sample(logits) for _ in range(1_000_000)]
    counts = np.bincount(draws, minlength=len(logits))
    expected = expected_probabilities(logits, np.full(len(logits), tau_r == ALWAYS))
    assert abs(chi_square_score(counts, expected)) < 4


def test_draws_after_a_window_follow_the_distribution():
    logits = speech_logits(np.random.default_rng(4), 300, 1.5)
    window = np.argsort(-logits)[:6].tolist()
    counts = np.zeros(len(logits))
    for seed in range(100_000):
        sampler = RasSampler(seed, **USUAL, seed_tokens=window)
        for _ in window:
            sampler.sample(logits)
        counts[sampler.sample(logits)] += 1
    expected = expected_probabilities(logits, np.isin(np.arange(len(logits)), window))
    assert abs(chi_square_score(counts, expected)) < 4


def test_the_chi_square_sees_a_wrong_nucleus():
    logits = speech_logits(np.random.default_rng(2), 300, 1.5)
    expected = expected_probabilities(logits, np.full(len(logits), False))
    wrong = expected**1.02
    counts = np.random.default_rng(0).multinomial(1_000_000, wrong / wrong.sum())
    assert chi_square_score(counts, expected) > 4


def test_equal_logits_are_taken_in_order_of_id():
    logits = np.zeros(VOCABULARY, np.float32)
    logits[1::2] = -0.0
    sampler = RasSampler(0, **USUAL | {"tau_r": NEVER})
    assert {sampler.sample(logits) for _ in range(500)} == set(range(25))


def test_the_nucleus_ends_at_top_p():
    logits = np.log(np.array([0.1, 0.5, 0.29, 0.02, 0.09], np.float32))
    sampler = RasSampler(0, **USUAL | {"tau_r": NEVER})
    assert {sampler.sample(logits) for _ in range(500)} == {0, 1, 2}


def test_the_window_forgets():
    """One id carries all probability: it alternates with the others by the window's length."""
    logits = np.zeros(50, np.float32)
    logits[7] = 100
    sampler = RasSampler(0, top_p=0.8, top_k=25, win_size=3, tau_r=0.3)
    ids = [sampler.sample(logits) for _ in range(40)]
    assert [step for step in range(40) if ids[step] == 7] == list(range(0, 40, 4))


def test_tau_r_counts_occurrences():
    logits = np.zeros(50, np.float32)
    logits[7] = 100
    sampler = RasSampler(0, top_p=0.8, top_k=25, win_size=10, tau_r=0.3)
    sevens = [sampler.sample(logits) == 7 for _ in range(13)]
    assert sevens == [True] * 3 + [False] * 8 + [True] * 2


def test_a_token_without_alternative_stands():
    logits = np.full(50, -np.inf, np.float32)
    logits[7] = 3
    sampler = RasSampler(0, **USUAL)
    assert [sampler.sample(logits) for _ in range(20)] == [7] * 20


def test_recorded_tokens_are_replayed_then_drawn():
    logits = np.zeros(50, np.float32)
    logits[7] = 100
    recorded = np.array([7, 3, 7], np.int32)
    sampler = RasSampler(5, **USUAL, seed_tokens=recorded)
    assert [sampler.sample(logits) for _ in range(3)] == [7, 3, 7]
    uniforms = reference.uniform_stream(Rng(5))
    assert sampler.sample(logits) == reference.sample(logits, [7, 3, 7], uniforms, **USUAL)[0] != 7


def test_stop_ids_are_left_out_at_first():
    logits = np.zeros(60, np.float32)
    logits[50:] = 20
    sampler = RasSampler(0, **USUAL, min_tokens=4, first_stop_id=50)
    assert [sampler.sample(logits) >= 50 for _ in range(8)] == [False] * 4 + [True] * 4
    sampler = RasSampler(0, **USUAL, min_tokens=4, first_stop_id=50, seed_tokens=[1, 2])
    assert [sampler.sample(logits) >= 50 for _ in range(8)] == [False] * 4 + [True] * 4
    assert RasSampler(0, **USUAL, first_stop_id=50).sample(logits) >= 50


def test_any_axes():
    logits = speech_logits(np.random.default_rng(5))
    one, two = RasSampler(1, **USUAL), RasSampler(1, **USUAL)
    batch = np.stack([logits, logits])[None]
    assert one.sample(logits) == two.sample(logits[None, None])
    assert one.sample(logits) == two.sample(batch[0, 1])


@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf])
def test_no_distribution_is_an_error_and_draws_nothing(bad):
    good = speech_logits(np.random.default_rng(6))
    wrong = good.copy()
    wrong[-1] = bad
    one, two = RasSampler(1, **USUAL), RasSampler(1, **USUAL)
    for logits in (wrong, np.full(9, -np.inf, np.float32)):
        with pytest.raises(SynthesisError, match="no distribution over"):
            one.sample(logits)
    assert [one.sample(good) for _ in range(9)] == [two.sample(good) for _ in range(9)]


@pytest.mark.parametrize(
    ("logits", "error", "message"),
    [
        (np.zeros(9), TypeError, "logits must be a float32 array, got float64 array"),
        ([0.0], TypeError, "logits must be a float32 array, got list"),
        (np.zeros(0, np.float32), ValueError, "logits are empty"),
        (np.zeros(9, np.float32)[::2], ValueError, r"pass rows\.compact of them"),
    ],
)
def test_bad_logits(logits, error, message):
    with pytest.raises(error, match=message):
        RasSampler(0, **USUAL).sample(logits)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"top_p": 0.0}, r"top_p must be in \(0, 1\].*got 0\.0, 25, 10, 0\.1 and None"),
        ({"top_p": float("nan")}, "top_p must be in"),
        ({"top_k": 0}, r"top_k in 1\.\.256"),
        ({"top_k": 257}, "top_k in"),
        ({"win_size": 0}, "a tau_r above 1 turns it off"),
        ({"win_size": 257}, "win_size in"),
        ({"tau_r": -0.1}, "tau_r not negative"),
        ({"first_stop_id": 0}, "first_stop_id positive"),
        ({"min_tokens": -1}, "min_tokens must not be negative"),
        ({"min_tokens": 2}, "needs first_stop_id, got 2 and None"),
        ({"seed_tokens": [1, -1]}, "seed_tokens must be token ids, got -1"),
        ({"seed_tokens": [2**31]}, "seed_tokens must be token ids"),
    ],
)
def test_bad_parameters(changed, message):
    with pytest.raises(ValueError, match=message):
        RasSampler(0, **USUAL | changed)


def test_bad_seeds():
    with pytest.raises(ValueError, match=r"seed must be in \[0, 2\*\*64\)"):
        RasSampler(-1, **USUAL)
    with pytest.raises(TypeError, match="seed must be an int, got float"):
        RasSampler(1.0, **USUAL)


def test_threads_agree():
    steps = [speech_logits(np.random.default_rng(i)) for i in range(5)]

    def run(_):
        sampler = RasSampler(9, **USUAL)
        return [sampler.sample(steps[i % 5]) for i in range(300)]

    results = in_threads(run)
    assert all(result == results[0] for result in results)


def test_threads_that_share_a_sampler_get_valid_ids():
    logits = speech_logits(np.random.default_rng(7))
    sampler = RasSampler(9, **USUAL)

    def run(_):
        return [sampler.sample(logits) for _ in range(300)]

    for result in in_threads(run):
        assert all(0 <= token < VOCABULARY for token in result)
