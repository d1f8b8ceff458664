"""English text to espeak's en-us phonemes: clause by clause through the native machine."""

import re
from importlib.resources import files

from twinvox.text.en_normalizer import DEFAULT_NORMALIZATION, normalize
from twinvox.text.g2p import joins, rules, unknown
from twinvox.text.g2p.letters import LetterToSound
from twinvox.text.g2p.lexicon import Context, Entry, Lexicon

MAX_SYMBOLS = 3
_CAPITALS_S = re.compile("[A-Z]{2,}'?s")


class G2p:
    """English grapheme to phoneme conversion on the shipped lexicon; safe to share by threads."""

    def __init__(self) -> None:
        data = files(__package__).joinpath("data")
        self._lexicon = Lexicon(str(data.joinpath("english.lex")))
        self._letters = LetterToSound(str(data.joinpath("letters.bin")))

    def phonemize(self, text: str, *, normalization: str = DEFAULT_NORMALIZATION) -> str:
        """The phonemes of ``text``, marks and spaces included; "" if nothing in it is spoken.

        The text is normalised first (`twinvox.text.en_normalizer`); it may hold anything.
        ``normalization`` is "natural", "upstream" or "none"; ValueError for another.
        """
        out: list[str] = []
        for clause in rules.clauses(normalize(text, normalization)):
            phonemes = self._speak(clause.text)
            if phonemes is not None:
                out += phonemes, clause.ending
        return "".join(out)

    def _speak(self, clause: str) -> str | None:
        machine, loud = self._lexicon.native, rules.shouts(clause)
        if rules.is_plain(clause):
            return machine.speak_line(clause, loud, self._pronounce)
        return machine.speak(rules.tokens(clause), loud, self._pronounce)

    def _pronounce(self, word: str, loud: bool, last: bool) -> Entry | None:
        """What the lexicon does not settle; initials that end a clause are always spelt."""
        if last and "." in word:
            return Entry(unknown.spell(word.replace(".", "").lower(), self._lexicon))
        return self._word(word, loud)

    def _word(self, word: str, loud: bool) -> Entry | None:
        lexicon = self._lexicon
        entry = lexicon.find(word)
        if entry is None and not word[0].isalpha():
            return self._symbols(word)
        if entry is None and _CAPITALS_S.fullmatch(word):
            return self._capitals(word)
        if entry is None or (loud and entry.form(Context.ALONE) is not None):
            entry = lexicon.find(word.lower()) or entry
        if entry is None and word.endswith("'s") and "'" not in word[:-2]:
            return self._possessive(word[:-2], loud)
        return entry or unknown.pronounce(word.lower() if loud else word, lexicon, self._letters)

    def _possessive(self, stem: str, loud: bool) -> Entry | None:
        entry = self._word(stem, loud) if stem else None
        if entry is None:
            return None
        forms = {
            context: joins.possessive(form, stem.lower())
            for context, form in (entry.forms or {}).items()
            if context <= Context.ALONE
        }
        return Entry(joins.possessive(entry.base, stem.lower()), 0, forms or None)

    def _capitals(self, word: str) -> Entry | None:
        """CEOs, FBI's: the ending is heard after letter names only, not after NASA or VIII."""
        stem = word[:-1].removesuffix("'")
        entry = self._word(stem, False)
        if entry is None or entry.base != unknown.spell(stem.lower(), self._lexicon):
            return entry
        return Entry(joins.plural(entry.base))

    def _symbols(self, run: str) -> Entry | None:
        """A run of symbols: as the lexicon knows it, or else piece by piece, the longest first."""
        run = run[:MAX_SYMBOLS]
        entry = self._lexicon.find(run)
        if entry is not None or len(run) < 2:
            return entry
        for stop in range(len(run) - 1, 0, -1):
            first = self._lexicon.find(run[:stop])
            if first is not None:
                rest = self._symbols(run[stop:])
                return Entry(first.base + rest.base) if rest else first
        return self._symbols(run[1:])
