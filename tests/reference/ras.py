"""Repetition-aware sampling by a full sort, probabilities in float64."""

import numpy as np


def weights(logits):
    """exp(logit - highest) in multiples of 2**-30."""
    wide = np.asarray(logits, np.float64)
    return np.floor(np.exp(wide - wide.max()) * 2**30).astype(np.int64)


def pick(ids, weights, uniform):
    """The id that the share `uniform` of all weight falls on, counted in order."""
    share = int(uniform * int(weights.sum()))
    return int(ids[np.searchsorted(np.cumsum(weights), share, side="right")])


def nucleus(logits, top_p, top_k):
    order = np.argsort(-np.asarray(logits), kind="stable")
    sorted_weights = weights(logits)[order]
    before = np.cumsum(sorted_weights) - sorted_weights
    size = int((before < top_p * sorted_weights.sum())[:top_k].sum())
    return order[:size], sorted_weights[:size]


def sample(logits, recent, uniforms, *, top_p, top_k, win_size, tau_r):
    """The id and whether it was drawn a second time; takes numbers from the iterator uniforms."""
    drawn = pick(*nucleus(logits, top_p, top_k), next(uniforms))
    others = np.array(logits, np.float32)
    others[drawn] = -np.inf
    if list(recent)[-win_size:].count(drawn) < win_size * tau_r or np.isneginf(others).all():
        return drawn, False
    return pick(np.arange(len(others)), weights(others), next(uniforms)), True


def uniform_stream(rng):
    while True:
        yield from rng.uniform(256).tolist()
