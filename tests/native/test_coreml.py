"""The Core ML bridge, built against the fake of tests/fake_coreml.

With TWINVOX_SANITIZE=1 it is built with AddressSanitizer and UBSan, whose runtime has to be loaded
first: ASAN_OPTIONS=detect_leaks=0
LD_PRELOAD=$(clang-19 -print-file-name=libclang_rt.asan-x86_64.so)
"""

import numpy as np
import pytest

from tests.fake_coreml import (
    CONTIGUOUS,
    ERROR,
    IGNORE,
    MOVING,
    PADDED,
    RAISE,
    REJECT,
    REVERSED,
    USE,
    USE_ONE,
    Feature,
    Toy,
)
from tests.native.toy_coreml import SHAPE, arrays, buffers, check, combine, toy
from twinvox.errors import ModelFormatError, SynthesisError


def test_features_are_described(fake_coreml):
    model = fake_coreml.open(
        Toy(
            [
                Feature("b_list", (1, 4), "float16", shapes=[(1, 4), (1, 8)]),
                Feature("c_range", (1, 4, 9), ranges=[(1, 1), (2, 50), (3, None)]),
                Feature("a_fixed", (2, 3), "int32"),
                Feature("d_one", (2, 3), shapes=[(2, 3)]),
                Feature("e_narrow", (2, 3), ranges=[(2, 2), (3, 3)]),
                Feature("f_bare", (), ranges=[(1, 2), (3, 3)]),
            ],
            [Feature("told", (1, 5), "float16"), Feature("open", ())],
            combine,
        )
    )
    f32, f16, i32 = (np.dtype(name) for name in ("float32", "float16", "int32"))
    assert model.inputs == (
        ("a_fixed", (2, 3), i32, [], []),
        ("b_list", (1, None), f16, [[1, 4], [1, 8]], []),
        ("c_range", (1, None, None), f32, [], [(1, 1), (2, 50), (3, None)]),
        ("d_one", (2, 3), f32, [], []),
        ("e_narrow", (2, 3), f32, [], []),
        ("f_bare", (None, 3), f32, [], [(1, 2), (3, 3)]),
    )
    assert model.outputs == (("open", None, f32, [], []), ("told", (1, 5), f16, [], []))


@pytest.mark.parametrize(
    "feature",
    [
        Feature("x", (1, 2), type=4),
        Feature("x", (1, 2), "float64"),
        Feature("x", (1,) * 9),
        Feature("x", (1, 2), shapes=[(1, 2), (1, 2, 3)]),
    ],
    ids=["image", "float64", "nine axes", "ranks"],
)
def test_features_that_are_no_array_of_ours(fake_coreml, feature):
    with pytest.raises(ModelFormatError, match=r"x is a feature of type .*expected a float32"):
        fake_coreml.open(Toy([feature], [], combine))
    assert fake_coreml.live() == 0


@pytest.mark.parametrize(
    ("units", "value"), [("cpu_only", 0), ("cpu_and_gpu", 1), ("all", 2), ("cpu_and_ne", 3)]
)
def test_compute_units(fake_coreml, units, value):
    fake_coreml.open(toy(), compute_units=units)
    assert fake_coreml.state.compute_units == value


def test_unknown_compute_units(fake_coreml):
    with pytest.raises(ValueError, match="compute_units is 'ne'; expected one of all, cpu_only"):
        fake_coreml.open(toy(), compute_units="ne")


@pytest.mark.parametrize("layout", [PADDED, CONTIGUOUS, REVERSED, MOVING])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_predict_with_any_layout(fake_coreml, dtype, layout):
    fake_coreml.state.layout = layout
    inputs = arrays(dtype)
    results = fake_coreml.open(toy(dtype)).predict(inputs)
    check(results, inputs)
    itemsize = np.dtype(dtype).itemsize
    row = {PADDED: {2: 256, 4: 448}[itemsize], REVERSED: 2 * itemsize}
    assert results["total"].strides[1] == row.get(layout, 100 * itemsize)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[..., ::-1],
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        lambda x: np.ascontiguousarray(x.T).T,
        lambda x: np.broadcast_to(x[:1, :1, :1], SHAPE),
    ],
    ids=["reversed", "stepped", "transposed", "broadcast"],
)
def test_predict_takes_any_strides(fake_coreml, view):
    inputs = {name: view(array) for name, array in arrays().items()}
    check(fake_coreml.open(toy()).predict(inputs), inputs)


def test_predict_copies_its_inputs(fake_coreml):
    fake_coreml.state.late_reads = True
    model = fake_coreml.open(toy())
    inputs = arrays()
    for _ in range(3):
        check(model.predict(inputs), inputs)
        inputs["x"] += 1
    assert fake_coreml.state.changed == 0


