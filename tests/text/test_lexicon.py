import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twinvox.errors import ModelFormatError
from twinvox.text.g2p.lexicon import Context, Entry, Flag, Lexicon

TOOLS = Path(__file__).parents[2] / "tools" / "lexicon"


@pytest.fixture(scope="module")
def pack():
    sys.path.insert(0, str(TOOLS))
    try:
        from pack import pack
    finally:
        sys.path.remove(str(TOOLS))
    return pack


ENTRIES = {
    "to": Entry("tə", int(Flag.EXPECTS_VERB | Flag.OPENS_PHRASE), {Context.BEFORE_VOWEL: "tʊ"}),
    "to be": Entry("təbi", int(Flag.EXPECTS_PAST)),
    "tow": Entry("tˈoʊ"),
    "Polish": Entry("pˈoʊlɪʃ"),
    "polish": Entry("pˈɑːlɪʃ"),
}


def test_every_entry_is_found_as_it_was_written(pack, tmp_path):
    path = tmp_path / "small.lex"
    path.write_bytes(pack(ENTRIES))
    lexicon = Lexicon(path)
    assert len(lexicon) == len(ENTRIES)
    for key, entry in ENTRIES.items():
        assert lexicon.find(key) == entry
    for key in ("", "a", "t", "tob", "toww", "zebra", "POLISH"):
        assert lexicon.find(key) is None


@settings(max_examples=40, deadline=None)
@given(
    words=st.dictionaries(
        st.text(alphabet="abcü '", min_size=1, max_size=9),
        st.text(alphabet="ˈaɪkst", min_size=1, max_size=20),
        min_size=1,
        max_size=80,
    )
)
def test_any_words_round_trip(pack, tmp_path_factory, words):
    path = tmp_path_factory.mktemp("lexicon") / "drawn.lex"
    path.write_bytes(pack({word: Entry(phonemes) for word, phonemes in words.items()}))
    lexicon = Lexicon(path)
    assert {word: lexicon.find(word).base for word in words} == words


def test_the_same_entries_give_the_same_bytes(pack):
    assert pack(ENTRIES) == pack(dict(reversed(ENTRIES.items())))


@pytest.mark.parametrize("content", [b"TVL", b"NOPE" + bytes(40), b"TVLX\xff\x00" + bytes(40)])
def test_what_is_no_lexicon_is_refused(tmp_path, content):
    path = tmp_path / "bad.lex"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=r"bad\.lex"):
        Lexicon(path)
