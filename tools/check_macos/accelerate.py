"""Each function of Accelerate that csrc calls, beside the double that it is tested on elsewhere."""

import ctypes
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

ACCELERATE = "/System/Library/Frameworks/Accelerate.framework/Accelerate"
DOUBLE = Path(__file__).parents[2] / "tests/fake_accelerate"
DFT_SIZES = (1024, 1920)  # n_fft of LuxTTS and CosyVoice3
LENGTHS = (1, 7, 100_000)
FORWARD = 1
NORMAL = float(np.finfo(np.float32).tiny)
# What csrc gives them apart from ordinary numbers.
SPECIALS = {
    "vvsqrtf": (0.0, NORMAL, np.inf, np.nan),
    "vvlogf": (NORMAL, 1.0, np.inf, np.nan),
    "vDSP_vsadd": (0.0, np.inf, np.nan),
}
# Of the largest result and of each: the double itself is within 3e-15 and 7e-8 of the truth.
DFT_LIMIT, FLOAT_LIMIT = 3e-14, 5e-7

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FunctionResult:
    """The largest difference of one function on ``n`` values, absolute and over the result's."""

    function: str
    n: int
    max_abs: float
    relative: float
    same_specials: bool = True

    @property
    def problem(self) -> str | None:
        if not self.same_specials:
            return f"{self.function}: NaN or infinity for other arguments than the double has them"
        limit = DFT_LIMIT if "DFT" in self.function else FLOAT_LIMIT
        if self.relative <= limit:
            return None
        return f"{self.function} of {self.n} differs by {self.relative:.2g}, over {limit}"


def build_double(folder: Path) -> Path:
    """Compile the double as a library of its own."""
    library = folder / "double.so"
    command = ["cc", "-O2", "-shared", "-fPIC", f"-I{DOUBLE}", str(DOUBLE / "fake_accelerate.c")]
    subprocess.run([*command, "-o", str(library), "-lm"], check=True)
    return library


def compare_functions(real: Path | str, double: Path) -> Iterator[FunctionResult]:
    """Every function on random values and on the ends of its range."""
    libraries = [_load(real), _load(double)]
    rng = np.random.default_rng(0)
    for n in DFT_SIZES:
        samples = rng.standard_normal(n)
        yield _result("vDSP_DFT_ExecuteD", *(_dft(library, samples) for library in libraries))
    for n in LENGTHS:
        values = (10.0 ** rng.uniform(-37, 37, n)).astype(np.float32)
        for function, specials in SPECIALS.items():
            given = np.concatenate([values, np.array(specials, np.float32)])
            yield _result(function, *(_floats(lib, function, given) for lib in libraries))


def _load(path: Path | str) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    library.vDSP_DFT_zrop_CreateSetupD.restype = ctypes.c_void_p
    return library


def _dft(library: ctypes.CDLL, samples: Doubles) -> Doubles:
    n = len(samples)
    setup = ctypes.c_void_p(
        library.vDSP_DFT_zrop_CreateSetupD(None, ctypes.c_ulong(n), ctypes.c_int(FORWARD))
    )
    if not setup:
        raise RuntimeError(f"no DFT setup for {n} samples")
    even, odd = np.ascontiguousarray(samples[::2]), np.ascontiguousarray(samples[1::2])
    spectrum = np.empty((2, n // 2))
    arrays = [ctypes.c_void_p(array.ctypes.data) for array in (even, odd, *spectrum)]
    library.vDSP_DFT_ExecuteD(setup, *arrays)
    library.vDSP_DFT_DestroySetupD(setup)
    return spectrum


def _floats(library: ctypes.CDLL, function: str, values: Floats) -> Floats:
    out = np.empty_like(values)
    call = getattr(library, function)
    if function == "vDSP_vsadd":
        stride, addend, n = ctypes.c_long(1), ctypes.c_float(1e-9), ctypes.c_ulong(len(values))
        call(_pointer(values), stride, ctypes.byref(addend), _pointer(out), stride, n)
    else:
        call(_pointer(out), _pointer(values), ctypes.byref(ctypes.c_int(len(values))))
    return out


def _pointer(array: Floats) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _result(
    function: str, got: npt.NDArray[np.floating], want: npt.NDArray[np.floating]
) -> FunctionResult:
    finite = np.isfinite(want)
    same = bool(np.array_equal(got[~finite], want[~finite], equal_nan=True))
    difference = np.abs(got[finite].astype(np.float64) - want[finite])
    if "DFT" in function:  # a bin's error is of the size of the largest bin's
        relative = difference / np.abs(want).max()
    else:
        relative = difference / np.maximum(np.abs(want[finite]), NORMAL)
    return FunctionResult(function, want.size, float(difference.max()), float(relative.max()), same)
