import mmap
import random
import re
import string
import zlib
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.threads import in_threads
from tests.reference.clause import Clause
from tests.reference.lexicon import entries
from twinvox._native.g2p import Lexicon
from twinvox.text.g2p import lexicon as formats
from twinvox.text.g2p import rules
from twinvox.text.g2p.lexicon import Entry, Flag
from twinvox.text.g2p.rules import Token

PATH = files("twinvox.text.g2p").joinpath("data/english.lex")
SOUNDS = ["tə", "tʊ", "ə", "iə", "ɚ", "ɜː", "aɪə", "eɪ", "ˈæt", "ˌɪt", "ɾi", "ɾəl", "n", "ŋ", "kn",
          "n̩", "ɑːɹ", "ɹ", "ʌ", "k", "s", "ˈʊɹ", "ɪ", ""]  # fmt: skip


def made_entries():
    """Entries with any flags and forms, from sounds that join with one another."""
    draw = random.Random(0)

    def form():
        return "".join(draw.choices(SOUNDS, k=draw.randrange(1, 4)))

    def some(members, most):
        return draw.sample(list(members), draw.randrange(most + 1))

    for _ in range(400):
        flags = sum(some(Flag, 3))
        forms = {int(context): form() for context in some(formats.Context, 5)}
        yield Entry(form(), flags, forms or None)


MADE = [None, *made_entries()]


@cache
def blob():
    return PATH.read_bytes()


@cache
def shipped():
    return formats.Lexicon(str(PATH))


@cache
def keys():
    return dict(entries(blob()))


@cache
def drawn(flag=0, context=None):
    """Any key of those that have a flag, and those that have a form for a context."""
    found = [
        key
        for key, (_, flags, forms) in keys().items()
        if flags & flag == flag and (context is None or context in (forms or {}))
    ]
    return st.sampled_from(found) if len(found) < 100 else choice(found)


def choice(sequence):
    return st.integers(0, len(sequence) - 1).map(sequence.__getitem__)


@cache
def special():
    """A key that does or is something out of the ordinary, each kind as often as another."""
    held = [flags for _, flags, _ in keys().values()]
    kinds = [drawn(flag) for flag in Flag if any(flags & flag for flags in held)]
    contexts = {context for _, _, forms in keys().values() for context in forms or ()}
    return st.one_of(*kinds, *(drawn(0, context) for context in sorted(contexts)))


def pronounce(word, loud, last):
    """The same entry for the same word, of all the kinds that there are; symbols are silent."""
    if last and "." in word:
        return Entry("spˈɛlt")
    found = shipped().find(word)
    if found is None or (loud and found.form(formats.Context.ALONE) is not None):
        capitals = found is None and re.fullmatch("[A-Z]{2,}'?s", word)
        found = (None if capitals else shipped().find(word.lower())) or found
    return found or MADE[zlib.crc32(word.encode()) % len(MADE)]


def test_every_entry_of_the_shipped_lexicon():
    lexicon = Lexicon(blob())
    assert len(lexicon) == len(keys())
    assert all(lexicon.find(key) == entry for key, entry in keys().items())


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_keys_that_are_near(data):
    key = data.draw(drawn())
    at = data.draw(st.integers(0, len(key)))
    changed = key[:at] + data.draw(st.text(max_size=2)) + key[at + data.draw(st.integers(0, 2)) :]
    assert shipped().native.find(changed) == keys().get(changed)


def but_the_last_upper(word):
    return word[:-1].upper() + word[-1:]


@st.composite
def token_lists(draw):
    """Words as they come in text: known, known for something, made up, in any case and script."""
    words = st.one_of(
        special(),
        special().map(str.split),
        special().map(lambda key: key.split("-")),
        drawn(),
        st.integers(0, 5_000).map("q{}".format),
        st.sampled_from(["to", "the", "a", "and", "had", "I", "that", "record", "e.g", "U.S"]),
        st.text(alphabet="abIT'.é&-", min_size=1, max_size=6),
        st.text(min_size=1, max_size=6).filter(lambda word: word.isprintable()),
    )
    marks = st.sampled_from([0, 0, 0, 1, 2, 4, 8, 16, 31])
    found = []
    for word in draw(st.lists(words, max_size=9)):
        shape = draw(st.sampled_from([str, str, str, str.upper, str.title, but_the_last_upper]))
        mark = draw(marks)
        parts = [word] if isinstance(word, str) else word
        glued = mark & 1
        for part in parts:
            flags = (bool(mark & bit) for bit in (2, 4, 8, 16))
            found.append(Token(shape(part), bool(glued), *flags))
            glued = draw(st.booleans())
    return found


@settings(max_examples=400, deadline=None)
@given(tokens=token_lists(), loud=st.booleans())
def test_clauses_equal_the_reference(tokens, loud):
    expected = Clause(tokens, loud, shipped(), pronounce).speak()
    assert shipped().native.speak(tokens, loud, pronounce) == expected


