from hypothesis import given, settings
from hypothesis import strategies as st

from twinvox.text.g2p.rules import shouts


@settings(max_examples=500, deadline=None)
@given(text=st.text(alphabet=" aBcDéÉßǅ1'.", max_size=8))
def test_a_clause_shouts_where_half_of_its_letters_are_capitals(text):
    capitals = sum(char.isupper() for char in text)
    small = sum(char.islower() for char in text)
    assert shouts(text) == (0 < capitals >= small)
