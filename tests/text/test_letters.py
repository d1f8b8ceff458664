import struct
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.threads import in_threads
from tests.reference.joins import glued
from twinvox.errors import ModelFormatError
from twinvox.text.g2p import unknown
from twinvox.text.g2p.joins import flapped, link_r, rhotic
from twinvox.text.g2p.letters import HEADER, UNIT, LetterToSound, folded
from twinvox.text.g2p.lexicon import Entry, Lexicon

ROOT = Path(__file__).parents[2]
DATA = ROOT / "src/twinvox/text/g2p/data"
RECORDED = Path(__file__).parent / "data"
NETWORK = DATA / "letters.bin"


class Hiding:
    """A lexicon without some of its words."""

    def __init__(self, lexicon, hidden):
        self._lexicon, self._hidden = lexicon, hidden

    def find(self, key):
        return None if key in self._hidden else self._lexicon.find(key)


@pytest.fixture(scope="module")
def letters():
    return LetterToSound(NETWORK)


@pytest.fixture(scope="module")
def lexicon():
    return Lexicon(DATA / "english.lex")


@pytest.fixture(scope="module")
def align():
    sys.path.insert(0, str(ROOT / "tools" / "lexicon"))
    try:
        from align import align
    finally:
        sys.path.pop(0)
    return align


def recorded(name):
    lines = (RECORDED / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def rates(expected, found):
    """Per cent of words that are exact, and of phonemes that are wrong."""
    exact = sum(found[word] == phonemes for word, phonemes in expected.items())
    edits = units = 0
    for word, phonemes in expected.items():
        said = UNIT.findall(phonemes)
        units += len(said)
        edits += edit_distance(UNIT.findall(found[word]), said)
    return 100 * exact / len(expected), 100 * edits / units


def edit_distance(left, right):
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def test_units_keep_stress_with_the_vowel():
    assert UNIT.findall("ˈækʃən") == ["ˈæ", "k", "ʃ", "ə", "n"]
    assert UNIT.findall("dʒˈɜːni") == ["dʒ", "ˈɜː", "n", "i"]


def test_alignment_gives_every_letter_its_share(align):
    words = {
        "cat": "kˈæt", "chat": "tʃˈæt", "shot": "ʃˈɑːt", "box": "bˈɑːks", "use": "jˈuːz",
        "thin": "θˈɪn", "tin": "tˈɪn", "hat": "hˈæt", "hot": "hˈɑːt", "not": "nˈɑːt",
        "señor": "sˈiːnjɚ", "o'hat": "oʊhˈæt",
    }  # fmt: skip
    aligned = align(words)
    for word, phonemes in words.items():
        assert len(aligned[word]) == len(word)
        assert "".join(aligned[word]) == phonemes
    assert aligned["box"] == ["b", "ˈɑː", "ks"]


@pytest.mark.parametrize(
    ("word", "kept", "expected"),
    [
        ("Łódź", "", "Lodz"), ("Ångström", "ö", "Angström"), ("ÆON", "", "AEON"),
        ("straße", "", "strasse"), ("cafe\u0301", "é", "café"), ("CAFÉ", "é", "CAFÉ"),
        ("it's", "'", "it's"), ("l’été", "", "lete"), ("Żółw2", "", "Zolw"), ("слово", "", ""),
    ],
)  # fmt: skip
def test_folding(word, kept, expected):
    assert folded(word, kept + "'") == expected


def test_words_of_any_length_and_kind_are_spoken(letters):
    assert set("abcdefghijklmnopqrstuvwxyz'éñüö") <= letters.alphabet
    for word in (
        "a",
        "z",
        "blorfing",
        "strzelczyk",
        "señorita",
        "o'glorb",
        "ba" * 500,
        "donau" * 13,
    ):
        phonemes = letters.pronounce(word)
        assert "ˈ" in phonemes, word
        assert len(phonemes) >= len(word) / 2
    assert letters.pronounce("blorfing") is letters.pronounce("blorfing")


def test_threads_agree(letters):
    words = [word for word, _ in zip(recorded("hidden_words"), range(200), strict=False)]
    fresh = LetterToSound(NETWORK)
    expected = [letters.pronounce(word) for word in words]
    for found in in_threads(lambda _: [fresh.pronounce(word) for word in words]):
        assert found == expected


def changed(at, fmt, value):
    data = bytearray(NETWORK.read_bytes())
    struct.pack_into(fmt, data, at, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"TVLS", "4 bytes are too few"),
        (changed(0, "<B", 0), "expected a letter network of version 1"),
        (changed(4, "<H", 9), "version 9; reinstall twinvox"),
        (changed(6, "<H", 11), "are not those of 11 layers"),
        (changed(8, "<H", 3), "3 letters and .* labels announced"),
        (changed(12, "<I", 1 << 31), "0 and 0 held"),
        (NETWORK.read_bytes()[:-1], "labels announced|can't decode"),
        (NETWORK.read_bytes()[: HEADER.size], "0 and 0 held"),
    ],
)
def test_bad_files(tmp_path, data, message):
    path = tmp_path / "letters.bin"
    path.write_bytes(data)
    with pytest.raises(ModelFormatError, match=message):
        LetterToSound(path)


