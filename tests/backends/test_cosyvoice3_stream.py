"""Streaming: two threads, the order of things, and how they end."""

import gc
import itertools
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from tests.backends.conftest import cv3_made_of, open_plain
from tests.toy_cosyvoice3 import SENTENCES
from twinvox import Speech
from twinvox.backends.cosyvoice3.lm import Decoder
from twinvox.errors import SynthesisError, SynthesisWarning


def workers():
    """The threads of streams that go on."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("twinvox")]


def test_streamed_parts_join_to_the_one_shot_samples(cv3_tts, cv3_voice):
    text = "".join(SENTENCES[:4])
    parts = list(cv3_tts.stream(text, cv3_voice, seed=3))
    whole = cv3_tts.synthesize(text, cv3_voice, seed=3)
    assert len(parts) == len(whole.segments) == 4
    np.testing.assert_array_equal(np.concatenate([p.samples for p in parts]), whole.samples)
    tokens = np.concatenate([p.decoded_tokens for p in parts])
    np.testing.assert_array_equal(tokens, whole.decoded_tokens)
    assert [s.text for p in parts for s in p.segments] == [s.text for s in whole.segments]
    edges = [(s.start, s.end) for s in whole.segments]
    assert all(a[1] == b[0] for a, b in itertools.pairwise(edges))
    assert edges[-1][1] == pytest.approx(whole.seconds)


def test_a_finished_stream_keeps_no_buffers(cv3_tts, cv3_voice):
    gc.collect()
    gc.disable()
    try:
        list(cv3_tts.stream("".join(SENTENCES[:2]), cv3_voice))
        parts = cv3_tts.stream("".join(SENTENCES[:2]), cv3_voice)
        next(parts)
        parts.close()
        assert not [thing for thing in gc.get_objects() if isinstance(thing, Decoder)]
    finally:
        gc.enable()


def test_equal_seeds_give_equal_samples_on_any_number_of_threads(cv3_tts, cv3_voice):
    text = "".join(SENTENCES[:2])
    want = cv3_tts.synthesize(text, cv3_voice, seed=11).samples
    results: list[Speech] = []

    def speak() -> None:
        results.append(cv3_tts.synthesize(text, cv3_voice, seed=11))

    threads = [threading.Thread(target=speak) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result.samples, want)
    assert not np.array_equal(cv3_tts.synthesize(text, cv3_voice, seed=12).samples, want)


class Slow:
    """A session whose runs take a while and are written down in ``log``."""

    def __init__(self, path, log, seconds=0.0, fail_at=None):
        self._session = open_plain(path)
        self.inputs, self.outputs = self._session.inputs, self._session.outputs
        self._name, self._log, self._seconds, self._fail_at = path.name, log, seconds, fail_at
        self._runs = 0

    def _enter(self):
        self._log.append((self._name.partition("-")[0], threading.current_thread(), "start"))
        self._runs += 1
        time.sleep(self._seconds)
        if self._runs == self._fail_at:
            raise SynthesisError("the model broke down")

    def run(self, inputs):
        self._enter()
        result = self._session.run(inputs)
        self._log.append((self._name.partition("-")[0], threading.current_thread(), "end"))
        return result

    def bind(self, inputs, outputs):
        predict = self._session.bind(inputs, outputs)

        def run():
            self._enter()
            return predict()

        return run


def test_the_next_segment_is_decoded_while_this_one_becomes_audio(cv3_folder, cv3_voice):
    log = []

    def open_model(path):
        return Slow(path, log, 0.3 if "Flow" in path.name else 0.0)

    text = "".join(SENTENCES[:3])
    cv3_made_of(cv3_folder, open_model).synthesize(text, cv3_voice)
    assert len({thread for _, thread, _ in log}) == 2
    events = [(name, state) for name, _, state in log]
    begun, ended = events.index(("Flow", "start")), events.index(("Flow", "end"))
    assert ("LLM", "start") in events[begun:ended]
    assert not workers()


def test_the_decoder_is_at_most_one_segment_ahead(cv3_tts, cv3_voice):
    stages = []
    parts = cv3_tts.stream(
        "".join(SENTENCES[:4]), cv3_voice, progress=lambda *call: stages.append(call[2])
    )
    next(parts)
    deadline = time.monotonic() + 10
    while stages.count("prefill") < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)
    assert stages.count("prefill") == 2
    parts.close()
    assert not workers()


def test_closing_a_stream_stops_its_thread_in_mid_segment(cv3_endless, cv3_voice):
    seen = []

    def progress(done, total, stage):
        seen.append(stage)

    parts = cv3_endless.stream("".join(SENTENCES[:2]), cv3_voice, progress=progress)
    with pytest.warns(SynthesisWarning):
        next(parts)
    deadline = time.monotonic() + 10
    while seen[-1] == "hift" and time.monotonic() < deadline:
        time.sleep(0.01)
    parts.close()
    assert seen.count("prefill") == 2
    assert seen.count("decode") < 2 * 230 - 1
    count = len(seen)
    time.sleep(0.1)
    assert len(seen) == count
    assert not workers()


SUSPENDED = """
import threading
from twinvox.backends.base import one_ahead

