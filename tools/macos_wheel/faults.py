"""Break a good macOS wheel in every way that check.py looks for, and see that it says so.

    python tools/macos_wheel/faults.py dist/twinvox-….whl build/cp311-abi3-macosx_14_0_arm64

The second argument is where it was built, with a compile_commands.json: there the bridge's sources
are compiled once more with a message in them that no class understands, which has to fail.
"""

import json
import shlex
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import lief
from check import TAG, abi3_problems, check
from macho import declared_symbols, inspect

MODULE = "twinvox/_native/mel.abi3.so"
BRIDGE = "twinvox/_native/coreml.abi3.so"
WEIGHTS = "twinvox/data/embedded/vocoder/Vocoder.mlpackage/Data/com.apple.CoreML/weights/weight.bin"

RENAMED = "renamed"
ABI3 = "fails abi3audit"
MISSPELT = "\nvoid misspelt(NSArray *array);\nvoid misspelt(NSArray *array) { [array cuont]; }\n"

Files = dict[str, bytes]
Fault = Callable[[Files], object]


def main() -> int:
    wheel, build = map(Path, sys.argv[1:])
    seen = [*break_wheel(wheel), accept_registers(wheel), *misspell_messages(build)]
    return 0 if seen and all(seen) else 1


def break_wheel(wheel: Path) -> Iterator[bool]:
    """Whether each fault of the wheel was seen."""
    with zipfile.ZipFile(wheel) as archive:
        good = {name: archive.read(name) for name in archive.namelist()}
    (info,) = {name.split("/")[0] for name in good if ".dist-info/" in name}
    with tempfile.TemporaryDirectory() as folder:
        for title, expected, fault in faults(info):
            files = dict(good)
            fault(files)
            broken = Path(folder) / wheel.name
            if title == RENAMED:
                broken = broken.with_name(wheel.name.replace("_14_", "_13_"))
            with zipfile.ZipFile(broken, "w") as archive:
                for path, content in files.items():
                    archive.writestr(path, content)
            problems = abi3_problems(broken) if expected == ABI3 else check(broken)[0]
            yield _report(title, [problem for problem in problems if expected in problem])


def accept_registers(wheel: Path) -> bool:
    """Whether a symbol that only Apple's compiler binds is no fault."""
    symbol = "_objc_release_x19"
    with zipfile.ZipFile(wheel) as archive:
        good = archive.read(BRIDGE)
    content = good.replace(b"_objc_begin_catch", symbol.encode())  # as long
    found = inspect(Path(BRIDGE).name, content, declared_symbols())
    bound = any(symbol in symbols for symbols in found.libraries.values())
    accepted = bound and not any(symbol in problem for problem in found.problems)
    print(f"{'an argument in a register':30} {'let pass' if accepted else 'TAKEN FOR A FAULT'}")
    return accepted


