import json

import pytest

from twinvox.cli import main


@pytest.fixture(scope="session")
def measured(tmp_path_factory):
    """A run of the embedded voice: its folder, and what it wrote."""
    folder = tmp_path_factory.mktemp("bench")
    options = ["--limit", "1", "--threads", "1", "--skip-asr", "--voice", "male", "--seed", "7"]
    files = ["--output-json", str(folder / "new" / "a.json"), "--audio-dir", str(folder / "wav")]
    assert main(["bench", *options, *files]) == 0
    return folder, json.loads((folder / "new" / "a.json").read_text())
