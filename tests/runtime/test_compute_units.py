"""Where each stage runs on Core ML, and how a caller's choice gets there."""

import re
from pathlib import Path

import pytest

import twinvox
from twinvox import runtime
from twinvox.backends import base
from twinvox.backends.cosyvoice3 import contract as cosyvoice3
from twinvox.backends.luxtts import contract as luxtts
from twinvox.runtime import open_session
from twinvox.runtime.compute_units import UNITS, stage_units

GPU, NE = "cpu_and_gpu", "cpu_and_ne"


@pytest.fixture
def on_a_mac(monkeypatch, free_choice):
    """As if Core ML were there; the units with which each model was opened."""
    opened = {}

    def record(path, *, runtime, threads, compute_units, precision):
        opened[Path(path).stem] = compute_units
        return open_session(Path(path), runtime="onnx", threads=threads)

    monkeypatch.setattr(runtime, "_coreml_obstacle", lambda system: None)
    monkeypatch.setattr(base, "open_session", record)
    return opened


def test_luxtts_never_runs_the_gpu_graph_on_the_neural_engine():
    assert luxtts.COMPUTE_UNITS == {
        "gpu": {"text_encoder": GPU, "flow": GPU, "vocoder": GPU},
        "ane": {"text_encoder": NE, "flow": NE, "vocoder": GPU},
    }


def test_cosyvoice3_has_one_stage_on_the_neural_engine():
    assert cosyvoice3.COMPUTE_UNITS == {"prefill": NE, "decode": GPU, "flow": GPU, "hift": GPU}


DEFAULTS = {"prefill": NE, "decode": GPU, "flow": GPU}


@pytest.mark.parametrize(
    ("override", "changed"),
    [
        (None, {}),
        ({}, {}),
        *((unit, dict.fromkeys(DEFAULTS, unit)) for unit in UNITS),
        ("prefill=all", {"prefill": "all"}),
        ("prefill=all, flow = cpu_only", {"prefill": "all", "flow": "cpu_only"}),
        ({"decode": "cpu_only"}, {"decode": "cpu_only"}),
    ],
)
def test_an_override_wins(override, changed):
    assert stage_units(DEFAULTS, override) == DEFAULTS | changed
    assert {"prefill": NE, "decode": GPU, "flow": GPU} == DEFAULTS


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("gpu", "'gpu'; expected one of all, cpu_only, cpu_and_gpu, cpu_and_ne"),
        ("", "''; expected one of all"),
        ("flow=ane", "'ane'; expected one of all"),
        ({"flow": "ANE"}, "'ANE'; expected one of all"),
        ("flow=", "''; expected one of all"),
        ("vocoder=all", "the stage 'vocoder'; expected one of prefill, decode, flow"),
        ("flow=all,", "the stage ''; expected one of prefill"),
        ({"hift": "all", "x": "all"}, "the stage 'hift', 'x'; expected"),
        ("flow=all,cpu_only", "the stage 'cpu_only'; expected"),
        ("flow=all,flow=cpu_only", "names a stage twice"),
    ],
)
def test_an_unknown_stage_or_unit_is_named_with_the_choices(override, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        stage_units(DEFAULTS, override)


def test_each_model_is_opened_with_the_units_of_its_stage(on_a_mac):
    twinvox.load()
    assert on_a_mac == {"TextEncoder": GPU, "FmDecoder": GPU, "Vocoder": GPU}
    twinvox.load(compute_units="flow=all,text_encoder=cpu_only")
    assert on_a_mac == {"TextEncoder": "cpu_only", "FmDecoder": "all", "Vocoder": GPU}
    twinvox.load(compute_units=NE)
    assert set(on_a_mac.values()) == {NE}
    twinvox.load(runtime="onnx")
    assert set(on_a_mac.values()) == {None}


@pytest.mark.parametrize("name", ["auto", "onnx"])
@pytest.mark.parametrize("units", ["cpu_only", "flow=cpu_only", {"flow": "all"}])
def test_compute_units_without_core_ml_are_a_value_error(name, units, monkeypatch):
    monkeypatch.setattr(runtime, "_coreml_obstacle", lambda system: "Core ML is not here")
    with pytest.raises(ValueError, match="compute_units is for Core ML; the runtime is onnx"):
        twinvox.load(runtime=name, compute_units=units)
    with pytest.raises(ValueError, match="expected one of all"):
        twinvox.load(runtime=name, compute_units="flow=fast")


def test_a_single_model_takes_one_unit(tmp_path):
    with pytest.raises(ValueError, match="'flow=all'; expected one of all"):
        open_session(tmp_path, compute_units="flow=all")


def test_int8_is_for_onnx_runtime(on_a_mac, tmp_path):
    with pytest.raises(ValueError, match="precision int8 is for ONNX Runtime; the runtime is core"):
        open_session(tmp_path, precision="int8")
