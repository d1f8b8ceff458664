"""The clause machine, written to be read: tokens in, phonemes out."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from tests.reference.joins import glued
from twinvox.text.g2p import joins
from twinvox.text.g2p.letters import VOWELS
from twinvox.text.g2p.lexicon import Context, Entry, Flag, Lexicon
from twinvox.text.g2p.rules import Token

STRESSES = "ˈˌ"
_PLAIN = str.maketrans("", "", STRESSES)
MAX_PHRASE = 4
MAX_CHAIN = 6
_NUCLEUS = re.compile("([ˈˌ]?)(?:aɪ[ɚə]?|aʊ|eɪ|oʊ|ɔɪ|n̩|[" + "".join(VOWELS) + "])")


class Unit(NamedTuple):
    """A word or a phrase of the lexicon in its place in the clause."""

    entry: Entry
    first: Token
    last: Token
    glued: bool
    words: int


class Clause:
    """The machine for one clause.

    ``pronounce`` gives the entry of a word: its text, whether the clause is ``loud``, whether it
    is the last word; None where there is nothing to say.
    """

    def __init__(
        self,
        tokens: list[Token],
        loud: bool,
        lexicon: Lexicon,
        pronounce: Callable[[str, bool, bool], Entry | None],
    ) -> None:
        self._tokens, self._loud, self._lexicon = tokens, loud, lexicon
        self._pronounce = pronounce

    def speak(self) -> str | None:
        """The phonemes; None where nothing is spoken."""
        units = self._units()
        return _speak(units) if units else None

    def _units(self) -> list[Unit]:
        tokens = self._tokens
        units: list[Unit] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            entry, used = self._chain(at)
            if entry is None:
                entry, used = self._phrase(at)
            if entry is not None:
                glued = token.glued and bool(units)
                units.append(Unit(entry, token, tokens[at + used - 1], glued, used))
            at += used
        return units

    def _chain(self, at: int) -> tuple[Entry | None, int]:
        """A hyphen chain that the lexicon holds as one word."""
        tokens = self._tokens
        stop = at + 1
        while stop < len(tokens) and tokens[stop].glued and stop - at <= MAX_CHAIN:
            stop += 1
        if stop == at + 1 or stop - at > MAX_CHAIN or tokens[at].glued:
            return None, 1
        key = "-".join(token.text for token in tokens[at:stop]).lower()
        return self._lexicon.find(key), stop - at

    def _phrase(self, at: int) -> tuple[Entry | None, int]:
        tokens = self._tokens
        entry = self._pronounce(tokens[at].text, self._loud, at + 1 == len(tokens))
        if entry is None or not entry.flags & Flag.OPENS_PHRASE:
            return entry, 1
        words = [_phrase_word(tokens[at].text)]
        for before, token in pairwise(tokens[at : at + MAX_PHRASE]):
            if token.apart or (before.hyphen and not token.glued):
                break
            words.append(_phrase_word(token.text))
        for used in range(len(words), 1, -1):
            phrase = self._lexicon.find(" ".join(words[:used]))
            if phrase is not None:
                at_end = at + used == len(tokens)
                at_end = at_end and not tokens[-1].closed
                if at_end or not phrase.flags & Flag.AT_END:
                    return phrase, used
        return entry, 1


def _phrase_word(word: str) -> str:
    return word if word == "I" else word.lower()


def _speak(units: list[Unit]) -> str:
    readings = _readings(units)
    forms = _stressed_forms(units, readings)
    pauses = _pauses(units, forms)
    for i in range(1, len(units)):
        weak = units[i].entry.form(Context.AFTER_WEAK)
        if weak is None or forms[i] != units[i].entry.base:
            continue
        if units[i].glued or units[i].first.apart:
            continue
        if _ends_weak(forms[i - 1]):
            forms[i] = weak
    for i, unit in enumerate(units):
        if unit.last.hyphen and not unit.glued and forms[i] == unit.entry.base:
            forms[i] = _bound(unit.entry, i + 1 < len(units) and units[i + 1].glued)
    if units[-1].last.closed:
        forms[-1] = _breathing(units[-1].entry, forms[-1])
    for i in range(len(units) - 2, -1, -1):
        forms[i] = _joined(units, forms, pauses, i)
    for i in range(1, len(units)):
        if units[i].glued:
            forms[i - 1], forms[i] = glued(forms[i - 1], forms[i])
    out = [forms[0]]
    for unit, form in zip(units[1:], forms[1:], strict=True):
        out.append(form if unit.glued else " " + form)
    return "".join(out)


def _joined(units: list[Unit], forms: list[str], pauses: list[bool], at: int) -> str:
    """The form of unit ``at`` as it leans on the next one, or stops before a breath."""
    form = forms[at]
    if pauses[at + 1]:
        return _breathing(units[at].entry, form)
    if units[at + 1].entry.flags & Flag.UNHEARD:
        return form
    return _linked(units[at].entry, form, forms[at + 1].lstrip(STRESSES)[:1])


def _bound(entry: Entry, glued: bool) -> str:
    """The form before a hyphen; a weak word also has it where the next one is not glued."""
    bound = entry.form(Context.BEFORE_HYPHEN)
    return bound if bound is not None and (glued or "ˈ" not in entry.base) else entry.base


def _breathing(entry: Entry, form: str) -> str:
    """``form`` before a breath, which keeps "to" from shrinking."""
    full = entry.form(Context.BEFORE_VOWEL)
    return full if full and form.endswith("tə") and full.endswith("tʊ") else form


def _pauses(units: list[Unit], forms: list[str]) -> list[bool]:
    """Where espeak takes breath: before a conjunction, once enough words lie behind."""
    pauses = []
    behind = 0
    last = len(units) - 1
    for i, (unit, form) in enumerate(zip(units, forms, strict=True)):
        able = unit.entry.flags & Flag.PAUSES and not unit.glued
        breath = able and behind >= 2 and (i < last or "ˈ" in form)
        pause = bool(breath) or unit.first.apart
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
        if unit.first.quoted:
            verb = verb_s = noun = 0
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
        elif i == last and units[i].last.hyphen:
            context = Context.MID
        elif i == last and _breaks_off(units[i]):
            context = Context.TAIL
        elif i == last:
            context = Context.ALONE if last == 0 and not units[0].first.apart else Context.END
        elif i == 0 and not units[0].first.apart and entry.form(Context.FIRST) is not None:
            context = Context.FIRST
        else:
            context = Context.MID if stress_follows else Context.TAIL
        form = entry.form(context)
        if form is None and context is Context.ALONE:
            form = entry.form(Context.END)
        forms[i] = form = entry.base if form is None else form
        stress_follows = stress_follows or _stressed(entry, form, context)
    return forms


def _breaks_off(unit: Unit) -> bool:
    """Whether a closing quote hides that the word is final: where the word has a form before
    unstressed ones, or a final one with other sounds and not only another stress."""
    entry = unit.entry
    final = entry.form(Context.END)
    if final is None or not unit.last.closed:
        return False
    other = final.translate(_PLAIN) != entry.base.translate(_PLAIN)
    return other or entry.form(Context.TAIL) is not None


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
