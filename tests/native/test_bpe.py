import random
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.threads import in_threads
from tests.reference import bpe as reference
from tests.text import adversarial
from twinvox._native.bpe import BytePairEncoder

TRAINING_TEXT = (
    "The theatre's thin thief thought that they'd thank the other. It isn't what we'll have.\n"
    "你好，世界。中国的人们说中文，他们的中国人说：中国人的中文！\r\n\r\n"
    "The 3 others' ... weather -- whether   or not?!  \t\tÅngström café, naïve.\n\n"
    "Привет, мир; こんにちは、世界。👩‍👩‍👧 aaaaaaaaaa bababababab ccc  ccc\n"
) * 2
TOKENS = reference.train(TRAINING_TEXT, 200)
ORACLE = reference.Bpe(TOKENS)
ENCODER = BytePairEncoder(reference.tiktoken_file(TOKENS), tiktoken=True)


def with_specials(specials, tokens=TOKENS):
    encoder = BytePairEncoder(reference.tiktoken_file(tokens), tiktoken=True)
    encoder.set_specials(specials)
    return encoder


known = st.characters(exclude_categories=("Cs", "Cn"))
texts = st.lists(
    st.one_of(
        st.sampled_from([token.decode("utf-8", "ignore") for token in TOKENS]),
        st.sampled_from(adversarial.SNIPPETS),
        st.sampled_from(adversarial.SPACES),
        st.text(known, max_size=5),
        st.text("ab'sTthe 的中国人\n", max_size=20),
    )
).map("".join)


@settings(deadline=None, max_examples=500)
@given(texts)
def test_ids_equal_the_reference(text):
    normal = unicodedata.normalize("NFC", text)
    ids = ENCODER.encode_normalized(normal)
    assert ids.dtype == np.int32
    assert ids.tolist() == ORACLE.encode(text)
    assert ENCODER.decode(ids) == normal.encode()


@settings(deadline=None, max_examples=500)
@given(texts)
def test_what_passes_as_nfc_is(text):
    ids = ENCODER.encode(text, False)
    if ids is not None:
        assert unicodedata.normalize("NFC", text) == text
        assert ids.tolist() == ORACLE.encode(text)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from("ab"), min_size=1).map("".join), st.integers(0, 5))
def test_few_letters_merge_in_many_ways(text, seed):
    made = random.Random(seed)
    corpus = "".join(made.choice("aab") for _ in range(400))
    tokens = reference.train(corpus, 40)
    encoder = BytePairEncoder(reference.tiktoken_file(tokens), tiktoken=True)
    assert encoder.encode_normalized(text).tolist() == reference.Bpe(tokens).encode(text)


def test_zeros_are_bytes_like_any_other():
    tokens = [*TOKENS[:256], b"\0\0", b"\0\0\0\0", b"a\0\0"]
    encoder = BytePairEncoder(reference.tiktoken_file(tokens), tiktoken=True)
    oracle = reference.Bpe(tokens)
    for n in range(12):
        for text in ("\0" * n, "a" + "\0" * n):
            assert encoder.encode_normalized(text).tolist() == oracle.encode(text)


def test_long_texts():
    made = random.Random(1)
    for n in (1023, 1024, 1025, 70_000):
        text = "".join(made.choice("thea 中国的人") for _ in range(n))
        assert ENCODER.encode_normalized(text).tolist() == ORACLE.encode(text)


# Which classes of c join a piece that begins with the character: a letter all three, others the
# exclamation mark, spaces the tab, numbers none.
PROBES = {"a": ("letter",), "!": ("letter", "other"), "\t": ("letter", "space")}


def test_every_code_point_has_its_class():
    """Joined pieces show by the merge of their border, for which there is a token of each byte."""
    tokens = TOKENS[:256] + [probe.encode() + byte for probe in PROBES for byte in TOKENS[:256]]
    encoder = BytePairEncoder(reference.tiktoken_file(tokens), tiktoken=True)
    points = [
        point
        for point in range(0x110000)
        if unicodedata.category(chr(point)) not in ("Cs", "Cn") and chr(point) not in "\r\n"
    ]
    for probe, classes in PROBES.items():
        for point in points:
            char = chr(point)
            joined = len(encoder.encode_normalized(probe + char)) == len(char.encode())
            assert joined == (reference.kind(char) in classes), f"{probe!r} U+{point:04X}"


