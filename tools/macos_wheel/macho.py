"""What one extension module of a macOS wheel needs and gives, and what is wrong with it."""

import hashlib
import re
import struct
from dataclasses import dataclass
from pathlib import Path

import lief
import yaml

MACOS = [14, 0, 0]
SYSTEM = ("/usr/lib/libSystem.B.dylib", "/usr/lib/libobjc.A.dylib", "/System/Library/Frameworks/")
LIBSYSTEM = SYSTEM[0]
STUB_SDK = Path(__file__).parents[2] / "tests/stub_sdk"
PYTHON_API = re.compile(r"__?Py")
# Apple's clang takes the argument in any register from macOS 13 on; LLVM's does not.
BY_REGISTER = re.compile(r"^(_objc_(?:retain|release))_x\d+$")

# xnu's bsd/sys/codesign.h, all big-endian.
EMBEDDED_SIGNATURE = 0xFADE0CC0
CODE_DIRECTORY = 0xFADE0C02
SHA256 = 2

lief.logging.disable()


@dataclass(frozen=True)
class Extension:
    """``libraries`` are the install names needed and the symbols bound to each."""

    name: str
    size: int
    libraries: dict[str, set[str]]
    python_api: set[str]
    problems: list[str]

    def __str__(self) -> str:
        needs = [f"Python {len(self.python_api)}"]
        needs += [f"{Path(name).name} {len(found)}" for name, found in self.libraries.items()]
        return f"{self.name:24} {self.size:8} bytes, symbols: {', '.join(needs)}"


def declared_symbols() -> dict[str, set[str]]:
    """By install name, what the stub SDK declares of each library of Apple's."""
    found = {}
    for path in STUB_SDK.rglob("*.tbd"):
        stub = yaml.safe_load(path.read_text().removeprefix("--- !tapi-tbd\n"))
        symbols: set[str] = set()
        for export in stub["exports"]:
            symbols |= set(export.get("symbols", ()))
            for name in export.get("objc-classes", ()):
                symbols |= {f"_OBJC_CLASS_$_{name}", f"_OBJC_METACLASS_$_{name}"}
            symbols |= {f"_OBJC_EHTYPE_$_{name}" for name in export.get("objc-eh-types", ())}
        found[stub["install-name"]] = symbols
    return found


def inspect(name: str, content: bytes, declared: dict[str, set[str]]) -> Extension:
    """Look at an extension module ``name`` (``mel.abi3.so``); ``declared`` as declared_symbols."""
    fat = lief.MachO.parse(content)
    if fat is None:
        return Extension(name, len(content), {}, set(), ["is no Mach-O file"])
    binaries = list(fat)
    problems = _header_problems(binaries)
    if problems:
        return Extension(name, len(content), {}, set(), problems)
    binary = binaries[0]
    libraries: dict[str, set[str]] = {
        library.name: set()
        for library in binary.libraries
        if library.command != lief.MachO.LoadCommand.TYPE.ID_DYLIB
    }
    python_api: set[str] = set()  # bound to no library: whatever of the process has it
    for binding in binary.bindings:
        if binding.has_symbol:
            known = libraries[binding.library.name] if binding.has_library else python_api
            known.add(binding.symbol.name)
    problems += [f"needs {library}" for library in libraries if not library.startswith(SYSTEM)]
    problems += [f"has the search path {command.path}" for command in binary.rpaths]
    problems += [
        f"{symbol} is in no library and not of Python's"
        for symbol in sorted(python_api)
        if not PYTHON_API.match(symbol)
    ]
    for library, symbols in libraries.items():
        if library != LIBSYSTEM:
            known = declared.get(library, set())
            problems += [
                f"{symbol} of {Path(library).name} is not declared in {STUB_SDK.name}"
                for symbol in sorted(symbols)
                if BY_REGISTER.sub(r"\1", symbol) not in known
            ]
    entry = f"_PyInit_{name.split('.')[0]}"
    if entry not in {symbol.name for symbol in binary.exported_symbols}:
        problems.append(f"does not export {entry}")
    problems += _signature_problems(binary, content)
    return Extension(name, len(content), libraries, python_api, problems)


def _header_problems(binaries: list[lief.MachO.Binary]) -> list[str]:
    problems = []
    cpus = [binary.header.cpu_type.name for binary in binaries]
    if cpus != ["ARM64"]:
        problems.append(f"is for {', '.join(cpus)}; expected ARM64 alone")
    for binary in binaries:
        kind = binary.header.file_type
        if kind not in (lief.MachO.Header.FILE_TYPE.DYLIB, lief.MachO.Header.FILE_TYPE.BUNDLE):
            problems.append(f"is a {kind.name}; expected a bundle or dylib")
        version = binary.build_version
        if version is None or version.platform != lief.MachO.BuildVersion.PLATFORMS.MACOS:
            problems.append("does not say that it is for macOS")
        elif version.minos != MACOS:
            problems.append(f"needs macOS {_dotted(version.minos)}; expected {_dotted(MACOS)}")
    return problems


def _signature_problems(binary: lief.MachO.Binary, content: bytes) -> list[str]:
    """macOS on arm64 ends a process that maps a page whose hash its signature does not hold."""
    if not binary.has_code_signature:
        return ["is not signed, not even ad hoc"]
    blob = content[binary.code_signature.data_offset :][: binary.code_signature.data_size]
    magic, _, n_blobs = struct.unpack_from(">3I", blob)
    if magic != EMBEDDED_SIGNATURE:
        return [f"has a signature that begins with {magic:#x}"]
    for i in range(n_blobs):
        (offset,) = struct.unpack_from(">I", blob, 16 + 8 * i)
        directory = blob[offset:]
        if struct.unpack_from(">I", directory)[0] != CODE_DIRECTORY:
            continue
        fields = struct.unpack_from(">9I4B", directory)
        hash_offset, (n_pages, limit, size, kind, _, page_bits) = fields[4], fields[7:]
        if kind != SHA256:
            continue
        for page in range(n_pages):
            start = page << page_bits
            content_of_page = content[start : min(start + (1 << page_bits), limit)]
            stored = directory[hash_offset + page * size :][:size]
            if hashlib.sha256(content_of_page).digest() != stored:
                return [f"was changed after it was signed, at {start:#x}"]
        return []
    return ["has a signature without SHA-256 hashes"]


def _dotted(version: list[int]) -> str:
    return ".".join(map(str, version))
