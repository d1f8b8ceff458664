import random

import pytest

from twinvox.text.numbers import LARGEST, And, cardinal, digits, ordinal, year

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
