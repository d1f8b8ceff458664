"""Inspect a macOS wheel: ``python tools/macos_wheel/check.py dist/twinvox-….whl``.

Prints what it holds and needs, and fails with every reason why it could not be installed, loaded
or trusted on macOS 14, arm64. Needs what inspect.txt lists and, off macOS, llvm-19.
"""

import argparse
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

from macho import Extension, declared_symbols, inspect
from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

TAG = "cp311-abi3-macosx_14_0_arm64"
ONNX = {"onnx", "onnxruntime"}
SOURCE = Path(__file__).parents[2] / "src"
NOT_SHIPPED = {".pyx", ".pxd", ".pxi", ".c", ".dep", ".so", ".pyc"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    wheel = parser.parse_args().wheel
    problems, extensions = check(wheel)
    problems += abi3_problems(wheel)
    print(f"{wheel.name}: {wheel.stat().st_size} bytes, {len(extensions)} extension modules")
    for extension in extensions:
        print(f"  {extension}")
    print("  delocate lists", ", ".join(delocate_listing(wheel)))
    for problem in problems:
        print(f"  WRONG: {problem}")
    return 1 if problems else 0


def check(wheel: Path) -> tuple[list[str], list[Extension]]:
    """Everything wrong with the wheel but for abi3_problems, and its extension modules."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    declared = declared_symbols()
    extensions = [
        inspect(Path(name).name, content, declared)
        for name, content in sorted(files.items())
        if name.endswith((".so", ".dylib"))
    ]
    problems = [
        *_tag_problems(wheel.name, files),
        *_requirement_problems(files),
        *_content_problems(files),
        *(f"{found.name} {problem}" for found in extensions for problem in found.problems),
    ]
    return problems, extensions


def abi3_problems(wheel: Path) -> list[str]:
    """What abi3audit finds in the wheel."""
    audit = subprocess.run(
        [Path(sys.executable).parent / "abi3audit", "--strict", "--verbose", str(wheel)],
        check=False,
        capture_output=True,
        text=True,
    )
    return [f"fails abi3audit: {audit.stderr}{audit.stdout}"] if audit.returncode else []


def delocate_listing(wheel: Path) -> list[str]:
    """Every library outside the wheel that delocate finds it to need."""
    path = [str(Path(sys.executable).parent), os.environ["PATH"]]
    if shutil.which("otool") is None:
        if shutil.which("llvm-otool-19") is None:
            sys.exit("delocate needs otool, or LLVM's in its place: apt-get install llvm-19")
        path.insert(0, str(Path(__file__).parent / "llvm"))
    listed = subprocess.run(
        ["delocate-listdeps", "--all", str(wheel)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PATH": os.pathsep.join(path)},
    )
    return listed.stdout.split()


def _tag_problems(file_name: str, files: dict[str, bytes]) -> Iterator[str]:
    try:
        name, version, _, tags = parse_wheel_filename(file_name)
    except InvalidWheelFilename as error:
        yield str(error)
        return
    if {str(tag) for tag in tags} != {TAG}:
        yield f"is tagged {', '.join(sorted(map(str, tags)))}; expected {TAG}"
    inside = _headers(files, "WHEEL")
    if inside["Tag"] != TAG or inside["Root-Is-Purelib"] != "false":
        yield f"says inside that its tag is {inside['Tag']}, purelib {inside['Root-Is-Purelib']}"
    metadata = _headers(files, "METADATA")
    if (metadata["Name"], metadata["Version"]) != (name, str(version)):
        yield f"says inside that it is {metadata['Name']} {metadata['Version']}"


def _requirement_problems(files: dict[str, bytes]) -> Iterator[str]:
    lines = _headers(files, "METADATA").get_all("Requires-Dist", [])
    required = [Requirement(line) for line in lines]
    for extra, expected in ("", set()), ("onnx", ONNX):
        mac = {"sys_platform": "darwin", "platform_machine": "arm64", "extra": extra}
        needed = {r.name for r in required if r.marker is None or r.marker.evaluate(mac)} & ONNX
        if needed != expected:
            with_extra = f"with the extra {extra}" if extra else "without extras"
            yield f"requires {sorted(needed)} {with_extra}; expected {sorted(expected)}"


def _content_problems(files: dict[str, bytes]) -> Iterator[str]:
    """Everything of the source that is data or Python, and a module for each .pyx."""
    expected_modules = set()
    for path in sorted(SOURCE.rglob("*")):
        name = path.relative_to(SOURCE).as_posix()
        if path.suffix == ".pyx":
            expected_modules.add(name.removesuffix(".pyx") + ".abi3.so")
        elif path.is_file() and path.suffix not in NOT_SHIPPED:
            if name not in files:
                yield f"lacks {name}"
            elif files[name] != path.read_bytes():
                yield f"holds another {name} than the source"
    modules = {name for name in files if name.endswith((".so", ".dylib"))}
    yield from (f"lacks {name}" for name in sorted(expected_modules - modules))
    yield from (f"holds {name}, which has no source" for name in sorted(modules - expected_modules))


def _headers(files: dict[str, bytes], name: str) -> Message:
    """The fields of a file of the wheel's own .dist-info folder."""
    (content,) = (content for path, content in files.items() if path.endswith(f".dist-info/{name}"))
    return BytesParser().parsebytes(content)


if __name__ == "__main__":
    sys.exit(main())
