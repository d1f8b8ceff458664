"""What a good reader says: one table a class of things, and what holds for any text."""

import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.growth import assert_linear
from tests.text.en_natural_cases import TABLES
from twinvox.text import en_upstream
from twinvox.text.en_natural import normalize
from twinvox.text.en_natural.abbreviations import BEFORE_ONE, TRAPS

CASES = [
    pytest.param(*row, id=f"{name}: {row[0]}") for name, rows in TABLES.items() for row in rows
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_reading(text, expected):
    assert normalize(text) == expected


WORD = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=1, max_size=9)
MARKED = st.tuples(WORD, st.sampled_from(["", "", "", ".", ",", "!", "?", "...", "?!"]))


@settings(max_examples=400, deadline=None)
@given(st.lists(MARKED, max_size=15))
def test_plain_text_reads_as_upstream(words):
    folded = {word.lower() for word, _ in words}
    assume(TRAPS.isdisjoint(folded) and not ({"i"} <= folded and BEFORE_ONE & folded))
    text = " ".join(map("".join, words))
    assert normalize(text) == en_upstream.normalize(text)


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog, doesn't it? Yes!",
        "“Well,” she said, ‘I don’t know…’",
        "A well-known state-of-the-art idea; nothing else.",
        "She sat (as ever) by the window: waiting.",
    ],
)
def test_ordinary_sentences_read_as_upstream(text):
    assert normalize(text) == en_upstream.normalize(text)


ODD = (
    "0123456789 .,:;/\\-–—−+*_~`'\"()[]{}<>|@#$€£%‰°½²×&^=!?aAmMsxXvVIkKpP\n\t…’″′éß你🎉"
    "\u0301\u200b٣"
)


@settings(max_examples=600, deadline=None)
@given(st.one_of(st.text(max_size=60), st.text(ODD, max_size=60)))
def test_any_text_is_read_and_leaves_no_digit(text):
    read = normalize(text)
    assert not any(char in "0123456789" for char in read)


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(categories=["Lu", "Ll", "Lo"]), max_size=30))
def test_letters_of_any_script_stay(text):
    def letters(string):
        return [char for char in unicodedata.normalize("NFKC", string) if char.isalpha()]

    assume(not any(word in TRAPS for word in text.lower().split()))
    assert letters(normalize(text)) == letters(text)


RUNS = [
    "1", ".", "/", "@", "-", "#", "*", "[", "(", "a", "A", "1.", "1,", "1/", "1-", "a.", "a-",
    "a@", "_a", "`a", "[a](", "&a", "<a ", "|", "|a|\n", "\n- a", "1:", "1 ", "$1-", "http://",
    "A.", "Dr. ", "5'", "½", "1°", "−5", "+1 ", "(555) ", "~", "<", "2+2=", "1e5", "A1",
    "2x", "Jan. 1, ", "'90s", "\u0301", "U.S. ", "10:30-", "1/2 ", "v1.", "1 000 ",
    "1.1.1.1 ", "USD 5", "sq ft",
]  # fmt: skip


@pytest.mark.parametrize("unit", RUNS)
def test_time_is_linear(unit):
    assert_linear(normalize, unit, 16_000)