def test_every_code_point_that_nfc_touches_is_looked_at():
    for point in range(0x110000):
        char = chr(point)
        if 0xD800 <= point < 0xE000:
            continue
        parts = unicodedata.decomposition(char).split()
        if unicodedata.combining(char) or not unicodedata.is_normalized("NFC", char):
            assert ENCODER.encode(char, False) is None, f"U+{point:04X}"
        if len(parts) == 2 and "<" not in parts[0]:
            pair = "".join(chr(int(part, 16)) for part in parts)
            if not unicodedata.is_normalized("NFC", pair):
                assert ENCODER.encode(pair, False) is None, f"U+{point:04X}"
    for syllable in ("\u1100\u1161", "\uac00\u11a8", "\u1112\u1175\u11c2"):
        assert ENCODER.encode(syllable, False) is None


def test_common_text_is_known_to_be_in_nfc():
    for text in ("Plain text, 3.14!", "你好，世界。", "café Ångström", "Привет", "한국어", "👍"):
        assert ENCODER.encode(text, False) is not None, text


def test_both_formats_give_the_same_tokenizer():
    as_json = [
        BytePairEncoder(reference.vocab_json(TOKENS, **options), tiktoken=False)
        for options in ({}, {"ensure_ascii": False}, {"indent": 2})
    ]
    text = TRAINING_TEXT + "".join(adversarial.SNIPPETS)
    text = unicodedata.normalize("NFC", text)
    expected = ENCODER.encode_normalized(text)
    for encoder in as_json:
        assert len(encoder) == len(ENCODER) == len(TOKENS)
        np.testing.assert_array_equal(encoder.encode_normalized(text), expected)
        encoder.check_merges(reference.merges_txt(TOKENS))
        encoder.check_merges(reference.merges_txt(TOKENS).replace(b"\n", b"\r\n"))
        encoder.check_merges(reference.merges_txt(TOKENS).partition(b"\n")[2])


def test_special_tokens_first_and_longest():
    first = len(TOKENS)
    specials = {b"<a>": first + 5, b"<a>b": first, b"[": first + 1, "【噪】".encode(): 2**31 - 1}
    encoder = with_specials(specials)
    text = "x<a>b<a><[【噪】<a"
    plain = {part: encoder.encode(part, False).tolist() for part in ("x", "<", "<a")}
    expected = [*plain["x"], first, first + 5, *plain["<"], first + 1, 2**31 - 1, *plain["<a"]]
    ids = encoder.encode(text, True)
    assert ids.tolist() == expected
    assert encoder.decode(ids) == text.encode()
    assert max(encoder.encode(text, False)) < first
    assert encoder.encode_batch((text, text), True)[1].tolist() == expected
    assert encoder.encode_batch((text,), False)[0].tolist() == ORACLE.encode(text)


def test_a_special_token_ends_the_text_before_it():
    encoder = with_specials({b"<a>": len(TOKENS)})
    assert encoder.encode("b  <a>", True)[:-1].tolist() == ORACLE.encode("b  ")
    assert encoder.encode("b  <a>", False).tolist() == ORACLE.encode("b  <a>")


def test_batches():
    many = ("", "the theatre", "e\u0301", "中国", "x" * 5000)
    ids = ENCODER.encode_batch(many, False)
    assert ids[2] is None
    for text, found in zip(many, ids, strict=True):
        if found is not None:
            np.testing.assert_array_equal(found, ENCODER.encode(text, False), strict=True)
    assert ENCODER.encode_batch((), True) == []


def test_threads_agree():
    made = random.Random(2)
    many = tuple(adversarial.make(made) for _ in range(300))
    long = unicodedata.normalize("NFC", "".join(many))
    expected = ENCODER.encode_batch(many, True)
    expected_long = ENCODER.encode_normalized(long)

    def run(_):
        return ENCODER.encode_batch(many, True), ENCODER.encode_normalized(long)

    for ids, ids_long in in_threads(run):
        np.testing.assert_array_equal(ids_long, expected_long)
        for found, wanted in zip(ids, expected, strict=True):
            assert (found is None) == (wanted is None)
            if found is not None:
                np.testing.assert_array_equal(found, wanted)


def test_surrogates_and_other_types():
    with pytest.raises(UnicodeEncodeError):
        ENCODER.encode("a\ud800", True)
    with pytest.raises(UnicodeEncodeError):
        ENCODER.encode_batch(("a", "\udfff"), True)
    for wrong in (None, b"a"):
        with pytest.raises(TypeError):
            ENCODER.encode(wrong, True)
    with pytest.raises(TypeError):
        ENCODER.encode_batch(("a", None), True)


