"""Builds the bridge against the fake Core ML: clang and GNUstep in place of Xcode."""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "fake_coreml"
PACKAGES = "gobjc libgnustep-base-dev gnustep-make clang-19 llvm-19"

_OBJECTIVE_C = ["-std=gnu11", "-fobjc-runtime=gcc", "-fno-objc-arc", "-Werror=objc-method-access"]
_WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-error=unused", "-Wno-error=unused-parameter"]
_SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-shared-libsan"]


def missing() -> str | None:
    """What keeps the fake from being built here; None where nothing does."""
    if not sys.platform.startswith("linux"):
        return "the fake Core ML is built on Linux"
    if not (shutil.which("clang-19") and shutil.which("gnustep-config") and _gcc_headers()):
        return f"the fake Core ML needs: apt-get install {PACKAGES}"
    if not _cython():
        return "the fake Core ML needs: pip install 'cython>=3.1'"
    return None


def build(*, sanitize: bool = False) -> Path:
    """The extension; made unless it is there already."""
    native, fake = ROOT / "src" / "twinvox" / "_native", ROOT / "tests" / "fake_coreml"
    generated = _made("coreml.c", [*native.glob("coreml.p*"), native / "arrays.pxd"], [], _generate)
    flags = ["-g", "-fPIC", *(_SANITIZERS if sanitize else [])]
    sources = [generated, *ROOT.glob("csrc/coreml*"), *fake.rglob("*.[hm]"), Path(__file__)]
    return _made("coreml.abi3.so", sources, flags, lambda out: _compile(generated, flags, out))


def _made(
    name: str, sources: Iterable[Path], salt: list[str], make: Callable[[Path], None]
) -> Path:
    """The file of this name that ``make`` makes of the sources, kept by their content."""
    digest = hashlib.sha256(" ".join([sys.version, *salt]).encode())
    for source in sorted(sources):
        digest.update(source.name.encode() + source.read_bytes())
    path = BUILT / digest.hexdigest()[:16] / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as partial:
            make(Path(partial) / name)
            (Path(partial) / name).replace(path)
    return path


def _generate(out: Path) -> None:
    source = ROOT / "src" / "twinvox" / "_native" / "coreml.pyx"
    module = ["--module-name", "twinvox._native.coreml"]
    _run(_cython(), "-3", "-I", ROOT / "src", *module, source, "-o", out)


def _compile(generated: Path, flags: list[str], out: Path) -> None:
    csrc, fake = ROOT / "csrc", ROOT / "tests" / "fake_coreml"
    objects = [out.with_name("generated.o")]
    python = ["-DPy_LIMITED_API=0x030B0000", "-I", sysconfig.get_paths()["include"], "-I", csrc]
    _run("clang-19", *flags, *python, "-c", generated, "-o", objects[0])
    headers = ["-I", fake, "-I", csrc, "-idirafter", _gcc_headers()]
    gnustep = _run("gnustep-config", "--objc-flags").split()
    for source in [*csrc.glob("coreml*.m"), *fake.glob("*.m")]:
        objects.append(out.with_name(f"{source.stem}.o"))
        options = [*gnustep, *_OBJECTIVE_C, *_WARNINGS, *flags, "-O0", *headers]
        _run("clang-19", *options, "-MF", "/dev/null", "-c", source, "-o", objects[-1])
    libraries = _run("gnustep-config", "--base-libs").split()
    _run("clang-19", "-shared", *flags, *objects, *libraries, "-o", out)


def _gcc_headers() -> Path | None:
    """GCC's folder with objc/objc.h: clang brings no runtime of its own."""
    found = sorted(Path("/usr/lib/gcc").glob("*/*/include/objc/objc.h"))
    return found[-1].parents[1] if found else None


def _cython() -> str | None:
    beside = Path(sys.executable).parent
    return shutil.which("cython", path=str(beside)) or shutil.which("cython")


def _run(*command: object) -> str:
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, env=plain
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout
