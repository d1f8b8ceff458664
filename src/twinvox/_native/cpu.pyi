"""The instruction sets that the kernels can use on this processor."""

def simd_level() -> str:
    """The one in use: "avx2", "sse2", "neon" or "generic"."""

def simd_levels() -> tuple[str, ...]:
    """All that this processor has, the least first."""
