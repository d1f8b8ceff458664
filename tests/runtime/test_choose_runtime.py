"""Which runtime a machine gets, and the reason that ``twinvox info`` shows."""

import importlib.util
import platform
import re

import pytest

from twinvox.cli import main
from twinvox.errors import RuntimeUnavailableError
from twinvox.runtime import choose_runtime

BRIDGE = "twinvox._native.coreml"


@pytest.fixture
def machine(monkeypatch, free_choice):
    """Makes the machine look like another; ``modules`` are all there is of the runtimes."""
    find = importlib.util.find_spec

    def become(macos, arch, *modules):
        monkeypatch.setattr(platform, "mac_ver", lambda: (macos, ("", "", ""), arch))
        monkeypatch.setattr(platform, "system", lambda: "Darwin" if macos else "Linux")
        monkeypatch.setattr(platform, "machine", lambda: arch)

        def look(name, package=None):
            if name in (BRIDGE, "onnx", "onnxruntime"):
                return object() if name in modules else None
            return find(name, package)

        monkeypatch.setattr(importlib.util, "find_spec", look)

    return become


ONNX = ("onnx", "onnxruntime")


@pytest.mark.parametrize(
    ("macos", "arch", "modules", "expected"),
    [
        ("14.0", "arm64", (BRIDGE,), ("coreml", "macOS 14.0 arm64")),
        ("26.1", "arm64", (BRIDGE, *ONNX), ("coreml", "macOS 26.1 arm64")),
        ("13.6.1", "arm64", (BRIDGE, *ONNX), ("onnx", "macOS 14 or later on arm64; this is macOS")),
        ("15.2", "x86_64", (BRIDGE, *ONNX), ("onnx", "this is macOS 15.2 x86_64")),
        ("15.2", "arm64", ONNX, ("onnx", "no Core ML bridge")),
        ("", "x86_64", ONNX, ("onnx", "this is Linux x86_64")),
        ("", "arm64", (BRIDGE, *ONNX), ("onnx", "this is Linux arm64")),
    ],
)  # fmt: skip
def test_core_ml_where_it_is_there(machine, capsys, macos, arch, modules, expected):
    machine(macos, arch, *modules)
    chosen, reason = choose_runtime()
    assert chosen == expected[0]
    assert expected[1] in reason
    assert main(["info"]) == 0
    assert f"{chosen} ({reason})" in capsys.readouterr().out
    if chosen == "coreml":
        assert choose_runtime("coreml") == ("coreml", "asked for")
    else:
        with pytest.raises(RuntimeUnavailableError, match=re.escape(reason)):
            choose_runtime("coreml")
        assert main(["say", "hi", "--runtime", "coreml"]) == 1
        assert f"{reason}; use runtime='onnx' or 'auto'" in capsys.readouterr().err


def test_onnx_can_be_asked_for_on_a_mac(machine):
    machine("15.0", "arm64", BRIDGE, *ONNX)
    assert choose_runtime("onnx") == ("onnx", "asked for")


def test_what_is_missing_is_an_error_with_the_command(machine):
    machine("15.0", "arm64", BRIDGE)
    with pytest.raises(RuntimeUnavailableError, match=r"onnx; run: pip install 'twinvox\[onnx\]'"):
        choose_runtime("onnx")
    machine("13.0", "arm64", BRIDGE)
    with pytest.raises(RuntimeUnavailableError, match="needs onnxruntime and onnx"):
        choose_runtime("auto")


def test_another_name_is_a_value_error():
    with pytest.raises(ValueError, match="'cuda'; expected one of auto, coreml, onnx"):
        choose_runtime("cuda")