# What may stand before a word, a mark at its first or last part, what follows.
PLACES = [
    ("", "", ""), ("", "last closed", ""), ("", "first apart", ""), ("", "last hyphen", ""),
    ("", "first hyphen", "of"), ("the", "", ""), ("to", "", "apple"),
    ("had", "first quoted", "red"), ("sofa", "", "of"), ("better", "first glued", "us"),
    ("they want to", "", "and"), ("", "", "and apples"),
    ("a good", "first apart", "and to"), ("he had not", "last closed", ""),
    ("to be or", "last hyphen", "known"), ("will", "last hyphen", "q1"), ("q2 q3", "", "q4"),
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids="-".join)
def test_every_key_with_flags_or_forms_in_its_places(place):
    before, mark, after = place
    end, _, name = mark.partition(" ")
    shape = but_the_last_upper if name == "apart" else str
    for key, (_, flags, forms) in keys().items():
        if not flags and not forms and " " not in key:
            continue
        parts = [Token(shape(part)) for part in key.split(" ")]
        if mark:
            at = -1 if end == "last" else 0
            parts[at] = parts[at]._replace(**{name: True})
        tokens = [*map(Token, before.split()), *parts, *map(Token, after.split())]
        expected = Clause(tokens, False, shipped(), pronounce).speak()
        assert shipped().native.speak(tokens, False, pronounce) == expected, tokens


words = st.sampled_from(
    ["the", "to", "NASA", "well", "known", "I", "I'm", "don't", "Record", "us", "US", "at", "all"]
)


@settings(max_examples=200, deadline=None)
@given(
    line=st.lists(st.tuples(words, st.sampled_from(["-", " ", " ", "  "])), max_size=9).map(
        lambda pairs: "".join(word + gap for word, gap in pairs)
    ),
    before=st.sampled_from(["", " "]),
    loud=st.booleans(),
)
def test_plain_lines_need_no_tokens(line, before, loud):
    line = before + line
    assert rules.is_plain(line)
    expected = shipped().native.speak(rules.tokens(line), loud, pronounce)
    assert shipped().native.speak_line(line, loud, pronounce) == expected


@settings(max_examples=500, deadline=None)
@given(line=st.text(alphabet=string.ascii_letters[::9] + "'- .\"é1&", max_size=12))
def test_what_is_taken_for_plain_is(line):
    if rules.is_plain(line):
        expected = shipped().native.speak(rules.tokens(line), False, pronounce)
        assert shipped().native.speak_line(line, False, pronounce) == expected


def test_words_that_are_asked_for():
    asked = []

    def ask(word, loud, last):
        asked.append((word, loud, last))

    assert shipped().native.speak_line("blorf CEOs zxqv", True, ask) is None
    assert asked == [("blorf", True, False), ("CEOs", True, False), ("zxqv", True, True)]
    del asked[:]
    assert shipped().native.speak([Token("the"), Token("e.g")], False, ask) == "ðə"
    assert asked == [("e.g", False, True)]


def test_what_goes_wrong_in_the_callback_comes_out():
    def fail(word, loud, last):
        raise RuntimeError(word)

    native = shipped().native
    with pytest.raises(RuntimeError, match="blorf"):
        native.speak_line("the blorf", False, fail)
    with pytest.raises(ValueError, match="unknown context 13"):
        native.speak_line("blorf", False, lambda *_: ("a", 0, {13: "b"}))
    with pytest.raises(TypeError):
        native.speak_line("blorf", False, lambda *_: (b"a", 0, None))
    with pytest.raises(TypeError):
        native.speak([(b"the", False, False, False, False, False)], False, fail)
    with pytest.raises(ValueError, match="unpack"):
        native.speak([("the",)], False, fail)


def test_truncated_files_are_refused_or_find_less():
    whole = blob()
    for size in [*range(0, 3000, 7), *range(3000, len(whole), len(whole) // 50)]:
        try:
            lexicon = Lexicon(whole[:size])
        except ValueError:
            continue
        for key in ("the", "zebra", "a", "record"):
            lexicon.find(key)
    with pytest.raises(ValueError, match="damaged"):
        Lexicon(whole[: len(whole) // 2])


@pytest.mark.parametrize("content", [b"", b"TVLX", b"NOPE" + bytes(40), b"TVLX\1\0" + bytes(40)])
def test_what_is_no_lexicon_is_refused(content):
    with pytest.raises(ValueError, match="no lexicon of this version"):
        Lexicon(content)


def test_the_memory_is_kept_and_not_written_to(tmp_path):
    path = tmp_path / "copy.lex"
    path.write_bytes(blob())
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    lexicon = Lexicon(mapped)
    with pytest.raises(BufferError):
        mapped.close()
    assert lexicon.find("the") == Lexicon(blob()).find("the")
    del lexicon
    mapped.close()
    with pytest.raises(ValueError, match="read-only"):
        Lexicon(bytearray(blob()))
    with pytest.raises(TypeError):
        Lexicon("english.lex")


def test_threads_agree():
    lines = ["She wanted to record the well-known record at all costs", "TO BE OR not to be blorf"]
    lines += ["and to the " * 2_000]
    expected = [shipped().native.speak_line(line, False, pronounce) for line in lines]
    shared = Lexicon(blob())

    def run(_):
        return [[shared.speak_line(line, False, pronounce) for line in lines] for _ in range(20)]

    for results in in_threads(run):
        assert results == [expected] * 20


def test_contexts_and_flags_are_those_of_the_header():
    header = Path(__file__).parents[2] / "csrc" / "lexicon.h"
    text = header.read_text(encoding="utf-8")
    contexts = text.split("typedef enum {")[1].split("LEXICON_CONTEXTS")[0]
    names = [line.strip(" ,").removeprefix("CONTEXT_") for line in contexts.split("\n")]
    assert [name for name in names if name] == [context.name for context in formats.Context]
    for flag in Flag:
        assert f"FLAG_{flag.name} = {flag.value}," in text
