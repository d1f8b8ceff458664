import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twinvox.errors import ModelFormatError, ModelNotFoundError
from twinvox.text.ipa_tokenizer import IpaTokenizer


@pytest.fixture
def table(tmp_path):
    def write(content: str):
        path = tmp_path / "tokens.txt"
        path.write_bytes(content.encode())
        return path

    return write


def test_one_id_a_scalar_and_unknown_ones_reported_once(table):
    tokenizer = IpaTokenizer.load(table("_\t0\n \t3\na\t14\nˈ\t120\n"))
    ids, skipped = tokenizer.encode("ˈa ✗a✗€")
    assert ids.dtype == np.int32
    assert ids.tolist() == [120, 14, 3, 14]
    assert skipped == ("✗", "€")


def test_nothing_to_encode(table):
    ids, skipped = IpaTokenizer.load(table("a\t1\n")).encode("")
    assert ids.shape == (0,)
    assert skipped == ()


def test_windows_line_ends(table):
    assert IpaTokenizer.load(table(" \t3\r\na\t14\r\n")).encode(" a")[0].tolist() == [3, 14]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("a\t1\nb\n", 2),
        ("a\t1\nb\tx\n", 2),
        ("a\t1\n\t2\n", 2),
        ("a\t1\nb\t2\na\t3\n", 3),
        ("a\t1\nb\t1\n", 2),
        ("a\t-1\n", 1),
        ("a 1\n", 1),
    ],
)
def test_a_bad_line_is_named(table, content, line):
    with pytest.raises(ModelFormatError, match=f"line {line}:"):
        IpaTokenizer.load(table(content))


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "tokens.txt"
    path.write_bytes(b"a\t1\n\xff\t2\n")
    with pytest.raises(ModelFormatError, match="line 2"):
        IpaTokenizer.load(path)


def test_empty_and_missing_files(table, tmp_path):
    with pytest.raises(ModelFormatError, match="empty"):
        IpaTokenizer.load(table(""))
    with pytest.raises(ModelNotFoundError, match="absent"):
        IpaTokenizer.load(tmp_path / "absent.txt")


def test_the_published_phonemes_give_the_published_ids(fixtures_dir):
    folder = fixtures_dir / "luxtts"
    tokenizer = IpaTokenizer.load(folder / "tokens.txt")
    fixture = json.loads((folder / "luxtts_fixtures.json").read_text(encoding="utf-8"))
    for case in [fixture["prompt"], *fixture["texts"]]:
        ids, skipped = tokenizer.encode(case["phoneme_string"])
        assert ids.tolist() == case["token_ids"]
        assert skipped == ()


@settings(max_examples=200, deadline=None)
@given(
    ids=st.dictionaries(
        st.characters(exclude_categories=["Cs", "Cc"]), st.integers(0, 999), max_size=8
    ),
    text=st.text(st.characters(exclude_categories=[]), max_size=20),
)
def test_ids_are_those_of_the_table(ids, text):
    text += "".join(ids)
    found, skipped = IpaTokenizer(ids).encode(text)
    assert found.tolist() == [ids[scalar] for scalar in text if scalar in ids]
    assert skipped == tuple(dict.fromkeys(scalar for scalar in text if scalar not in ids))