def test_decode_bad_ids():
    assert ENCODER.decode(np.array([], np.int32)) == b""
    for id_ in (-1, len(TOKENS), 2**31 - 1):
        with pytest.raises(ValueError, match=f"no token has the id {id_}"):
            ENCODER.decode(np.array([0, id_], np.int32))
    with pytest.raises(TypeError, match="int32 array, got int64"):
        ENCODER.decode(np.array([0], np.int64))
    with pytest.raises(ValueError, match="contiguous"):
        ENCODER.decode(np.zeros(4, np.int32)[::2])


FILE = reference.tiktoken_file(TOKENS)
JSON = reference.vocab_json(TOKENS)
MERGES = reference.merges_txt(TOKENS)
LINES = FILE.splitlines(keepends=True)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"", "ids 0 to 255 is the byte 0"),
        (b"garbage", "line 1: expected a token in Base64"),
        (FILE.replace(b" 300\n", b" x\n"), "line 301: expected an id"),
        (FILE.replace(b" 300\n", b" 301\n"), "two tokens have the id 301"),
        (FILE.replace(b" 300\n", b" 30000\n"), "line 301: expected an id|no token has the id 300"),
        (b"".join(LINES[:-2]) + LINES[-1], f"no token has the id {len(TOKENS) - 2}"),
        (FILE + LINES[300].split()[0] + b" %d\n" % len(TOKENS), "same bytes as another"),
        (FILE + b"enp6eno= %d\n" % len(TOKENS), f"token {len(TOKENS)} cannot come of merging"),
        (LINES[0] + FILE, "two tokens have the id 0"),
        (FILE[:-5], f"line {len(TOKENS)}: expected"),
        (b"YWI= 0\n" + b"".join(LINES[1:]), "is the byte"),
        (FILE + b"YQ" * 200 + b" %d\n" % len(TOKENS), "longer than 255 bytes"),
        (b"\x00" * 1000, "line 1"),
    ],
)
def test_bad_tiktoken_files(file, message):
    with pytest.raises(ValueError, match=message):
        BytePairEncoder(file, tiktoken=True)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"", "byte 0: expected one object"),
        (b"[]", "byte 0: expected one object"),
        (b"{}", "byte 1: expected one object"),
        (JSON[:-1], "expected one object"),
        (JSON[: len(JSON) // 2], "expected"),
        (JSON + b"x", f"byte {len(JSON)}: expected one object"),
        (JSON.replace(b": 300,", b': "300",'), "expected an id"),
        (JSON.replace(b": 300,", b": -300,"), "expected an id"),
        (JSON.replace(b": 300,", b": 300.0,"), "expected one object"),
        (JSON.replace(b": 300,", b": 299,"), "two tokens have the id 299"),
        (JSON.replace(b": 300,", b": 3000,"), "no token has the id 300|expected an id"),
        ("你".join(JSON.decode().split("!")).encode(), "in GPT-2's alphabet"),
    ],
)
def test_bad_vocab_json(file, message):
    with pytest.raises(ValueError, match=message):
        BytePairEncoder(file, tiktoken=False)


MERGE_LINES = MERGES.splitlines(keepends=True)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"", "ends before the merge that makes token 256"),
        (b"".join(MERGE_LINES[:100]), "ends before the merge that makes token 355"),
        (b"".join(MERGE_LINES[:50] + MERGE_LINES[51:]), "line 51: not the merge"),
        (b"".join([*MERGE_LINES, b"q q\n"]), f"line {len(MERGE_LINES) + 1}: not the merge"),
        (MERGES.replace(b" ", b"", 2), "line 2: not the merge"),
        (b"\xff" + MERGES, "line 1: not the merge"),
    ],
)
def test_bad_merges(file, message):
    with pytest.raises(ValueError, match=message):
        ENCODER.check_merges(file)


@pytest.mark.parametrize(
    ("specials", "message"),
    [
        ({b"<a>": len(TOKENS) - 1}, "has an id of the vocabulary"),
        ({b"<a>": 600, b"<b>": 600}, "of another one"),
        ({b"": 600}, "empty"),
        ({b"<" * 256: 600}, "longer than 255"),
    ],
)
def test_bad_specials(specials, message):
    with pytest.raises(ValueError, match=message):
        with_specials(specials)
