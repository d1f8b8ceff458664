import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import twinvox._native
import twinvox.runtime
from tests.fake_coreml import FakeCoreML
from tests.fake_coreml.build import build, missing


def pytest_configure(config: pytest.Config) -> None:
    # On Accelerate NumPy warns of divisions by zero that nobody made (numpy/numpy#28687).
    if sys.platform == "darwin":
        spurious = "ignore:.* encountered in (matmul|dot|vecdot):RuntimeWarning"
        config.addinivalue_line("filterwarnings", spurious)


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


CHOOSERS = ("twinvox.runtime.choose_runtime", "twinvox.backends.base.choose_runtime")
choose_runtime = twinvox.runtime.choose_runtime


@pytest.fixture(scope="session", autouse=True)
def core_ml_on_demand() -> Iterator[None]:
    """On a Mac too ``runtime="auto"`` is ONNX Runtime: Core ML cannot load the compiled models that
    tests write, and what a test asks of it is asked by name, on the CPU."""

    def choose(requested: str = "auto") -> tuple[str, str]:
        return choose_runtime("onnx" if requested == "auto" else requested)

    with pytest.MonkeyPatch.context() as patch:
        for chooser in CHOOSERS if sys.platform == "darwin" else ():
            patch.setattr(chooser, choose)
        yield


@pytest.fixture
def free_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """``runtime="auto"`` as users have it, on a Mac too."""
    for chooser in CHOOSERS:
        monkeypatch.setattr(chooser, choose_runtime)


@pytest.fixture(scope="session")
def fake_coreml_built() -> FakeCoreML:
    reason = missing()
    if reason:
        pytest.skip(reason)
    return FakeCoreML(build(sanitize="TWINVOX_SANITIZE" in os.environ))


@pytest.fixture
def fake_coreml(
    fake_coreml_built: FakeCoreML, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FakeCoreML]:
    """The bridge on the fake Core ML, in the place where a Mac has its native module."""
    fake_coreml_built.reset()
    name = "twinvox._native.coreml"
    monkeypatch.setitem(sys.modules, name, fake_coreml_built.module)
    monkeypatch.setattr(twinvox._native, "coreml", fake_coreml_built.module, raising=False)
    yield fake_coreml_built
    fake_coreml_built.reset()


@pytest.fixture
def core_ml(fake_coreml: FakeCoreML, monkeypatch: pytest.MonkeyPatch) -> FakeCoreML:
    """The fake on a machine that takes itself for a Mac: ``runtime="auto"`` is Core ML."""
    monkeypatch.setattr(twinvox.runtime, "_coreml_obstacle", lambda system: None)
    return fake_coreml
