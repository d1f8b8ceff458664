"""The clause machine: tokens in, espeak's en-us phonemes out."""

import re
from importlib.resources import files
from typing import NamedTuple

from twinvox.text.en_normalizer import normalize
from twinvox.text.g2p import joins, rules, unknown
from twinvox.text.g2p.letters import VOWELS, LetterToSound
from twinvox.text.g2p.lexicon import Context, Entry, Flag, Lexicon

STRESSES = "ˈˌ"
MAX_PHRASE = 4
MAX_CHAIN = 6
_NUCLEUS = re.compile("([ˈˌ]?)(?:aɪ|aʊ|eɪ|oʊ|ɔɪ|[" + "".join(VOWELS) + "])")


class Unit(NamedTuple):
    """A word or a phrase of the lexicon in its place in the clause."""

    entry: Entry
    glued: bool
    apart: bool
    words: int


class G2p:
    """English grapheme to phoneme conversion on the shipped lexicon; safe to share by threads."""

    def __init__(self) -> None:
        data = files(__package__).joinpath("data")
        self._lexicon = Lexicon(str(data.joinpath("english.lex")))
        self._letters = LetterToSound(str(data.joinpath("letters.bin")))

    def phonemize(self, text: str) -> str:
        """The phonemes of ``text``, marks and spaces included; "" if nothing in it is spoken.

        The text is normalised first (`twinvox.text.en_normalizer`); it may hold anything.
        """
        out: list[str] = []
        spoken = False
        for clause in rules.clauses(normalize(text)):
            loud = rules.shouts(clause.text)
            units = self._units(rules.tokens(clause.text), loud)
            if units:
                out.append(_speak(units))
                out.append(clause.ending)
                spoken = True
        return "".join(out) if spoken else ""

    def _units(self, tokens: list[rules.Token], loud: bool) -> list[Unit]:
        units: list[Unit] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            entry, used = self._chain(tokens, at)
            if entry is None:
                entry, used = self._phrase(tokens, at, loud)
            if entry is not None:
                units.append(Unit(entry, token.glued and bool(units), token.apart, used))
            at += used
        return units

    def _chain(self, tokens: list[rules.Token], at: int) -> tuple[Entry | None, int]:
        """A hyphen chain that the lexicon holds as one word."""
        stop = at + 1
        while stop < len(tokens) and tokens[stop].glued and stop - at <= MAX_CHAIN:
            stop += 1
        if stop == at + 1 or stop - at > MAX_CHAIN or tokens[at].glued:
            return None, 1
        key = "-".join(token.text for token in tokens[at:stop]).lower()
        return self._lexicon.find(key), stop - at

    def _phrase(self, tokens: list[rules.Token], at: int, loud: bool) -> tuple[Entry | None, int]:
        entry = self._word(tokens[at].text, loud)
        if entry is None or not entry.flags & Flag.OPENS_PHRASE:
            return entry, 1
        words = [_phrase_word(tokens[at].text)]
        for token in tokens[at + 1 : at + MAX_PHRASE]:
            if token.apart or self._is_capitals(token.text, loud):
                break
            words.append(_phrase_word(token.text))
        for used in range(len(words), 1, -1):
            phrase = self._lexicon.find(" ".join(words[:used]))
            if phrase is not None:
                at_end = at + used == len(tokens)
                if at_end or not phrase.flags & Flag.AT_END:
                    return phrase, used
        return entry, 1

    def _word(self, word: str, loud: bool) -> Entry | None:
        lexicon = self._lexicon
        entry = lexicon.find(word)
        if entry is None or (loud and entry.form(Context.ALONE) is not None):
            entry = lexicon.find(word.lower()) or entry
        return entry or unknown.pronounce(word.lower() if loud else word, lexicon, self._letters)

    def _is_capitals(self, word: str, loud: bool) -> bool:
        """Capitals keep a word out of phrases; in a shouted clause only those that matter."""
        if len(word) == 1 or not word.isupper():
            return False
        return not loud or self._lexicon.find(word) is not None


def _phrase_word(word: str) -> str:
    return word if word == "I" or word.startswith("I'") else word.lower()


