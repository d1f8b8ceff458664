import json
import random
import unicodedata

import numpy as np
import pytest

from tests.growth import assert_linear
from tests.native.test_bpe import ORACLE, TOKENS, TRAINING_TEXT
from tests.native.threads import in_threads
from tests.reference import bpe as reference
from tests.text import adversarial
from twinvox.errors import ModelFormatError, ModelNotFoundError, TextError
from twinvox.text.qwen2_tokenizer import Qwen2Tokenizer

N = len(TOKENS)
QWEN2 = {"<|endoftext|>": N, "<|im_start|>": N + 1, "<|im_end|>": N + 2}
OWN = {"<|endofprompt|>": N + 3, "[breath]": N + 4, "[i\u00e0]": N + 5, "[": N + 6}


@pytest.fixture
def folder(tmp_path):
    """Writes the named files, a table as JSON, to a folder."""

    def write(**files):
        names = {"vocab": "vocab.json", "merges": "merges.txt", "specials": "special_tokens.json"}
        for name, content in files.items():
            if not isinstance(content, bytes):
                content = json.dumps(content).encode()
            (tmp_path / names.get(name, name.replace("_", "."))).write_bytes(content)
        return tmp_path

    return write


VOCAB = reference.vocab_json(TOKENS)
MERGES = reference.merges_txt(TOKENS)
TIKTOKEN = reference.tiktoken_file(TOKENS)


@pytest.fixture
def tokenizer(folder):
    return Qwen2Tokenizer.load(folder(vocab=VOCAB, merges=MERGES, specials=OWN))


def expected(text, specials):
    """Split on the longest special token at the first place, merged in between."""
    ids = []
    at = start = 0
    while at < len(text):
        found = max(
            (token for token in specials if text.startswith(token, at)), key=len, default=""
        )
        if found:
            ids += [*ORACLE.encode(text[start:at]), specials[found]]
            start = at + len(found)
        at += len(found) or 1
    return ids + ORACLE.encode(text[start:])


def test_random_texts_with_special_tokens(tokenizer):
    made = random.Random(3)
    specials = QWEN2 | OWN
    assert tokenizer.special_tokens == specials
    assert len(tokenizer) == N + 7
    for _ in range(300):
        text = adversarial.make(made, list(specials))
        ids = tokenizer.encode(text)
        assert ids.dtype == np.int32
        assert ids.tolist() == expected(text, specials)
        normal = unicodedata.normalize("NFC", text)
        ordinary = tokenizer.encode_ordinary(text)
        assert ordinary.tolist() == ORACLE.encode(text)
        assert tokenizer.decode(ordinary) == normal
        if unicodedata.is_normalized("NFC", text):
            assert tokenizer.decode(ids) == text


def test_special_tokens_as_the_text_has_them(tokenizer):
    assert tokenizer.encode("[i\u00e0]").tolist() == [N + 5]
    decomposed = tokenizer.encode("[ia\u0300]")
    assert decomposed[0] == N + 6
    assert tokenizer.decode(decomposed) == "[i\u00e0]"
    # what follows a special token does not compose with it
    assert tokenizer.encode("[breath]\u0301").tolist()[0] == N + 4
    for lookalike in adversarial.LOOKALIKES[:6]:
        assert max(tokenizer.encode(lookalike)) < N


def test_both_layouts_and_both_tables_of_special_tokens(folder, tmp_path, tokenizer):
    (tmp_path / "other").mkdir()
    nested = tmp_path / "other" / "specials.json"
    nested.write_text(json.dumps({"special_tokens": QWEN2 | OWN, "comment": "x"}))
    (tmp_path / "other" / "qwen.tiktoken").write_bytes(TIKTOKEN)
    other = Qwen2Tokenizer.load(tmp_path / "other", special_tokens_file=nested)
    text = TRAINING_TEXT + "<|endofprompt|>e\u0301[breath]<|im_end|>"
    assert other.special_tokens == tokenizer.special_tokens
    np.testing.assert_array_equal(other.encode(text), tokenizer.encode(text))


def test_the_added_tokens_of_qwen2_5_do_not_leak_in(folder):
    config = {
        "added_tokens_decoder": {
            str(N + 3): {"content": "<|object_ref_start|>", "special": True},
            str(N + 4): {"content": "<|object_ref_end|>", "special": True},
        }
    }
    path = folder(vocab=VOCAB, merges=MERGES, specials=OWN, tokenizer_config_json=config)
    path = folder(added_tokens_json={"<|object_ref_start|>": N + 3})
    tokenizer = Qwen2Tokenizer.load(path)
    assert "<|object_ref_start|>" not in tokenizer.special_tokens
    assert max(tokenizer.encode("<|object_ref_start|>")) < N
    assert tokenizer.decode([N + 3]) == "<|endofprompt|>"


def test_special_tokens_of_qwen2_where_they_are_free(folder):
    specials = {"<|endoftext|>": N + 9, "<|x|>": N + 1, "<|y|>": N + 2}
    tokenizer = Qwen2Tokenizer.load(folder(vocab=VOCAB, merges=MERGES, specials=specials))
    assert tokenizer.special_tokens == specials


def test_batches_on_threads(tokenizer):
    made = random.Random(4)
    texts = [adversarial.make(made, list(OWN)) for _ in range(200)]
    one_by_one = [tokenizer.encode(text).tolist() for text in texts]
    for threads in (1, 3, 8, 500):
        batch = tokenizer.encode_batch(texts, threads=threads)
        assert [ids.tolist() for ids in batch] == one_by_one
    assert tokenizer.encode_batch([], threads=4) == []
    with pytest.raises(ValueError, match="threads must be at least 1"):
        tokenizer.encode_batch(texts, threads=0)
    results = in_threads(lambda _: [tokenizer.encode(text).tolist() for text in texts])
    assert all(result == one_by_one for result in results)


