"""Carries a teacher's phoneme timings over to the espeak IPA scalars that the product uses.

A teacher speaks its own alphabet. Every group of IPA scalars is spelt for the teacher, the teacher
reports how long each of its symbols lasted, and the time of a group is shared by its scalars.
Times are frames of 256 samples at 24 kHz throughout.
"""

from collections.abc import Sequence

import numpy as np

STRESS = "ˈˌ"
LENGTH = "ː"
PUNCTUATION = ",.!?;:"

# Longest match first: espeak IPA on the left, the Kokoro/misaki alphabet on the right.
_KOKORO_SPELLING = {
    "ʔn̩": "tᵊn",
    "n̩": "ᵊn",
    "l̩": "ᵊl",
    "aɪə": "Iə",
    "aɪ": "I",
    "aʊ": "W",
    "eɪ": "A",
    "ɔɪ": "Y",
    "oʊ": "O",
    "dʒ": "ʤ",
    "tʃ": "ʧ",
    "ɜː": "ɜɹ",
    "əl": "ᵊl",
    "oː": "ɔ",
    "ɚ": "əɹ",
    "e": "A",
    "o": "ɔ",
    "a": "æ",
    "r": "ɹ",
    "x": "k",
    "ç": "k",
    "ɬ": "l",
    "ʔ": "t",
    "ɾ": "T",
    "ɐ": "ə",
    "ʲ": "j",
    "g": "ɡ",
    LENGTH: "",
    "̃": "",
    "̩": "",
}
_LONGEST = max(map(len, _KOKORO_SPELLING))


def kokoro_spelling(phonemes: str) -> list[tuple[str, str]]:
    """Splits IPA into (scalars, Kokoro symbols) groups whose left sides join to `phonemes`."""
    groups: list[tuple[str, str]] = []
    at = 0
    while at < len(phonemes):
        for size in range(min(_LONGEST, len(phonemes) - at), 0, -1):
            piece = phonemes[at : at + size]
            if piece in _KOKORO_SPELLING or size == 1:
                groups.append((piece, _KOKORO_SPELLING.get(piece, piece)))
                at += size
                break
    # An r-coloured vowel already carries the r that espeak writes after it.
    return [
        (scalars, "ɜ" if scalars == "ɜː" and nxt[0] == "ɹ" else symbols)
        for (scalars, symbols), nxt in zip(groups, [*groups[1:], (" ", " ")], strict=True)
    ]


def share_groups(groups: Sequence[tuple[str, str]], symbol_frames: Sequence[float]) -> list[float]:
    """Frames per IPA scalar from frames per teacher symbol (one entry per symbol, in order).

    A group without a symbol (a length mark) takes half of the sound before it.
    """
    frames: list[float] = []
    at = 0
    for scalars, symbols in groups:
        total = float(sum(symbol_frames[at : at + len(symbols)]))
        at += len(symbols)
        if not symbols and frames:
            frames[-1] /= 2
            frames.append(frames[-1])
            continue
        frames += [total / len(scalars)] * len(scalars)
    if at != len(symbol_frames):
        raise ValueError(f"{len(symbol_frames)} symbol times, but the groups spell {at} symbols")
    return frames


def settle_stress(phonemes: str, frames: Sequence[float]) -> list[float]:
    """Moves the time of stress marks to the scalar after them, so that every teacher agrees."""
    settled = list(frames)
    for i, scalar in enumerate(phonemes[:-1]):
        if scalar in STRESS:
            settled[i + 1] += settled[i]
            settled[i] = 0.0
    return settled


def quiet_frames(samples: np.ndarray, floor_db: float = -40.0) -> np.ndarray:
    """bool [n // 256]: which frames lie more than 40 dB under the utterance's loud level."""
    blocks = samples[: len(samples) // 256 * 256].reshape(-1, 256)
    power = np.mean(np.square(blocks, dtype=np.float64), axis=1)
    level = np.convolve(power, [0.25, 0.5, 0.25], mode="same")
    return level < np.quantile(level, 0.95) * 10 ** (floor_db / 10)


def settle_pauses(phonemes: str, frames: Sequence[float], quiet: np.ndarray) -> list[float]:
    """Gives measured silence around punctuation to the punctuation mark.

    Attention-trained teachers (Kokoro and its children) count most of a pause as a part of the
    sound before it. Silences of less than `shortest` frames are left as they are: stops have them.
    """
    shortest = 4
    edges = np.concatenate([[0.0], np.cumsum(frames)])
    at = 0
    while at < len(phonemes):
        if phonemes[at] not in PUNCTUATION:
            at += 1
            continue
        end = at
        while end < len(phonemes) and phonemes[end] in PUNCTUATION + " ":
            end += 1
        first_sound = max(at - 3, 0)
        last = end == len(phonemes)
        low = int(edges[first_sound]) + 2
        high = len(quiet) if last else int((edges[end] + edges[end + 1]) / 2)
        start, stop = _longest_run(quiet[low:high])
        if stop - start >= shortest:
            begin = float(low + start)
            finish = float(edges[end]) if last else float(low + stop)
            ratio = (begin - edges[first_sound]) / max(edges[at] - edges[first_sound], 1e-6)
            inside = edges[first_sound : at + 1] - edges[first_sound]
            edges[first_sound : at + 1] = edges[first_sound] + inside * ratio
            edges[at + 1 : end + 1] = max(finish, begin)
            if not last:
                edges[end + 1 :] = np.maximum(edges[end + 1 :], finish)
        at = end
    return np.diff(edges).tolist()


def _longest_run(flags: np.ndarray) -> tuple[int, int]:
    """First and one-past-last index of the longest run of true values ((0, 0) if there is none)."""
    steps = np.diff(np.concatenate([[0], flags.astype(np.int8), [0]]))
    starts, stops = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    if not len(starts):
        return 0, 0
    longest = int(np.argmax(stops - starts))
    return int(starts[longest]), int(stops[longest])


def trim_edges(frames: Sequence[float], lead: float, tail: float) -> tuple[list[float], float]:
    """Takes `lead` frames off the first scalar and `tail` frames off the last one.

    Each keeps at least one frame. Returns the new frames and how much went at the front.
    """
    out = list(frames)
    timed = [i for i, value in enumerate(out) if value > 0]
    first, last = timed[0], timed[-1]
    front = min(lead, max(out[first] - 1.0, 0.0))
    out[first] -= front
    out[last] -= min(tail, max(out[last] - 1.0, 0.0))
    return out, front
