"""Which kernels are built in, and the instruction sets that they can use here."""

def spectrum_kernels() -> str:
    """What computes spectra and log-mels: "vDSP" (Apple's Accelerate) or "portable"."""

def simd_level() -> str:
    """The one in use: "avx2", "sse2", "neon" or "generic"."""

def simd_levels() -> tuple[str, ...]:
    """All that this processor has, the least first."""
