import pytest

from tests.growth import assert_linear


def test_quadratic_work_is_told():
    with pytest.raises(pytest.fail.Exception, match="'ab': 1000 characters"):
        assert_linear(lambda text: [a < b for a in text for b in text], "ab", 1_000)


def test_linear_work_passes():
    assert_linear(lambda text: [ord(char) for char in text], "ab", 20_000)