def _speak(units: list[Unit]) -> str:
    readings = _readings(units)
    forms = _stressed_forms(units, readings)
    pauses = _pauses(units, forms)
    for i in range(1, len(units)):
        weak = units[i].entry.form(Context.AFTER_WEAK)
        if weak is not None and forms[i] == units[i].entry.base and _ends_weak(forms[i - 1]):
            forms[i] = weak
    for i in range(len(units) - 2, -1, -1):
        forms[i] = _joined(units, forms, pauses, i)
    for i in range(1, len(units)):
        if units[i].glued:
            forms[i - 1], forms[i] = joins.glued(forms[i - 1], forms[i])
    out = [forms[0]]
    for unit, form in zip(units[1:], forms[1:], strict=True):
        out.append(form if unit.glued else " " + form)
    return "".join(out)


def _joined(units: list[Unit], forms: list[str], pauses: list[bool], at: int) -> str:
    """The form of unit ``at`` as it leans on the next one, or stops before a breath."""
    form = forms[at]
    if pauses[at + 1]:
        return form[:-1] + "ʊ" if form.endswith("tə") else form
    return _linked(units[at].entry, form, forms[at + 1].lstrip(STRESSES)[:1])


def _pauses(units: list[Unit], forms: list[str]) -> list[bool]:
    """Where espeak takes breath: before a conjunction, once enough words lie behind."""
    pauses = []
    behind = 0
    last = len(units) - 1
    for i, (unit, form) in enumerate(zip(units, forms, strict=True)):
        able = unit.entry.flags & Flag.PAUSES and not unit.glued
        breath = able and behind >= 2 and (i < last or "ˈ" in form)
        pause = bool(breath) or unit.apart
        pauses.append(pause)
        behind = 0 if breath else behind + unit.words
    return pauses


def _ends_weak(form: str) -> bool:
    nuclei = _NUCLEUS.findall(form)
    return bool(nuclei) and not nuclei[-1]


def _readings(units: list[Unit]) -> list[Context]:
    """Verb, noun or past as the words before let expect; MID where nothing is expected."""
    verb = verb_s = noun = past = 0
    readings = []
    for unit in units:
        entry, flags = unit.entry, unit.entry.flags
        reading = Context.MID
        if entry.forms:
            if verb and Context.VERB in entry.forms:
                reading = Context.VERB
            elif verb_s and Context.VERB_S in entry.forms:
                reading = Context.VERB_S
            elif past and Context.PAST in entry.forms:
                reading = Context.PAST
            elif noun and Context.NOUN in entry.forms:
                reading = Context.NOUN
        readings.append(reading)
        if not flags & Flag.EXTENDS_VERB:
            verb, verb_s = max(verb - 1, 0), max(verb_s - 1, 0)
        noun, past = max(noun - 1, 0), max(past - 1, 0)
        if flags & (Flag.EXPECTS_VERB | Flag.EXPECTS_VERB_S):
            verb = bool(flags & Flag.EXPECTS_VERB)
            verb_s = bool(flags & Flag.EXPECTS_VERB_S)
            noun = 0
            if not verb:
                past = 0
        elif flags & Flag.EXPECTS_NOUN:
            noun, verb, verb_s, past = 1, 0, 0, 0
        elif flags & Flag.EXPECTS_PAST:
            past, verb, verb_s, noun = 2, 0, 0, 0
    return readings


def _stressed_forms(units: list[Unit], readings: list[Context]) -> list[str]:
    forms = [""] * len(units)
    last = len(units) - 1
    stress_follows = False
    for i in range(last, -1, -1):
        entry = units[i].entry
        if readings[i] is not Context.MID:
            context = readings[i]
        elif i == last:
            context = Context.ALONE if last == 0 else Context.END
        elif i == 0 and not units[0].apart and entry.form(Context.FIRST) is not None:
            context = Context.FIRST
        else:
            context = Context.MID if stress_follows else Context.TAIL
        form = entry.form(context)
        if form is None and context is Context.ALONE:
            form = entry.form(Context.END)
        forms[i] = form = entry.base if form is None else form
        stress_follows = stress_follows or _stressed(entry, form, context)
    return forms


def _stressed(entry: Entry, form: str, context: Context) -> bool:
    if context in (Context.TAIL, Context.END, Context.ALONE):
        if entry.flags & Flag.STRESSED_TAIL:
            return True
        if entry.flags & Flag.UNSTRESSED_TAIL:
            return False
    return "ˈ" in form


def _linked(entry: Entry, form: str, following: str) -> str:
    """``form`` as it leans on the first phoneme of the next word."""
    if following in VOWELS:
        context, linked = Context.BEFORE_VOWEL, joins.link_r(form)
    elif following == "ɹ":
        context, linked = Context.BEFORE_R, joins.rhotic(form)
    else:
        return form
    stored = entry.form(context) if form == entry.base else None
    return linked if stored is None else stored