def test_results_outlive_the_model(fake_coreml):
    inputs = arrays()
    model = fake_coreml.open(toy())
    results = model.predict(inputs)
    model.close()
    del model
    assert fake_coreml.live() > 0
    check(results, inputs)
    results["total"][:] = 0  # and are the caller's to write to
    del results
    assert fake_coreml.live() == 0


def test_bind_writes_into_the_buffers(fake_coreml):
    inputs, outputs = arrays(), buffers()
    binding = fake_coreml.open(toy()).bind(inputs, outputs)
    for step in range(3):
        inputs["x"] += step
        results = binding()
        assert all(results[name] is outputs[name] for name in outputs)
        check(results, inputs)
    assert binding.refusal is None
    assert fake_coreml.state.predictions == 3
    assert fake_coreml.state.offers == 6, "every output is offered every time"


def test_bound_buffers_of_other_dtypes(fake_coreml):
    for dtype in ("float16", "int32"):
        inputs, outputs = arrays(dtype), buffers(dtype)
        results = fake_coreml.open(toy(dtype)).bind(inputs, outputs)()
        assert results["back"] is outputs["back"]
        check(results, inputs)


def test_bind_takes_padded_rows(fake_coreml):
    stores = [np.full((2, 3, 112), 7, np.float32) for _ in range(4)]
    x, y, total, back = (store[..., :100] for store in stores)
    inputs = arrays()
    x[:], y[:] = inputs["x"], inputs["y"]
    results = fake_coreml.open(toy()).bind({"x": x, "y": y}, {"total": total, "back": back})()
    assert results["total"] is total
    check(results, inputs)
    assert all((store[..., 100:] == 7).all() for store in stores), "what lies between is kept"


def test_bind_takes_axes_of_one_with_any_stride(fake_coreml):
    feature = Feature("x", (1, 4))
    model = fake_coreml.open(Toy([feature], [Feature("y", (1, 4))], lambda a: {"y": a["x"] * 2}))
    x = np.lib.stride_tricks.as_strided(np.arange(4, dtype=np.float32), (1, 4), (3, 4))
    y = np.empty((1, 4), np.float32)
    np.testing.assert_array_equal(model.bind({"x": x}, {"y": y})()["y"], [[0, 2, 4, 6]])


@pytest.mark.parametrize("layout", [PADDED, CONTIGUOUS, REVERSED])
def test_ignored_buffers(fake_coreml, layout):
    fake_coreml.state.backings = IGNORE
    fake_coreml.state.layout = layout
    inputs, outputs = arrays(), buffers()
    binding = fake_coreml.open(toy()).bind(inputs, outputs)
    for _ in range(2):
        inputs["y"] += 1
        results = binding()
        assert not any(results[name] is outputs[name] for name in outputs)
        check(results, inputs)
    assert all((buffer == -1).all() for buffer in outputs.values())
    assert binding.refusal is None
    assert (fake_coreml.state.predictions, fake_coreml.state.offers) == (2, 4)


def test_a_buffer_may_be_used_in_one_call_only(fake_coreml):
    inputs, outputs = arrays(), buffers()
    binding = fake_coreml.open(toy()).bind(inputs, outputs)
    for backings in (USE, IGNORE, USE, USE_ONE, IGNORE, USE_ONE):
        fake_coreml.state.backings = backings
        inputs["x"] += 1
        results = binding()
        used = sum(results[name] is outputs[name] for name in outputs)
        assert used == {USE: 2, IGNORE: 0, USE_ONE: 1}[backings]
        check(results, inputs)


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        (REJECT, "the output backings cannot be used (com.apple.CoreML 4)"),
        (RAISE, "no memory object bound to port (NSGenericException 0)"),
    ],
)
def test_refused_buffers_are_not_offered_again(fake_coreml, answer, refusal):
    fake_coreml.state.backings = answer
    inputs, outputs = arrays(), buffers()
    model = fake_coreml.open(toy())
    binding = model.bind(inputs, outputs)
    for step in range(3):
        inputs["x"] += step
        results = binding()
        assert not any(results[name] is outputs[name] for name in outputs)
        check(results, inputs)
    assert binding.refusal == refusal
    assert fake_coreml.state.predictions == 4, "one retry, then no offer"
    assert fake_coreml.state.offers == 1
    fake_coreml.state.backings = USE
    assert binding()["total"] is not outputs["total"]
    assert model.bind(inputs, outputs)()["total"] is outputs["total"], "others are not affected"


def test_a_failure_is_no_refusal(fake_coreml):
    inputs, outputs = arrays(), buffers()
    binding = fake_coreml.open(toy()).bind(inputs, outputs)
    fake_coreml.state.predict_fault = ERROR
    with pytest.raises(SynthesisError):
        binding()
    fake_coreml.state.predict_fault = 0
    assert binding.refusal is None
    assert binding()["total"] is outputs["total"]
