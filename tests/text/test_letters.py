import sys
from pathlib import Path

import pytest

from twinvox.text.g2p.joins import flapped, glued, link_r, rhotic
from twinvox.text.g2p.letters import UNIT, History, encode, features, stressed, vowel_groups

TOOLS = Path(__file__).parents[2] / "tools" / "lexicon"


@pytest.fixture(scope="module")
def align():
    sys.path.insert(0, str(TOOLS))
    try:
        from align import align
    finally:
        sys.path.remove(str(TOOLS))
    return align


def test_units_keep_stress_with_the_vowel():
    assert UNIT.findall("ˈækʃən") == ["ˈæ", "k", "ʃ", "ə", "n"]
    assert UNIT.findall("dʒˈɜːni") == ["dʒ", "ˈɜː", "n", "i"]


def test_alignment_gives_every_letter_its_share(align):
    words = {
        "cat": "kˈæt", "chat": "tʃˈæt", "shot": "ʃˈɑːt", "box": "bˈɑːks", "use": "jˈuːz",
        "thin": "θˈɪn", "tin": "tˈɪn", "hat": "hˈæt", "hot": "hˈɑːt", "not": "nˈɑːt",
    }  # fmt: skip
    aligned = align(words)
    for word, phonemes in words.items():
        assert len(aligned[word]) == len(word)
        assert "".join(aligned[word]) == phonemes
    assert aligned["box"] == ["b", "ˈɑː", "ks"]


def test_every_letter_has_as_many_features():
    for word in ("a", "banana", "strengths" * 4):
        codes, groups = encode(word), vowel_groups(word)
        counts = {len(features(codes, groups, at, History())) for at in range(len(word))}
        assert len(counts) == 1


def test_a_word_has_a_primary_stress():
    assert stressed("kæt") == "kˈæt"
    assert stressed("bˌætmən") == "bˈætmən"
    assert stressed("ɹˌɛvəlˈuːʃən") == "ɹˌɛvəlˈuːʃən"
    assert stressed("pst") == "pst"


def test_joins():
    assert link_r("wˈɔːɾɚ") == "wˈɔːɾɚɹ"
    assert link_r("kˈɑːɹ") == "kˈɑːɹ"
    assert rhotic("sˈoʊfə") == "sˈoʊfɚ"
    assert rhotic("aɪdˈiə") == "aɪdˈiə"
    assert flapped("bˈæt") == "bˈæɾ"
    assert flapped("fˈɪst") == "fˈɪst"
    assert glued("wˈʌn", "kwˈɔːɹɾɚ") == ("wˈʌŋ", "kwˈɔːɹɾɚ")
    assert glued("bˈɛɾɚ", "nˈoʊn") == ("bˈɛtɚ", "nˈoʊn")
    assert glued("dˈeɪ", "tə") == ("dˈeɪ", "ɾə")
