from twinvox._native import cpu


def test_the_level_in_use_is_the_best_of_those_available():
    levels = cpu.simd_levels()
    assert levels[0] in ("sse2", "neon", "generic")
    assert cpu.simd_level() == levels[-1]