@pytest.mark.parametrize(
    ("name", "least_exact", "most_edits"),
    [("hidden_words", 93.0, 1.6), ("hidden_names", 94.2, 1.3)],
)
def test_words_that_were_never_learned(lexicon, letters, name, least_exact, most_edits):
    expected = recorded(name)
    hiding = Hiding(lexicon, expected.keys())
    found = {word: unknown.pronounce(word, hiding, letters).base for word in expected}
    exact, edits = rates(expected, found)
    assert exact >= least_exact
    assert edits <= most_edits


@settings(deadline=None, max_examples=200)
@given(word=st.text(max_size=80))
def test_any_word_is_spoken_or_holds_no_latin_letter(lexicon, letters, word):
    entry = unknown.pronounce(word, lexicon, letters)
    if entry is None:
        assert not any("a" <= letter <= "z" for letter in word.lower())
    else:
        assert entry.base


@pytest.mark.parametrize(
    ("word", "phonemes"),
    [
        ("nanoengine", "nˌænoʊˈɛndʒɪn"), ("noncolonel", "nˌɑːŋkˈɜːnəl"),
        ("contrarhythm", "kˌɑːntɹɚɹˈɪðəm"), ("outagain", "aʊɾɐɡˈɛn"),
        ("hyperisland", "hˌaɪpɚɹˈaɪlənd"), ("unchoired", "ʌŋkwˈaɪɚd"),
        ("yachtness", "jˈɑːtnəs"), ("choir'll", "kwˈaɪɚɹəl"), ("plumber're", "plˈʌmɚɹɚ"),
        ("choir've", "kwˈaɪɚɹəv"), ("bcdf", "bˌiːsˌiːdˌiːˈɛf"), ("XUP", "ˌɛksjˌuːpˈiː"),
        ("e.g", "fˌɔːɹɛɡzˈæmpəl"), ("Łódź", "lˈɑːdz"),
    ],
)  # fmt: skip
def test_words_made_of_others_and_of_letters(lexicon, letters, word, phonemes):
    assert unknown.pronounce(word, lexicon, letters) == Entry(phonemes)


def test_case_does_not_matter(lexicon, letters):
    for word in list(recorded("hidden_names"))[:200]:
        expected = unknown.pronounce(word, lexicon, letters)
        assert unknown.pronounce(word.capitalize(), lexicon, letters) == expected
        if len(word) > 3:
            assert unknown.pronounce(word.upper(), lexicon, letters) == expected


def test_the_oracle_still_says_what_is_recorded():
    pytest.importorskip("piper_phonemize")
    sys.path.insert(0, str(ROOT / "tools" / "lexicon"))
    try:
        from oracle import phonemize_many
    finally:
        sys.path.pop(0)
    for name in ("hidden_words", "hidden_names"):
        sample = dict(list(recorded(name).items())[::25])
        answers = phonemize_many([f"Dogs {word} dogs." for word in sample])
        assert answers == [f"dˈɑːɡz {phonemes} dˈɑːɡz." for phonemes in sample.values()]


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
