"""The Core ML bridge in long runs, in several threads, and closed while it works."""

import ctypes
import gc
import os
import threading
import time

import pytest

from tests.fake_coreml import (
    ERROR,
    EXCEPTION,
    IGNORE,
    REJECT,
    USE,
)
from tests.native.threads import in_threads
from tests.native.toy_coreml import arrays, buffers, check, toy
from twinvox.errors import SynthesisError

N_PREDICTIONS = 2000


class HeapInfo(ctypes.Structure):
    """struct mallinfo2; in_use is its uordblks."""

    _fields_ = [
        *((f"_{i}", ctypes.c_size_t) for i in range(7)),
        ("in_use", ctypes.c_size_t),
        *((f"_{i}", ctypes.c_size_t) for i in range(7, 9)),
    ]


def heap_in_use():
    gc.collect()
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = HeapInfo
    return mallinfo().in_use


def use(model, inputs, outputs, n):
    bound = model.bind(inputs, outputs)
    for step in range(n):
        model.predict(inputs)
        bound()
        if step % 10 == 0:
            model.bind(inputs, outputs)()


@pytest.mark.parametrize("backings", [USE, IGNORE, REJECT])
def test_no_prediction_leaves_anything_behind(fake_coreml, backings):
    fake_coreml.state.backings = backings
    inputs, outputs = arrays(), buffers()
    model = fake_coreml.open(toy())
    use(model, inputs, outputs, N_PREDICTIONS // 20)
    objects, heap = fake_coreml.live(), heap_in_use()
    use(model, inputs, outputs, N_PREDICTIONS)
    assert fake_coreml.live() == objects
    if "TWINVOX_SANITIZE" not in os.environ:  # whose allocator mallinfo2 does not see
        assert heap_in_use() - heap < 8 * N_PREDICTIONS, "no object fits into this"
    del model
    assert fake_coreml.live() == 0


def test_no_model_leaves_anything_behind(fake_coreml):
    def open_and_close(n):
        for _ in range(n):
            fake_coreml.open(toy())

    open_and_close(20)
    heap = heap_in_use()
    open_and_close(200)
    if "TWINVOX_SANITIZE" not in os.environ:
        assert heap_in_use() - heap < 8 * 200, "no object fits into this"


@pytest.mark.parametrize("fault", [ERROR, EXCEPTION])
def test_failures_leave_nothing_behind(fake_coreml, fault):
    inputs, outputs = arrays(), buffers()
    model = fake_coreml.open(toy())
    binding = model.bind(inputs, outputs)
    fake_coreml.state.predict_fault = fault
    objects = fake_coreml.live()
    for _ in range(100):
        for predict in (binding, lambda: model.predict(inputs)):
            with pytest.raises(SynthesisError):
                predict()
    assert fake_coreml.live() == objects


def test_eight_threads_on_one_model(fake_coreml):
    model = fake_coreml.open(toy())

    def run(thread):
        for step in range(25):
            inputs, outputs = arrays(seed=100 * thread + step), buffers()
            check(model.predict(inputs), inputs)
            check(model.bind(inputs, outputs)(), inputs)

    in_threads(run)
    assert fake_coreml.state.predictions == 8 * 25 * 2
    assert fake_coreml.state.overlaps == 0


def until(condition):
    """Wait for another thread; ten seconds are for ever."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.001)


def test_python_runs_during_a_prediction(fake_coreml):
    model = fake_coreml.open(toy())
    fake_coreml.state.hold = True
    thread = threading.Thread(target=model.predict, args=(arrays(),))
    thread.start()
    until(lambda: fake_coreml.state.predictions == 1)
    fake_coreml.state.hold = False
    thread.join()
    assert fake_coreml.state.starved == 0


def test_close_under_load(fake_coreml):
    model = fake_coreml.open(toy())
    inputs = arrays()
    started = threading.Barrier(9)
    outcomes = []

    def run():
        started.wait()
        try:
            check(model.predict(inputs), inputs)
            outcomes.append("ran")
        except ValueError as error:
            outcomes.append(str(error))

    fake_coreml.state.hold = True
    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    started.wait()
    until(lambda: fake_coreml.state.predictions == 1)
    closer = threading.Thread(target=model.close)
    closer.start()
    fake_coreml.state.hold = False
    for thread in (*threads, closer):
        thread.join()
    assert set(outcomes) <= {"ran", "cannot predict: the model is closed"}
    assert "ran" in outcomes
    assert fake_coreml.state.overlaps == 0, "neither two predictions nor one without its model"
    with pytest.raises(ValueError, match="closed"):
        model.predict(inputs)
