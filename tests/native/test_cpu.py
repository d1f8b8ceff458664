import sys

from twinvox._native import cpu


def test_the_level_in_use_is_the_best_of_those_available():
    levels = cpu.simd_levels()
    assert levels[0] in ("sse2", "neon", "generic")
    assert cpu.simd_level() == levels[-1]


def test_spectra_are_by_accelerate_on_macos_only():
    assert cpu.spectrum_kernels() == ("vDSP" if sys.platform == "darwin" else "portable")