def test_nothing(tokenizer):
    assert tokenizer.encode("").tolist() == []
    assert tokenizer.encode_ordinary("").dtype == np.int32
    assert tokenizer.decode([]) == ""
    assert tokenizer.decode_bytes(np.array([], np.int64)) == b""


def test_decode(tokenizer):
    ids = tokenizer.encode("你好，<|endofprompt|>")
    for form in (ids, ids.tolist(), ids.astype(np.int64), tuple(ids), np.repeat(ids, 2)[::2]):
        assert tokenizer.decode(form) == "你好，<|endofprompt|>"
    half = tokenizer.encode("é")[:1] if len(tokenizer.encode("é")) > 1 else [TOKENS.index(b"\xc3")]
    assert tokenizer.decode(half) == "\ufffd"
    assert tokenizer.decode_bytes(half) == b"\xc3"
    for id_ in (-1, N + 7, 2**31, 2**40):
        with pytest.raises(ValueError, match=f"no token has the id {id_}"):
            tokenizer.decode([id_])
    for wrong in ([0.5], [[1]], ["a"], 3):
        with pytest.raises(TypeError, match="whole numbers with one axis"):
            tokenizer.decode(wrong)


def test_surrogates(tokenizer):
    for encode in (
        tokenizer.encode,
        tokenizer.encode_ordinary,
        lambda text: tokenizer.encode_batch([text]),
    ):
        with pytest.raises(TextError, match=r"character 2 .* lone surrogate, U\+D83D"):
            encode("ab\ud83d")
    with pytest.raises(TextError, match=r"character 3 .* U\+DC00"):
        tokenizer.encode("e\u0301 \udc00")


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"specials": OWN},
        {"vocab": VOCAB},
        {"merges": MERGES},
        {"vocab": VOCAB, "a_tiktoken": TIKTOKEN},
        {"a_tiktoken": TIKTOKEN, "b_tiktoken": TIKTOKEN},
    ],
)
def test_missing_files_are_named(folder, files):
    path = folder(**files)
    with pytest.raises(ModelNotFoundError, match=r"expected vocab\.json and merges\.txt, or one"):
        Qwen2Tokenizer.load(path)


def test_missing_special_tokens(folder, tmp_path):
    path = folder(vocab=VOCAB, merges=MERGES)
    with pytest.raises(ModelNotFoundError, match=r"special_tokens\.json: No such file"):
        Qwen2Tokenizer.load(path)
    with pytest.raises(ModelNotFoundError, match=r"nowhere: No such file"):
        Qwen2Tokenizer.load(path, tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"vocab": VOCAB[:-1]}, r"vocab\.json: byte"),
        ({"vocab": b""}, r"vocab\.json: byte 0"),
        ({"merges": MERGES[:-3]}, r"merges\.txt: "),
        (
            {"merges": b"".join(MERGES.splitlines(keepends=True)[:-1])},
            "before the merge that makes",
        ),
        ({"specials": b"{"}, r"special_tokens\.json: "),
        ({"specials": b"\xff\xfe"}, r"special_tokens\.json: "),
        ({"specials": b"[" * 100_000}, r"special_tokens\.json: "),
        ({"specials": []}, "expected an object of special tokens"),
        ({"specials": {}}, "expected an object of special tokens"),
        ({"specials": {"special_tokens": {}}}, "expected an object of special tokens"),
        ({"specials": {"<a>": N - 1}}, f"'<a>': expected an id from {N} on"),
        ({"specials": {"<a>": "7"}}, "found '7'"),
        ({"specials": {"<a>": True}}, "found True"),
        ({"specials": {"<a>": 2**31}}, "expected an id"),
        ({"specials": {"<a>": N, "<b>": N}}, "'<a>' and '<b>' have the same id"),
        ({"specials": b'{"<a>": %d, "<a>": %d}' % (N, N + 1)}, "'<a>' comes twice"),
        ({"specials": {"": N}}, "empty or longer than 255 bytes"),
        ({"specials": {"长" * 86: N}}, "empty or longer than 255 bytes"),
        ({"specials": {"\ud800": N}}, "surrogates not allowed"),
        ({"specials": {"<a>": N + 4}}, f"begin at {N + 4}, but the vocabulary ends at {N - 1}"),
    ],
)
def test_damaged_files_are_named(folder, files, message):
    path = folder(**{"vocab": VOCAB, "merges": MERGES, "specials": OWN} | files)
    with pytest.raises(ModelFormatError, match=message):
        Qwen2Tokenizer.load(path)


def test_a_vocabulary_cut_short_at_a_line_is_told_by_the_special_tokens(folder):
    short = b"".join(TIKTOKEN.splitlines(keepends=True)[:-1])
    with pytest.raises(ModelFormatError, match="incomplete"):
        Qwen2Tokenizer.load(folder(a_tiktoken=short, specials=OWN))


@pytest.mark.parametrize(
    "unit",
    ["a", "the", "ab", "的", "中国的人", " ", "\n ", "e\u0301", "!", "[", "<|endofprompt|", "👩‍👩"],
)
def test_time_is_linear(tokenizer, unit):
    assert_linear(tokenizer.encode, unit, 800_000)
