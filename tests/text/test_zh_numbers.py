import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinvox.text.zh_numbers import cardinal, digits, number, spelled

VALUES = dict(zip("零一二三四五六七八九", range(10), strict=True)) | {"两": 2}


def value_of(words):
    """The quantity that Mandarin number words name."""
    for unit, size in (("亿", 10**8), ("万", 10**4), ("千", 1000), ("百", 100), ("十", 10)):
        high, found, low = words.rpartition(unit)
        if found:
            return (value_of(high) if high else 1) * size + (value_of(low) if low else 0)
    return VALUES[words.lstrip("零") or "零"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0", "零"), ("2", "二"), ("10", "十"), ("12", "十二"), ("20", "二十"), ("22", "二十二"),
        ("100", "一百"), ("101", "一百零一"), ("110", "一百一十"), ("111", "一百一十一"),
        ("200", "两百"), ("202", "两百零二"), ("1000", "一千"), ("1001", "一千零一"),
        ("1010", "一千零一十"), ("1100", "一千一百"), ("2000", "两千"), ("2200", "两千二百"),
        ("10000", "一万"), ("10001", "一万零一"), ("10010", "一万零一十"), ("10100", "一万零一百"),
        ("11000", "一万一千"), ("20000", "两万"), ("22222", "两万二千二百二十二"),
        ("100000", "十万"), ("110000", "十一万"), ("1000000", "一百万"),
        ("100010000", "一亿零一万"), ("200000000", "两亿"),
        ("100000001", "一亿零一"), ("1000000000000", "一万亿"),
        ("1234567890123456", "一千二百三十四万五千六百七十八亿九千零一十二万三千四百五十六"),
        ("10000000000000001", "一零零零零零零零零零零零零零零零一"), ("007", "七"),
    ],
)  # fmt: skip
def test_cardinals(text, words):
    assert cardinal(text) == words


@given(st.integers(0, 10**16 - 1))
def test_cardinals_name_their_value(value):
    words = cardinal(str(value))
    assert value_of(words) == value
    assert "零零" not in words
    assert value == 0 or not words.endswith("零")


def test_digit_strings_and_decimals():
    assert digits("2024") == "二零二四"
    assert spelled("110") == "幺幺零"
    assert number("1,234.50") == "一千二百三十四点五零"
    assert number("0.5") == "零点五"
