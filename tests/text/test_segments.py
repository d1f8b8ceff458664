import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.growth import assert_linear
from twinvox.errors import TextError
from twinvox.text.segments import split_segments

WORDS = [
    "the", "U.S.", "3.14", "dogs,", "went;", "home.", "Then?", "e.g.", '"Yes."', "Mr.", "two",
]  # fmt: skip


def within(limit):
    return lambda text: len(text) <= limit


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("", 10, []),
        ("   \n ", 10, []),
        ("One long sentence here. And another one there.", 80,
         ["One long sentence here.", "And another one there."]),
        ("Yes. That is what I meant to say.", 80, ["Yes. That is what I meant to say."]),
        ("I met Mr. Hall at 10:30 p.m. in the U.S. Army base, e.g. there.", 80,
         ["I met Mr. Hall at 10:30 p.m. in the U.S. Army base, e.g. there."]),
        ("Pi is about 3.14 they say. Ask a.b@example.com or see www.example.com today.", 80,
         ["Pi is about 3.14 they say.", "Ask a.b@example.com or see www.example.com today."]),
        ("\"Where are you going?\" she asked me then. \"Nowhere at all.\" He left.", 50,
         ["\"Where are you going?\" she asked me then.", "\"Nowhere at all.\" He left."]),
        ("When the rain had stopped, we went on; nobody spoke for a while.", 45,
         ["When the rain had stopped, we went on;", "nobody spoke for a while."]),
        ("We walked on and on and on without a word", 20,
         ["We walked on and on", "and on without a", "word"]),
        ("It took two hundred thousand, three hundred tries", 30,
         ["It took", "two hundred thousand,", "three hundred", "tries"]),
        ("A first paragraph here\n\nA second paragraph here", 80,
         ["A first paragraph here", "A second paragraph here"]),
        ("今天天气很好。我们去公园玩吧！", 8, ["今天天气很好。", "我们去公园玩吧！"]),
    ],
)  # fmt: skip
def test_pieces(text, limit, expected):
    pieces = split_segments(text, within(limit))
    assert "".join("".join(pieces).split()) == "".join(text.split())
    if "hundred" not in text:
        assert pieces == expected
    assert all(len(piece) <= limit for piece in pieces)


@pytest.mark.parametrize(
    "whole",
    ["twenty-one thousand, four hundred", "4,200", "Mr. Ford", "Dr. Brown", "Sept. 28, 2025",
     "28 September 2025", "$1.5 million", "10:30 p.m.", "5 km", "20 °C", "+1 (555) 123-4567",
     "St. Louis", "10 – 15", "2 + 2 = 4", "1 000 000", "No. 5", "Louis XIV", "5 ft. 10 in.",
     "foo.bar@example.com", "www.example.com/a-b", "J. K. Rowling", "5 1/2"],
)  # fmt: skip
def test_what_stays_whole_when_it_fits(whole):
    text = f"They counted and counted until {whole} was reached and then they went home"
    for limit in range(40, 60):
        assert any(whole in piece for piece in split_segments(text, within(limit)))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("We met Dr. Who on Sept. 28. Then we left the town.",
         ["We met Dr. Who on Sept. 28.", "Then we left the town."]),
        ("He works for the Acme Inc. The firm is very old.",
         ["He works for the Acme Inc.", "The firm is very old."]),
        ("She is at the Acme Inc. Chairman's office today.",
         ["She is at the Acme Inc. Chairman's office today."]),
        ("It took place in the U.S. He was there on time.",
         ["It took place in the U.S.", "He was there on time."]),
        ("We follow plan number B. Nobody knows about it.",
         ["We follow plan number B.", "Nobody knows about it."]),
        ("I asked him and he said no. Twelve of us left then.",
         ["I asked him and he said no.", "Twelve of us left then."]),
        ("It is the famous Symphony No. 5 by Beethoven, see Fig. 3 here.",
         ["It is the famous Symphony No. 5 by Beethoven, see Fig. 3 here."]),
        ("A book by J. A. Smith and also by J. K. Rowling.",
         ["A book by J. A. Smith and also by J. K. Rowling."]),
    ],
)  # fmt: skip
def test_abbreviations_end_a_sentence_only_before_words_that_begin_one(text, sentences):
    assert split_segments(text, within(80)) == sentences


def test_a_word_that_cannot_fit_is_cut_at_its_marks_or_else_anywhere():
    address = "https://example.com/some/long-path?with=many&parts"
    assert split_segments(f"see {address} now", within(20)) == [
        "see", "https://example.com/", "some/long-path?with=", "many&parts now",
    ]  # fmt: skip
    assert split_segments("so " + "a" * 50, within(20)) == ["so", "a" * 20, "a" * 20, "a" * 10]
    assert split_segments("e\u0301" * 5, within(5)) == ["e\u0301" * 2, "e\u0301" * 2, "e\u0301"]


def test_where_no_character_fits_there_is_an_error():
    with pytest.raises(TextError, match="'s' is too long"):
        split_segments("so", lambda piece: False)


def test_stray_marks_join_their_neighbour():
    assert split_segments("Hello out there, friends. ... !!", within(60)) == [
        "Hello out there, friends. ... !!"
    ]


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200), st.integers(30, 80))
def test_nothing_is_lost_and_everything_fits(text, limit):
    pieces = split_segments(text, within(limit))
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(piece.strip() == piece and len(piece) <= limit for piece in pieces)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(WORDS),
        max_size=60,
    ),
    st.integers(12, 60),
)
def test_word_like_text(words, limit):
    text = " ".join(words)
    pieces = split_segments(text, within(limit))
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) <= limit for piece in pieces)


@pytest.mark.parametrize("unit", [".", "!", "…", '."', ".)", ",)", "- ", ". ", "\n", "\n ", "a."])
def test_time_is_linear(unit):
    assert_linear(lambda text: split_segments(text + "a", lambda piece: True), unit, 30_000)
