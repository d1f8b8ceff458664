"""What a benchmark speaks, and how it is scored."""

import functools
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hub_server
from twinvox.bench.corpora import (
    _REPOSITORY,
    _REVISION,
    OWN,
    Corpus,
    Phrase,
    load_corpus,
    read_corpus,
)
from twinvox.bench.score import edit_distance, error_rates, language_of
from twinvox.errors import TwinvoxError


@pytest.mark.parametrize("name", OWN)
def test_our_corpora(name):
    corpus = load_corpus(name)
    texts = [phrase.text for phrase in corpus.phrases]
    assert len(texts) == len(set(texts)) == 28
    categories = {phrase.category for phrase in corpus.phrases}
    assert categories == {"short", "conversation", "prose", "numbers", "names", "long"}
    assert {language_of(text) for text in texts} == {"en" if name == "english" else "zh"}


def test_a_corpus_file(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes("\ufeff# mine\r\nOne.\r\n\r\n[ two ]\r\n  Two | [2].  \r\n# no\r\n".encode())
    corpus = read_corpus(path)
    assert corpus.phrases == (Phrase("mine", "One."), Phrase("two", "Two | [2]."))
    assert corpus.name == "mine.txt"
    path.write_text("[laughs] A line, and no heading. [sighs]\n")
    assert read_corpus(path).phrases[0].text == "[laughs] A line, and no heading. [sighs]"
    path.write_text("# nothing\n[empty]\n")
    with pytest.raises(TwinvoxError, match="no phrase"):
        read_corpus(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TwinvoxError, match="not UTF-8"):
        read_corpus(path)


def test_limit_is_for_each_category():
    phrases = tuple(Phrase(category, str(n)) for n in range(3) for category in "ab")
    kept = Corpus("c", "ours", phrases).first(2).phrases
    assert [(row.category, row.text) for row in kept] == [
        ("a", "0"), ("b", "0"), ("a", "1"), ("b", "1"),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="limit is 0"):
        Corpus("c", "ours", phrases).first(0)
    with pytest.raises(ValueError, match="minimax-english"):
        load_corpus("minimax-klingon")


@pytest.fixture
def minimax(tmp_path):
    """A hub with MiniMax's corpus and a function that runs ``twinvox bench`` against it."""
    with hub_server.serve() as server:
        lines = [f"english_female|Phrase number {n} | of many.\n" for n in range(100)]
        server.commits[_REVISION] = {"text/english.txt": "".join(lines).encode()}
        server.branches[_REPOSITORY, "main"] = _REVISION

        def bench(*options):
            command = [sys.executable, "-m", "twinvox", "bench", "--corpus", "minimax-english"]
            command += ["--runtime", "onnx", "--threads", "1"]
            env = os.environ | {
                "HF_ENDPOINT": server.url,
                "HF_HOME": str(tmp_path / "hf"),
                "HF_HUB_OFFLINE": "0",
            }
            return subprocess.run(
                [*command, "--limit", "1", "--skip-asr", "--json", *options],
                env=env,
                capture_output=True,
                text=True,
            )

        yield server, bench


def test_minimax_is_fetched_once_with_its_licence(minimax):
    server, bench = minimax
    offline = bench("--offline")
    assert "not in the hub's cache, and fetching is off (--offline)" in offline.stderr
    assert server.requests == []
    first = bench()
    assert first.stderr == f"twinvox: minimax-english is {_REPOSITORY} at cb416f0, CC-BY-SA-4.0\n"
    report = json.loads(first.stdout)
    assert "CC-BY-SA-4.0" in report["summary"]["corpus_source"]
    (phrase,) = report["phrases"]
    assert (phrase["reference"], phrase["category"]) == (
        "Phrase number 0 | of many.", "minimax-english",
    )  # fmt: skip
    assert len(server.gets("english.txt")) == 1
    seen = len(server.requests)
    assert bench().returncode == bench("--offline").returncode == 0
    assert len(server.requests) == seen, server.requests[seen:]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>log in</html>\n", "1 lines, 0 of them with a text; expected 100"),
        (b"english_male|One.\n" * 99, "99 lines, 99 of them with a text; expected 100"),
        (None, "cannot fetch text/english.txt"),
    ],
)
def test_a_corpus_that_cannot_be_had(minimax, content, message):
    server, bench = minimax
    server.commits[_REVISION] = {} if content is None else {"text/english.txt": content}
    failed = bench()
    assert failed.returncode == 1
    assert message in failed.stderr
    assert len(failed.stderr.splitlines()) == 1


@functools.cache
def naive_distance(a, b):
    if not a or not b:
        return len(a) + len(b)
    return min(
        naive_distance(a[1:], b) + 1,
        naive_distance(a, b[1:]) + 1,
        naive_distance(a[1:], b[1:]) + (a[0] != b[0]),
    )


@given(st.text("ab", max_size=7), st.text("abc", max_size=7))
def test_edit_distance(said, heard):
    assert edit_distance(said, heard) == naive_distance(said, heard)


@pytest.mark.parametrize(
    ("said", "heard", "wer", "cer"),
    [
        ("Don't stop!", "dont   STOP", 0, 0),
        ("It cost $36.50 at 7:45 a.m.", "it cost 36 dollars 50 cents at 7.45 a.m.", 0, 0),
        ("It is well-known.", "It is well known", 0, 0),
        ("one two three four", "one too three", 2 / 4, 5 / 15),
        ("one", "", 1, 1),
        ("one", "one and two", 2, 6 / 3),
        ("火车7:45开。", "火车七点四十五分开", 0, 0),
        ("今天很好", "今天真好", 1 / 4, 1 / 4),
        ("用iPhone 16", "用 iphone十六", 0, 0),
    ],
)
def test_error_rates(said, heard, wer, cer):
    assert error_rates(said, heard) == pytest.approx((wer, cer))
