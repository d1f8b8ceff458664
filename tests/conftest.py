import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def fixtures_dir() -> Path:
    """Reference data of others, kept outside this repository; tests skip where it is absent."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("TWINVOX_FIXTURES", root.parent / "shared" / "fixtures"))
    if not folder.is_dir():
        pytest.skip(f"no reference fixtures at {folder}; set TWINVOX_FIXTURES to their folder")
    return folder


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the tests out of the user's caches and off the network."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TWINVOX_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("HOME", str(home))
        patch.setenv("HF_HOME", str(home / "huggingface"))
        patch.setenv("HF_HUB_OFFLINE", "1")
        for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN", "TWINVOX_MODELS_DIR"):
            patch.delenv(name, raising=False)
        yield
