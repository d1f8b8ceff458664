"""The choice of normalisation, and the rules of the model's training text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twinvox.text.en_normalizer import NORMALIZATIONS, check_normalization, normalize
from twinvox.text.en_upstream import normalize as upstream


def test_the_mode_chooses_the_reading():
    text = "It’s $260 million."
    assert normalize(text) == "It's two hundred sixty million dollars."
    assert normalize(text, "natural") == normalize(text)
    assert (
        normalize(text, "upstream")
        == upstream(text)
        == "It's   two hundred sixty  dollars  million."
    )
    assert normalize(text, "none") == text


@pytest.mark.parametrize("wrong", ["", "Natural", "zh"])
def test_another_mode_is_an_error_that_names_the_choices(wrong):
    with pytest.raises(ValueError, match="expected one of natural, upstream, none"):
        normalize("five", wrong)
    with pytest.raises(ValueError, match=repr(wrong)):
        check_normalization(wrong)


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_every_mode_is_accepted(name):
    assert check_normalization(name) == name
    assert normalize("", name) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Wait” ‘now’， then。", "\"Wait\" 'now', then."),
        ("Well... so···yes⋯", "Well… so…yes…"),
        ("Mrs. Hall met Dr. Ray", "misess. Hall met doctor. Ray"),
        ("ST. and Etc.", "saint. and et cetera."),
        ("street, mistery", "street, mistery"),
        ("éco ſt", "éco ſt"),
        ("1,234,567 birds", " one million, two hundred thirty-four thousand, "
         "five hundred sixty-seven  birds"),
        ("1,2,3", " one hundred twenty-three "),
        ("£5", " five  pounds"),
        ("$2.01 tea", "  two  dollars,  one  cent  tea"),
        ("$1", "  one  dollar "),
        ("$0.50", "  fifty  cents "),
        ("$0", " zero dollars "),
        ("1/2 3/2 1/4 3/4", " one half   three halves   one quarter   three quarters "),
        ("2/101", " two one hundred and first "),
        ("3.14", " three  point  fourteen "),
        ("50%", " fifty  percent "),
        ("the 21st", "the  twenty-first "),
        ("101st", " one hundred and first "),
        ("in 1855", "in  eighteen fifty-five "),
        ("in 2004", "in  two thousand four "),
        ("1000 3000", " one thousand   three thousand "),
        ("50", " fifty "),
        ("16GB", " sixteen GB"),
    ],
)  # fmt: skip
def test_rules(text, expected):
    assert upstream(text) == expected


@pytest.mark.parametrize("text", ["9" * 5000, "$" + "9" * 5000, "1/" + "9" * 5000, "$1.2.3"])
def test_absurd_numbers_are_read_somehow(text):
    assert not any(char.isdigit() for char in upstream(text))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_never_raises_and_leaves_no_ascii_digit(text):
    assert not any(char in "0123456789" for char in upstream(text))


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="0123456789.,/$£%st nd", max_size=30))
def test_number_like_text_leaves_no_digit(text):
    assert not any(char.isdigit() for char in upstream(text))
