"""Which repositories hold the published models, and at which revision.

``data/models.json`` pins them: a revision, and the size and hash of each file where they are known.
While it names a branch, the hub says what the files are, and the receipt of a download keeps it.
``tools/pin_models.py`` writes the pins.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from twinvox.hub.receipt import COMMIT, Digest

MANIFEST = Path(str(resources.files("twinvox"))) / "data" / "models.json"


@dataclass(frozen=True, slots=True)
class Published:
    """One published model. ``files`` holds what is pinned, by path in the repository."""

    name: str
    title: str
    repository: str
    revision: str
    files: Mapping[str, Digest] = field(default_factory=dict)

    def accepts(self, commit: str) -> bool:
        """Whether files of ``commit`` are what this version of twinvox wants."""
        return commit == self.revision or not COMMIT.fullmatch(self.revision)


def published(name: str) -> Published:
    """The entry of "luxtts" or "cosyvoice3"."""
    entry = json.loads(MANIFEST.read_bytes())[name]
    files = {path: Digest(**digest) for path, digest in entry["files"].items()}
    return Published(name, entry["title"], entry["repository"], entry["revision"], files)