stopped = threading.Event()
results = one_ahead(
    [int, lambda: print("stopped" if stopped.wait(20) else "waited for")], stopped.set
)
next(results)
"""


def test_the_process_ends_without_waiting_for_a_suspended_stream():
    done = subprocess.run([sys.executable, "-c", SUSPENDED], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "stopped\n", "")


def test_a_callback_in_the_streams_thread_may_close_it(cv3_endless, cv3_voice):
    suspended, closed = threading.Event(), threading.Event()

    def progress(_done, _total, _stage):
        if suspended.is_set():
            parts.close()
            closed.set()

    parts = cv3_endless.stream("".join(SENTENCES[:2]), cv3_voice, progress=progress)
    with pytest.warns(SynthesisWarning):
        next(parts)
    suspended.set()
    assert closed.wait(20)
    assert not list(parts)


@pytest.mark.parametrize("model", ["LLM-Prefill", "LLM-Decode", "Flow", "HiFT"])
def test_an_error_in_either_thread_surfaces_in_the_callers(cv3_folder, cv3_voice, model):
    def open_model(path):
        return Slow(path, [], fail_at=2 if model in path.name else None)

    parts = cv3_made_of(cv3_folder, open_model).stream("".join(SENTENCES[:3]), cv3_voice)
    spoken = []
    with pytest.raises(SynthesisError, match="broke down"):
        spoken.extend(parts)
    assert len(spoken) <= 1
    assert not workers()


def test_progress_counts_every_stage_and_stops_on_false(cv3_tts, cv3_voice):
    calls = []
    text = "".join(SENTENCES[:3])
    whole = cv3_tts.synthesize(text, cv3_voice, progress=lambda *call: calls.append(call))
    done = [call[0] for call in calls]
    assert done == sorted(done)
    assert (done[-1], {call[1] for call in calls}) == (12, {12})
    stages = [call[2] for call in calls]
    assert [stages.count(stage) for stage in ("prefill", "flow", "hift")] == [3, 3, 3]
    # One for every token but the three that end the prefills, and one at the end of each decode.
    assert stages.count("decode") == whole.generated_token_count

    def stop_in(stage, count):
        seen, stopped = itertools.count(1), []

        def progress(_done, _total, name):
            assert not stopped
            if name == stage and next(seen) == count:
                stopped.append(name)
            return not stopped

        return progress

    for stage, count in [("prefill", 2), ("decode", 30), ("flow", 2), ("hift", 2), ("prefill", 1)]:
        part = cv3_tts.synthesize(text, cv3_voice, progress=stop_in(stage, count))
        assert len(part.samples) < len(whole.samples)
        assert part.finished_on_eos is not True
        assert not workers()


def test_a_callback_that_fails_surfaces(cv3_tts, cv3_voice):
    def progress(_done, _total, stage):
        if stage == "decode":
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cv3_tts.synthesize(SENTENCES[0], cv3_voice, progress=progress)
