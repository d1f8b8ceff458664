"""One speech token of 6,761 logits beside the published rule written in torch and NumPy.

Both branches: the nucleus draw alone, and the draw from the whole vocabulary that follows it where
the token is repeated.
"""

import numpy as np
import pytest

from twinvox._native.ras import RasSampler

USUAL = {"top_p": 0.8, "top_k": 25, "win_size": 10}
NEVER, ALWAYS = 2.0, 0.0  # tau_r
BRANCHES = pytest.mark.parametrize("tau_r", [NEVER, ALWAYS], ids=["nucleus", "repetition"])

pytestmark = pytest.mark.benchmark(group="RAS, 6761 logits")


@pytest.fixture(params=[1.0, 4.0], ids=["flat", "peaked"])
def logits(request):
    rng = np.random.default_rng(0)
    return (request.param * rng.standard_normal(6761)).astype(np.float32)


@BRANCHES
def test_twinvox(benchmark, logits, tau_r):
    benchmark(RasSampler(0, **USUAL, tau_r=tau_r).sample, logits)


@BRANCHES
def test_numpy(benchmark, logits, tau_r):
    rng = np.random.default_rng(0)
    decoded = []

    def softmax(logits):
        weights = np.exp(logits - logits.max())
        return weights / weights.sum()

    def draw(probabilities):
        cumulative = np.cumsum(probabilities)
        return np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")

    def sample():
        probabilities = softmax(logits)
        order = np.argsort(-probabilities, kind="stable")[: USUAL["top_k"]]
        nucleus = probabilities[order]
        size = np.count_nonzero(np.cumsum(nucleus) - nucleus < USUAL["top_p"])
        token = int(order[draw(nucleus[:size])])
        recent = decoded[-USUAL["win_size"] :]
        if recent.count(token) >= USUAL["win_size"] * tau_r:
            masked = logits.copy()
            masked[token] = -np.inf
            token = int(draw(softmax(masked)))
        decoded.append(token)
        return token

    benchmark(sample)


@BRANCHES
def test_torch(benchmark, logits, tau_r):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    scores = torch.from_numpy(logits)
    decoded = []

    def nucleus_draw():
        probabilities, order = scores.softmax(dim=0).sort(descending=True, stable=True)
        chosen, cumulative = 0, 0.0
        while cumulative < USUAL["top_p"] and chosen < USUAL["top_k"]:
            cumulative += probabilities[chosen]
            chosen += 1
        return order[probabilities[:chosen].multinomial(1)].item()

    def sample():
        token = nucleus_draw()
        recent = torch.tensor(decoded[-USUAL["win_size"] :])
        if (recent == token).sum().item() >= USUAL["win_size"] * tau_r:
            masked = scores.clone()
            masked[token] = -torch.inf
            token = masked.softmax(dim=0).multinomial(1).item()
        decoded.append(token)
        return token

    benchmark(sample)
