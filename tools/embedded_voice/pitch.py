"""F0 of clean speech: normalised autocorrelation and the best path through a log-frequency grid."""

import numpy as np
import soxr

SAMPLE_RATE = 24_000
HOP = 256

_RATE = 12_000
_WINDOW = 600
_FFT = 2_048
_GRID_HZ = np.geomspace(60.0, 480.0, 181)
_VOICING_THRESHOLD = 0.5
_OCTAVE_COST = 0.02
_JUMP_COST_PER_OCTAVE = 1.2
_SWITCH_COST = 0.2
_SILENCE_RATIO = 0.01


def track_pitch(samples: np.ndarray, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """F0 in Hz and voicing of 24 kHz samples at frame centres 0, 256, 512, ...; both [frames].

    Through unvoiced frames F0 is interpolated; without any voiced frame it is 150 Hz throughout.
    """
    score = _periodicity(samples, frames)
    path, voiced = _best_path(score)
    if not voiced.any():
        return np.full(frames, 150.0, np.float32), voiced
    f0 = _GRID_HZ[0] * (_GRID_HZ[1] / _GRID_HZ[0]) ** _refine(score, path)
    at = np.arange(frames)
    return np.exp(np.interp(at, at[voiced], np.log(f0[voiced]))).astype(np.float32), voiced


def _periodicity(samples: np.ndarray, frames: int) -> np.ndarray:
    """Autocorrelation at every grid period over that of the window [frames, grid]."""
    signal = soxr.resample(samples.astype(np.float32), SAMPLE_RATE, _RATE)
    step = HOP * _RATE // SAMPLE_RATE
    padded = np.pad(signal, (_WINDOW // 2, _WINDOW // 2 + frames * step))
    view = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[: frames * step : step]
    window = np.hanning(_WINDOW)
    centred = (view - view.mean(axis=1, keepdims=True)) * window
    correlation = _autocorrelation(centred)
    reference = _autocorrelation(window[None])[0]
    lag = _RATE / _GRID_HZ
    low = lag.astype(int)
    energy = correlation[:, :1]
    floor = (_SILENCE_RATIO * np.abs(samples).max()) ** 2 * (window**2).sum()
    shape = correlation / np.maximum(energy, floor + 1e-12) / (reference / reference[0])
    part = lag - low
    # Quadratic interpolation between samples of the lag axis.
    before, here, after, later = (shape[:, low + k] for k in (-1, 0, 1, 2))
    linear = here + part * (after - here)
    return linear - 0.25 * part * (1 - part) * (before - here - after + later)


def _autocorrelation(frames: np.ndarray) -> np.ndarray:
    spectrum = np.fft.rfft(frames, _FFT, axis=-1)
    return np.fft.irfft(spectrum.real**2 + spectrum.imag**2, axis=-1)[:, : _WINDOW // 2]


def _best_path(score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Viterbi over the grid and one unvoiced state -> grid index and voicing per frame."""
    octaves = np.log2(_GRID_HZ)
    jump = _JUMP_COST_PER_OCTAVE * np.abs(octaves[:, None] - octaves[None])
    local = score + _OCTAVE_COST * (octaves - octaves[0])
    frames, grid = score.shape
    best = local[0].copy()
    unvoiced = _VOICING_THRESHOLD
    came_from = np.zeros((frames, grid), np.int32)
    came_unvoiced = np.zeros(frames, np.int32)
    for frame in range(1, frames):
        reach = best[:, None] - jump
        source = reach.argmax(axis=0)
        value = reach[source, np.arange(grid)]
        onset = unvoiced - _SWITCH_COST
        came_from[frame] = np.where(value >= onset, source, -1)
        offset = best.argmax()
        stay = unvoiced >= best[offset] - _SWITCH_COST
        came_unvoiced[frame] = -1 if stay else offset
        unvoiced = _VOICING_THRESHOLD + (unvoiced if stay else best[offset] - _SWITCH_COST)
        best = np.maximum(value, onset) + local[frame]
    path = np.full(frames, -1)
    state = -1 if unvoiced >= best.max() else int(best.argmax())
    for frame in range(frames - 1, -1, -1):
        path[frame] = state
        state = came_unvoiced[frame] if state < 0 else came_from[frame, state]
    return path, path >= 0


def _refine(score: np.ndarray, path: np.ndarray) -> np.ndarray:
    """Parabolic peak around each chosen grid point, as a fractional index."""
    at = np.clip(path, 1, score.shape[1] - 2)
    rows = np.arange(len(path))
    left, centre, right = (score[rows, at + k] for k in (-1, 0, 1))
    curvature = np.minimum(left - 2 * centre + right, -1e-6)
    return at + np.clip(0.5 * (left - right) / curvature, -1.0, 1.0)
