"""What the tests of twinvox.hub share: a small LuxTTS repository, and ways to damage a file."""

import random
import shutil
import struct
from pathlib import Path
from types import SimpleNamespace

from twinvox import hub
from twinvox.backends import published_files
from twinvox.hub.places import hub_cache

REPOSITORY = "FluidInference/luxtts-coreml"
FILES = published_files("luxtts", "gpu")


def weights(owner: str, n_bytes: int) -> bytes:
    """A weight file of one blob, unlike those of other owners."""
    header = struct.pack("<II", 1, 2).ljust(64, b"\0")
    blob = struct.pack("<IIQQ", 0xDEADBEEF, 3, n_bytes, 128).ljust(64, b"\0")
    return header + blob + random.Random(owner).randbytes(n_bytes)


def model(folder: str, n_bytes: int = 2048) -> dict[str, bytes]:
    return {
        f"{folder}/model.mil": f"program(1.0) {folder}".encode(),
        f"{folder}/weights/weight.bin": weights(folder, n_bytes),
    }


def repository_files() -> dict[str, bytes]:
    return {
        "README.md": b"# models\n",
        "config.json": b"{}",
        "tokens.txt": b"_\t0\n",
        **model("gpu/TextEncoder.mlmodelc"),
        **model("gpu/FmDecoder.mlmodelc", 40_960),
        **model("ane/TextEncoder.mlmodelc"),
        **model("ane/FmDecoder.mlmodelc", 40_960),
        **model("vocoder/Vocoder282.mlmodelc"),
        **model("vocoder/Vocoder555.mlmodelc"),
    }


WANTED = sorted(
    path for path in repository_files() if not path.startswith("ane/") and path != "README.md"
)
BIG = "gpu/FmDecoder.mlmodelc/weights/weight.bin"


def fetched() -> Path:
    return hub.ensure("luxtts", FILES)


def contents(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.relative_to(root).parts[0].startswith(".")
    }


def blobs() -> list[Path]:
    return [path for path in hub_cache().glob("models--*/blobs/*") if path.is_file()]


def free_bytes(monkeypatch, n: int) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=n))


def damage_truncated(file: Path) -> str:
    file.write_bytes(file.read_bytes()[:100])
    return "100 bytes instead of"


def damage_html(file: Path) -> str:
    file.write_bytes(b"<html>".ljust(file.stat().st_size))
    return "is an HTML page"


def damage_other_commit(file: Path) -> str:
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    return "other content"


def damage_missing(file: Path) -> str:
    file.resolve().unlink()
    return "is missing"


def damage_pointer(file: Path) -> str:
    file.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    return "is a Git LFS pointer"


def empty(file: Path) -> str:
    file.write_bytes(b"")
    return "is empty"


def truncate_weights(file: Path) -> str:
    file.write_bytes(file.read_bytes()[:-1])
    return "the file is truncated"
