"""What is reported as unspoken is what G2P leaves out."""

from twinvox.text.g2p import G2p
from twinvox.text.scripts import unspoken_letters

LATIN = [*range(0xC0, 0x250), *range(0x1E00, 0x1F00)]


def test_a_letter_is_reported_exactly_where_it_is_silent():
    g2p = G2p()
    letters = filter(str.isalpha, [*map(chr, LATIN), *"µªºﬁ𝐛ℓ你жאก"])
    wrong = [
        letter
        for letter in letters
        if bool(unspoken_letters(letter)) == bool(g2p.phonemize(letter, normalization="none"))
    ]
    assert wrong == []


def test_letters_are_reported_once_and_in_order():
    assert unspoken_letters("Azərbaycan: ж, 你, naïve, ə") == ("ə", "ж", "你")
    assert unspoken_letters("plain") == ()
