import random

import pytest

from twinvox.text.numbers import (
    LARGEST,
    And,
    cardinal,
    decimal,
    digits,
    ordinal,
    pairs,
    plural,
    quantity,
    roman,
    spelt,
    year,
)

inflect = pytest.importorskip("inflect", reason="inflect is the oracle of the number words")


@pytest.fixture(scope="module")
def oracle():
    return inflect.engine()


def sample():
    draw = random.Random(7)
    edges = [0, 1, 10, 12, 20, 21, 99, 100, 101, 110, 999, 1000, 1001, 1100, 10_001, 10**6, 10**35]
    return edges + [draw.randrange(10 ** draw.randrange(1, 36)) for _ in range(400)]


def test_cardinals_equal_inflect(oracle):
    for number in sample():
        assert cardinal(number) == oracle.number_to_words(number, andword="")
        assert cardinal(number, And.SPOKEN) == oracle.number_to_words(number)


def test_ordinals_equal_inflect(oracle):
    for number in [*range(1, 130), 1000, 1001, 12_345, 10**6]:
        assert ordinal(number) == oracle.number_to_words(oracle.ordinal(number))


def test_years_equal_inflect_pairs(oracle):
    for number in range(1001, 3000):
        if number % 100 and not 2000 < number < 2010:
            pairs = oracle.number_to_words(number, andword="", zero="oh", group=2)
            assert year(number) == pairs.replace(", ", " ")


def test_round_years():
    assert year(2000) == "two thousand"
    assert year(2006) == "two thousand six"
    assert year(1900) == "nineteen hundred"


def test_beyond_the_largest_group_digits_are_read():
    assert cardinal(LARGEST).startswith("nine hundred ninety-nine decillion")
    assert cardinal(LARGEST + 1) == digits(str(LARGEST + 1))
    assert digits("907") == "nine, zero, seven"


def test_decimals_read_the_fraction_digit_by_digit(oracle):
    for text in ["3.14", "0.5", "12.3456", "1000.05"]:
        assert decimal(text) == oracle.number_to_words(text, andword="")
    assert decimal(".50") == "point five zero"


@pytest.mark.parametrize(
    ("text", "words"),
    [("0", "zero"), ("007", "seven"), ("1500", "fifteen hundred"), ("2000", "two thousand"),
     ("2847", "two thousand, eight hundred forty-seven"), ("9" * 40, "nine " * 39 + "nine")],
)  # fmt: skip
def test_quantities(text, words):
    assert quantity(text) == words


def test_spelt_digits():
    assert spelt("907") == "nine zero seven"
    assert spelt("907", "oh") == "nine oh seven"


@pytest.mark.parametrize(
    ("text", "words"),
    [("5", "five"), ("16", "sixteen"), ("100", "one hundred"), ("105", "one oh five"),
     ("320", "three twenty"), ("2000", "two thousand"), ("1900", "nineteen hundred"),
     ("2005", "two thousand five"), ("4090", "forty ninety"), ("9001", "nine thousand one"),
     ("05", "zero five"), ("12345", "one two three four five")],
)  # fmt: skip
def test_names_made_of_digits_are_read_in_pairs(text, words):
    assert pairs(text) == words


@pytest.mark.parametrize(
    ("words", "expected"),
    [("nineteen ninety", "nineteen nineties"), ("six", "sixes"), ("seven forty-seven",
      "seven forty-sevens"), ("two thousand", "two thousands")],
)  # fmt: skip
def test_plurals(words, expected):
    assert plural(words) == expected


def test_roman_numerals_up_to_89():
    parts = [(50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]

    def written(number):
        text = ""
        for value, letters in parts:
            while number >= value:
                text, number = text + letters, number - value
        return text

    assert [roman(written(number)) for number in range(1, 90)] == list(range(1, 90))
    assert [roman(text) for text in ["", "IIII", "VX", "IC", "MIX", "iv"]] == [None] * 6
