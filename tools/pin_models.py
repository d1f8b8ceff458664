"""Pin the published models: write revisions, sizes and hashes into the manifest.

    python tools/pin_models.py [NAME …]

Asks the hub (HF_ENDPOINT) for the newest commit of each repository and for what it declares of the
files that twinvox fetches. Run it where the hub can be reached, listen to the models, and commit.
"""

import argparse
import json
from dataclasses import asdict

from twinvox import hub
from twinvox.backends import PUBLISHED, published_files
from twinvox.backends.luxtts.folder import VARIANTS
from twinvox.hub.manifest import MANIFEST
from twinvox.hub.receipt import matching


def pin(name: str) -> dict[str, object]:
    """The manifest's entry of one model at the newest commit of main."""
    model = hub.published(name)
    newest = hub.listing(model.repository, "main")
    variants = VARIANTS if name == "luxtts" else (None,)
    patterns = {pattern for variant in variants for pattern in published_files(name, variant)}
    absent = sorted(pattern for pattern in patterns if not matching(pattern, newest.files))
    if absent:
        raise SystemExit(f"{model.repository} at {newest.commit} has no {', '.join(absent)}")
    paths = {path for pattern in patterns for path in matching(pattern, newest.files)}
    return {
        "title": model.title,
        "repository": model.repository,
        "revision": newest.commit,
        "files": {path: asdict(newest.files[path]) for path in sorted(paths)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PUBLISHED)}")
    entries = json.loads(MANIFEST.read_bytes())
    for name in parser.parse_args().names or PUBLISHED:
        entries[name] = pin(name)
        print(f"{name}: {entries[name]['revision']}, {len(entries[name]['files'])} files")
    MANIFEST.write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
