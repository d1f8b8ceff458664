"""Byte-level BPE as its definitions read: one alternative, one merge after another."""

import json
import unicodedata
from base64 import b64encode
from collections import Counter
from itertools import pairwise

_VISIBLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_others = iter(range(0x100, 0x200))
ALPHABET = [chr(byte if byte in _VISIBLE else next(_others)) for byte in range(256)]  # of GPT-2

BYTE_IDS = [(byte * 37 + 11) % 256 for byte in range(256)]  # ids need not follow the bytes


def kind(char):
    """ "newline", "space", "letter", "number" or "other"."""
    if char in "\r\n":
        return "newline"
    category = unicodedata.category(char)
    if category[0] == "Z" or char in "\t\v\f\x85":
        return "space"
    return {"L": "letter", "N": "number"}.get(category[0], "other")


def _run(text, at, *kinds):
    while at < len(text) and kind(text[at]) in kinds:
        at += 1
    return at


def _contraction(text, at):
    """(?i:'s|'t|'re|'ve|'m|'ll|'d); the long s is an s."""
    for ending in ("s", "t", "re", "ve", "m", "ll", "d"):
        found = text[at + 1 : at + 1 + len(ending)]
        if text[at] == "'" and found.lower().replace("ſ", "s") == ending:
            return at + 1 + len(ending)
    return None


def _word(text, at):
    r"""[^\r\n\p{L}\p{N}]?\p{L}+"""
    start = at + 1 if kind(text[at]) in ("space", "other") else at
    end = _run(text, start, "letter")
    return end if end > start else None


def _number(text, at):
    r"""\p{N}"""
    return at + 1 if kind(text[at]) == "number" else None


def _symbols(text, at):
    r"""?[^\s\p{L}\p{N}]+[\r\n]*"""
    start = at + 1 if text[at] == " " else at
    end = _run(text, start, "other")
    return _run(text, end, "newline") if end > start else None


def _lines(text, at):
    r"""\s*[\r\n]+"""
    end = _run(text, at, "space", "newline")
    while end > at and kind(text[end - 1]) != "newline":
        end -= 1
    return end if end > at else None


def _spaces_before_a_space(text, at):
    r"""\s+(?!\S)"""
    end = _run(text, at, "space", "newline")
    if end < len(text):
        end -= 1
    return end if end > at else None


def _spaces(text, at):
    r"""\s+"""
    end = _run(text, at, "space", "newline")
    return end if end > at else None


ALTERNATIVES = (
    _contraction,
    _word,
    _number,
    _symbols,
    _lines,
    _spaces_before_a_space,
    _spaces,
)


def pieces(text):
    """What the pattern of Qwen2's pre-tokeniser matches, one after the other."""
    found = []
    at = 0
    while at < len(text):
        end = next(filter(None, (match(text, at) for match in ALTERNATIVES)))
        found.append(text[at:end])
        at = end
    return found


class Bpe:
    """Byte strings, token i with id i, that neighbours merge to; the lowest id comes first."""

    def __init__(self, tokens):
        self.tokens = list(tokens)
        self.ids = {token: id_ for id_, token in enumerate(self.tokens)}

    def encode(self, text):
        """The ids of a text without special tokens, as a list."""
        return [
            id_
            for piece in pieces(unicodedata.normalize("NFC", text))
            for id_ in self.merge(piece.encode())
        ]

    def merge(self, piece, below=float("inf")):
        """The ids of bytes within which all may merge, to tokens with lower ids than below."""
        parts = [bytes([byte]) for byte in piece]
        while True:
            pairs = enumerate(pairwise(parts))
            ids = [(self.ids.get(left + right, below), at) for at, (left, right) in pairs]
            id_, at = min(ids, default=(below, 0))
            if id_ >= below:
                return [self.ids[part] for part in parts]
            parts[at : at + 2] = [parts[at] + parts[at + 1]]

    def parts(self, id_):
        """The two tokens that merging a token's bytes leads to just before the token."""
        left, right = self.merge(self.tokens[id_], below=id_)
        return self.tokens[left], self.tokens[right]


def train(text, n_merges):
    """A vocabulary, in the order of ids, of the most frequent pairs within the pieces of text."""
    tokens = sorted((bytes([byte]) for byte in range(256)), key=lambda token: BYTE_IDS[token[0]])
    words = Counter(pieces(text))
    split = {word: [bytes([byte]) for byte in word.encode()] for word in words}
    for _ in range(n_merges):
        pairs = Counter()
        for word, parts in split.items():
            for pair in pairwise(parts):
                pairs[pair] += words[word]
        if not pairs:
            break
        left, right = max(pairs, key=lambda pair: (pairs[pair], pair))
        tokens.append(left + right)
        for parts in split.values():
            at = 0
            while at + 1 < len(parts):
                if parts[at] + parts[at + 1] == left + right:
                    parts[at : at + 2] = [left + right]
                at += 1
    return tokens


def tiktoken_file(tokens):
    lines = (b"%s %d\n" % (b64encode(token), id_) for id_, token in enumerate(tokens))
    return b"".join(lines)


def vocab_json(tokens, **options):
    return json.dumps({spell(token): id_ for id_, token in enumerate(tokens)}, **options).encode()


def merges_txt(tokens):
    bpe = Bpe(tokens)
    merges = (bpe.parts(id_) for id_ in range(256, len(tokens)))
    lines = [f"{spell(left)} {spell(right)}\n" for left, right in merges]
    return ("#version: 0.2\n" + "".join(lines)).encode()


def spell(token):
    """The token in GPT-2's alphabet."""
    return "".join(ALPHABET[byte] for byte in token)