def misspell_messages(build: Path) -> Iterator[bool]:
    """Whether the compiler refused a misspelt message in each source of the bridge."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = Path(entry["file"])
        if source.suffix == ".m":
            with tempfile.TemporaryDirectory() as folder:
                broken = Path(folder) / source.name
                broken.write_text(source.read_text() + MISSPELT)
                command = shlex.split(entry["command"].replace(entry["file"], str(broken)))
                command[command.index("-o") + 1] = f"{folder}/object"
                said = subprocess.run(
                    command, check=False, capture_output=True, text=True, cwd=entry["directory"]
                )
            errors = [line for line in said.stderr.splitlines() if "-Wobjc-method-access" in line]
            yield _report(f"misspelt in {source.name}", errors if said.returncode else [])


def _report(title: str, seen: list[str]) -> bool:
    print(f"{title:30} {seen[0].splitlines()[0] if seen else 'MISSED'}", flush=True)
    return bool(seen)


def faults(info: str) -> Iterator[tuple[str, str, Fault]]:
    """Titles, what check is to say, and what makes the fault; ``info`` is the .dist-info folder."""
    metadata, wheel = f"{info}/METADATA", f"{info}/WHEEL"
    yield RENAMED, "is tagged cp311-abi3-macosx_13_0_arm64", lambda files: None
    yield "another tag inside", "says inside that its tag is", _swap(wheel, TAG, "py3-none-any")
    yield (
        "another version inside",
        "says inside that it is",
        _swap(metadata, "Version: ", "Version: 9"),
    )
    yield (
        "onnx for all",
        "without extras; expected []",
        _swap(metadata, 'onnx>=1.17; sys_platform != "darwin"', "onnx>=1.17"),
    )
    yield (
        "no onnx in the extra",
        "with the extra onnx; expected ['onnx'",
        _swap(metadata, 'onnxruntime>=1.25; extra == "onnx"', "numpy"),
    )
    yield "no module", "lacks twinvox/_native/mel.abi3.so", lambda files: files.pop(MODULE)
    yield "a stray module", "which has no source", _copy(MODULE, "twinvox/_native/stray.abi3.so")
    yield "no weights", "lacks twinvox/data/embedded/vocoder", lambda files: files.pop(WEIGHTS)
    yield (
        "half the weights",
        "another twinvox/data/embedded",
        _edit(WEIGHTS, lambda content: content[:-2]),
    )
    yield "not Mach-O", "is no Mach-O file", _edit(MODULE, lambda content: b"\x7fELF" + content[4:])
    yield "Intel", "is for X86_64; expected ARM64", _lief(_for_intel)
    yield "macOS 15", "needs macOS 15.0.0; expected 14.0.0", _lief(_for_macos_15)
    yield (
        "Homebrew's library",
        "needs /opt/homebrew/lib/libfftw3.dylib",
        _lief(lambda binary: binary.add_library("/opt/homebrew/lib/libfftw3.dylib")),
    )
    yield (
        "a search path",
        "has the search path /opt/lib",
        _lief(lambda binary: binary.add(lief.MachO.RPathCommand.create("/opt/lib"))),
    )
    yield (
        "no such function",
        "_ZyList_New is in no library",
        _swap(MODULE, "_PyList_New", "_ZyList_New"),
    )
    yield (
        "an undeclared function",
        "_vvexpf of Accelerate is not declared",
        _swap(MODULE, "_vvlogf", "_vvexpf"),
    )
    yield (
        "not the limited API",
        ABI3,
        _swap(MODULE, "_PyLong_AsSsize_t", "_PyCode_Addr2Line"),
    )
    yield "no entry point", "does not export _PyInit_mel", _swap(MODULE, "PyInit_mel", "PyInit_lem")
    yield "changed later", "was changed after it was signed", _edit(MODULE, _flip_a_bit)
    yield "unsigned", "is not signed", _lief(lambda binary: binary.remove_signature())


def _edit(path: str, change: Callable[[bytes], bytes]) -> Fault:
    def fault(files: Files) -> None:
        changed = change(files[path])
        assert changed != files[path], f"the fault does not apply to {path}"
        files[path] = changed

    return fault


def _swap(path: str, old: str, new: str) -> Fault:
    return _edit(path, lambda content: content.replace(old.encode(), new.encode()))


def _copy(source: str, target: str) -> Fault:
    def fault(files: Files) -> None:
        files[target] = files[source]

    return fault


def _lief(change: Callable[[lief.MachO.Binary], object]) -> Fault:
    def rewrite(content: bytes) -> bytes:
        fat = lief.MachO.parse(content)
        change(fat.at(0))
        return bytes(fat.raw())

    return _edit(MODULE, rewrite)


def _for_intel(binary: lief.MachO.Binary) -> None:
    binary.header.cpu_type = lief.MachO.Header.CPU_TYPE.X86_64


def _for_macos_15(binary: lief.MachO.Binary) -> None:
    binary.build_version.minos = [15, 0, 0]


def _flip_a_bit(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


if __name__ == "__main__":
    sys.exit(main())
