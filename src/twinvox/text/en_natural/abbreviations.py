"""Titles, abbreviations and initials, and the full stops after them that end no sentence."""

import re

from twinvox.text.en_natural.replace import (
    STOP_BEFORE_LETTER,
    Pass,
    ends_sentence,
    needs,
    spoken,
    word_set,
)
from twinvox.text.numbers import cardinal, ordinal, roman

# Before a name; the first group needs no full stop.
_ALWAYS_TITLES = {"mr": "mister", "mrs": "missus", "ms": "miz", "dr": "doctor", "messrs": "misters"}
_TITLES = {
    "prof": "professor", "rev": "reverend", "hon": "honorable", "gen": "general",
    "col": "colonel", "maj": "major", "capt": "captain", "lt": "lieutenant", "sgt": "sergeant",
    "cpl": "corporal", "pvt": "private", "cmdr": "commander", "adm": "admiral",
    "sen": "senator", "rep": "representative", "gov": "governor", "pres": "president",
    "supt": "superintendent", "det": "detective", "insp": "inspector", "fr": "father",
    "st": "saint", "ste": "saint", "mt": "mount", "ft": "fort", "sr": "sister",
    "drs": "doctors", "profs": "professors", "sens": "senators", "reps": "representatives",
    "atty": "attorney", "amb": "ambassador", "sec": "secretary",
}  # fmt: skip
# After a name or a number; the full stop belongs to them.
_SUFFIXES = {
    "jr": "junior", "sr": "senior", "esq": "esquire", "inc": "incorporated", "ltd": "limited",
    "corp": "corporation", "co": "company", "bros": "brothers", "assn": "association",
    "dept": "department", "univ": "university", "ave": "avenue", "blvd": "boulevard",
    "rd": "road", "ln": "lane", "hwy": "highway", "pkwy": "parkway", "st": "street",
    "dr": "drive", "sq": "square", "ct": "court", "pl": "place", "mfg": "manufacturing",
    "intl": "international", "natl": "national", "govt": "government", "ed": "edition",
}  # fmt: skip
# Anywhere, in any case.
_ANYWHERE = {
    "etc": "et cetera", "vs": "versus", "approx": "approximately", "e.g": "for example",
    "i.e": "that is", "cf": "compare", "viz": "namely", "a.k.a": "also known as",
    "misc": "miscellaneous", "incl": "including", "excl": "excluding", "esp": "especially",
    "avg": "average", "max": "maximum", "min": "minimum", "tel": "telephone",
    "ext": "extension", "attn": "attention", "qty": "quantity", "al": "al", "dept": "department",
    "ph.d": "PhD", "est": "established", "govt": "government", "asst": "assistant",
    "assoc": "associate", "mgr": "manager", "temp": "temperature", "apt": "apartment",
    "bldg": "building", "orig": "originally", "ca": "circa", "cont": "continued",
}  # fmt: skip
_INSIDE = word_set("e.g i.e vs approx cf viz a.k.a incl excl esp avg tel attn asst assoc orig")
"""Those that never end a sentence."""
_BARE = {
    "etc": "et cetera", "vs": "versus", "btw": "by the way", "ltd": "limited",
    "approx": "approximately",
    "jr": "junior", "sgt": "sergeant", "capt": "captain", "lt": "lieutenant", "blvd": "boulevard",
}  # fmt: skip
# Before a number.
_NUMBERED = {
    "no": "number", "nos": "numbers", "fig": "figure", "figs": "figures", "vol": "volume",
    "vols": "volumes", "ch": "chapter", "chap": "chapter", "sec": "section", "eq": "equation",
    "p": "page", "pp": "pages", "pg": "page", "pt": "part", "art": "article", "ver": "version",
    "rm": "room", "apt": "apartment", "ste": "suite", "ext": "extension", "par": "paragraph",
    "ca": "circa", "c": "circa", "est": "established", "tbl": "table", "ex": "example",
    "hwy": "highway", "rte": "route", "op": "opus", "v": "version",
}  # fmt: skip
_KEYWORDS = (
    "Chapter|Part|Book|Volume|Vol|Act|Scene|Section|Article|Appendix|Type|Phase|Stage|Title|Level|"
    "Class|Grade|Unit|War|Bowl|Mark|Figure|Table|Rocky|Fantasy|Olympiad|Episode|Factor|Lesson|"
    "Canto|Corps|Army|Apollo|chapter|part|book|volume|act|scene|section|type|phase|stage"
)
_RULERS = word_set(
    "Louis Henry George Edward Elizabeth Charles James William Richard Philip Paul Pius Benedict "
    "Gregory Leo Innocent Clement Urban Alexander Nicholas Napoleon Wilhelm Friedrich Frederick "
    "Ivan Peter Catherine Mary Emmanuel Gustav Christian Haakon Olav Harald Ramses Ramesses "
    "Ptolemy Carlos Alfonso Ferdinand Leopold Rudolf Maximilian Otto Darius Xerxes Cleopatra "
    "Francis Joseph Julius Boniface Adrian Albert Edmund Henri Felipe Fernando Isabella Margrethe "
    "Baldwin Canute Thutmose Amenhotep Antiochus Mehmed Selim Murad Osman Justinian Constantine "
    "Theodosius Sixtus Celestine Stephen Robert David Rainier Willem Beatrix Alphonse"
)


def _roman_letters(number: int) -> str:
    tens, ones = divmod(number, 10)
    return ["", "x", "xx", "xxx", "xl"][tens] + [
        "", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix",
    ][ones]  # fmt: skip


BARE_TRAPS = (
    frozenset([*_ALWAYS_TITLES, *_BARE])
    | {letters for n in range(2, 50) if len(letters := _roman_letters(n)) > 1}
    | word_set("st mt sr inc corp ave rd hwy pkwy mon tue tues wed thu thur thurs fri")
)
"""Words in small letters that may need another reading."""
TRAPS = (
    BARE_TRAPS
    | frozenset([*_TITLES, *_SUFFIXES, *_ANYWHERE, *_NUMBERED])
    | word_set(
        "jan feb mar apr aug sept oct nov dec sat sun b c d e f g h j k l m n p q r s t u v w x y z"
    )
)
"""Those, and words that may need another reading before a full stop."""
BEFORE_ONE = frozenset(map(str.lower, [*_RULERS, *_KEYWORDS.split("|")]))
"""Words in small letters after which "I" may be a numeral."""

_NAME_AHEAD = r"(?=\s+[\"']?[^\W\d_])"
_ALWAYS_TITLE = re.compile(rf"(?<![\w.])({'|'.join(_ALWAYS_TITLES)})(\.)?(?![\w'-])", re.IGNORECASE)
_TITLE = re.compile(rf"(?<![\w.])({'|'.join(_TITLES)})\.{_NAME_AHEAD}", re.IGNORECASE)
_TITLE_BARE = re.compile(r"(?<![\w.])(St|Lt|Sgt|Capt|Mt)(?=\s[A-Z][a-z])")
_SUFFIX = re.compile(rf"(?<![\w.])({'|'.join(_SUFFIXES)})\.", re.IGNORECASE)
_SUFFIX_BARE = re.compile(r"(?<=[\w.,] )(Jr|Sr|Inc|Ltd|Corp|Ave|Blvd|Rd|Hwy|Pkwy|St)(?![\w.'-])")
_ANY = re.compile(
    rf"(?<![\w.])({'|'.join(sorted(map(re.escape, _ANYWHERE), key=len, reverse=True))})\.",
    re.IGNORECASE,
)
_BARE_WORD = re.compile(rf"(?<![\w.'/-])({'|'.join(_BARE)})(?![\w.'/-])", re.IGNORECASE)
_NUMBERED_WORD = re.compile(
    rf"(?<![\w./])({'|'.join(sorted(_NUMBERED, key=len, reverse=True))})\.\s?(?=\d|[IVXL]+\b)"
    r"|(?<![\w.])([Ff]igs?|[Vv]ols?|pp|[Nn]os?|[Vv]er|[Cc]h)\s(?=\d+(?!\s[a-z]))",
    re.IGNORECASE,
)
_COMPASS = re.compile(
    r"(?<=\d )([NSEW])\.?(?= [A-Z][a-z])"
    r"|\b([NSEW])\.(?= (?:Korea|Africa|America|Asia|Carolina|Dakota|Ireland|Virginia)\b)"
)
_INITIALS = re.compile(r"(?<![\w.])((?:[A-Z]\.){1,6})(?=\s+[\"']?[A-Z])")
_ROMAN = re.compile(
    rf"\b({_KEYWORDS})\s([IVXL]+)(?![\w'.-]*\w)|\b([A-Z][a-z]+)\s([IVXL]+)(?![\w-])"
)
_COMPASS_NAMES = {"N": "North", "S": "South", "E": "East", "W": "West"}
_PLACES_BEFORE_SAINT = word_set(
    "Mount Port Lake Fort Bay Cape Old New Sault Mt Ft The In At To From Of By And For Near With "
    "Visit On"
)
_INITIAL_AHEAD = re.compile(r"\s+[A-Z]\.")
_VERSUS = re.compile(r"(?<=[a-z] )v\.(?= [A-Z])")
_WORD_BEFORE = re.compile(r"([\w'-]+)(,?)\s+\Z")


def say_abbreviations(text: str) -> str:
    """``text`` with abbreviations in full; a full stop stays only where it ends the sentence."""
    text = _NUMBERED_WORD.sub(_numbered, text)
    text = _ROMAN.sub(_roman, text)
    text = _COMPASS.sub(lambda m: _COMPASS_NAMES[m[1] or m[2]], text)
    text = _ALWAYS_TITLE.sub(_title_or_drive, text)
    if "." in text:
        text = _TITLE.sub(_title, text)
        text = _SUFFIX.sub(_suffix, text)
        text = _ANY.sub(_anywhere, text)
        text = _VERSUS.sub("versus", _INITIALS.sub(_initials, text))
    text = _TITLE_BARE.sub(_title_bare, text)
    text = _SUFFIX_BARE.sub(lambda m: _like(m[1], _SUFFIXES[m[1].lower()]), text)
    return _BARE_WORD.sub(_bare, text)


def _bare(match: re.Match[str]) -> str:
    word = match[1]
    return word if word.isupper() else _like(word, _BARE[word.lower()])


def _like(word: str, words: str) -> str:
    return words[:1].upper() + words[1:] if word[:1].isupper() else words


def _before(match: re.Match[str]) -> str:
    """The word before, "" at the beginning of a sentence or after a comma."""
    text, start = match.string, match.start()
    found = _WORD_BEFORE.search(text, max(0, start - 30), start)
    return found[1] if found and not found[2] else ""


def _begins_sentence(match: re.Match[str], word: str) -> bool:
    text = match.string[max(0, match.start() - 40) : match.start()].rstrip()
    ahead = text[: -len(word)].rstrip() if word else text
    return not ahead or ahead[-1] in ".!?\"'(:"


def _stop(match: re.Match[str], *, before_capital: bool) -> str:
    return "." if ends_sentence(match.string, match.end(), before_capital=before_capital) else ""


def _is_road(match: re.Match[str]) -> bool:
    """Whether "St." or "Dr." is part of a street's name: "on Main St.", not "in St. Paul"."""
    text, end = match.string, match.end()
    before = _before(match)
    named = before[:1].isupper() or (
        before[-2:] in ("st", "nd", "rd", "th") and before[:1].isdigit()
    )
    if not named or before in _PLACES_BEFORE_SAINT:
        return False
    following = text[end : end + 4].lstrip()[:1]
    if not following.isupper():
        return True
    return not _begins_sentence(match, before) and (
        ends_sentence(text, end, before_capital=False) or _numbered_address(match, before)
    )


def _numbered_address(match: re.Match[str], before: str) -> bool:
    ahead = match.string[max(0, match.start() - 60) : match.start()].rstrip()[: -len(before)]
    return ahead.rstrip()[-1:].isdigit()


def _title_or_drive(match: re.Match[str]) -> str:
    word, dot = match[1].lower(), match[2]
    if word == "ms" and not (dot or match[1] == "Ms"):
        return match.group()
    if word == "dr" and _is_road(match):
        return _like(match[1], "drive") + (_stop(match, before_capital=True) if dot else "")
    words = _like(match[1], _ALWAYS_TITLES[word])
    if not dot:
        return words
    name_follows = word != "dr" or _before(match) not in ("the", "a", "my", "your", "his", "her")
    ahead = match.string[match.end() : match.end() + 3]
    if name_follows and ahead[:1].isspace() and ahead.strip()[:1].isalpha():
        return words
    return words + _stop(match, before_capital=False)


def _title(match: re.Match[str]) -> str:
    word = match[1].lower()
    following = match.string[match.end() : match.end() + 5].lstrip(" \n\"'")[:1]
    if not following.isupper() or (word in _SUFFIXES and (word == "sr" or _is_road(match))):
        return match.group()
    if match[1].islower() and word not in ("st", "lt", "gen", "rev", "prof", "mt"):
        return match.group()
    if (
        word in ("st", "ft", "rep", "sec", "hon", "sr", "det", "pres", "fr")
        and _before(match)[:1].islower()
        and (ends_sentence(match.string, match.end(), before_capital=False))
    ):
        return match.group()
    return _like(match[1], _TITLES[word])


def _title_bare(match: re.Match[str]) -> str:
    if match[1] == "St" and _is_road(match):
        return match.group()
    return _like(match[1], _TITLES[match[1].lower()])


def _suffix(match: re.Match[str]) -> str:
    word = match[1].lower()
    before = _before(match)
    if word in ("co", "st", "dr", "ed", "ct", "pl", "sq", "sr", "rd", "ln", "ave") and not (
        before[:1].isupper() or before[:1].isdigit() or word in ("sr", "co")
    ):
        return match.group()
    return _like(match[1], _SUFFIXES[word]) + _stop(match, before_capital=False)


def _anywhere(match: re.Match[str]) -> str:
    word = match[1].lower()
    text, end = match.string, match.end()
    before = _before(match)
    if word == "al" and before != "et":
        return match.group()
    if word in ("est", "ca") or (
        word in ("max", "min", "temp", "apt", "ext")
        and (before[-1:].isdigit() or not _lower_ahead(text, end))
    ):
        return match.group()
    words = _ANYWHERE[word]
    return _like(match[1], words) + ("" if word in _INSIDE else _stop(match, before_capital=True))


def _lower_ahead(text: str, at: int) -> bool:
    return text[at : at + 1] in (" ", ",", ":") and not text[at + 1 : at + 2].isupper()


def _numbered(match: re.Match[str]) -> str:
    word = match[1] or match[2]
    return f"{_like(word, _NUMBERED[word.lower()])} "


def _initials(match: re.Match[str]) -> str:
    initials = match[1]
    before = _before(match)
    single = len(initials) == 2
    if single and _INITIAL_AHEAD.match(match.string, match.end()):
        return initials[:-1]
    if single and ends_sentence(match.string, match.end(), before_capital=False):
        return initials
    if single and not (before[:1].isupper() or _begins_sentence(match, "")):
        return initials
    if not single and ends_sentence(match.string, match.end(), before_capital=False):
        return initials
    if single and initials[0] == "I" and not before[:1].isupper():
        return initials
    return initials[:-1]


def _roman(match: re.Match[str]) -> str:
    word, numeral = match[1] or match[3], match[2] or match[4]
    value = roman(numeral)
    if value is None:
        return match.group()
    if match[1]:
        return spoken(match, f"{word} {cardinal(value)}")
    after = match.string[match.end() : match.end() + 3]
    if len(numeral) == 1 and after[:1] == "." and after[2:].isupper():
        return match.group()
    if word in _RULERS:
        ahead = match.string[match.end() : match.end() + 4]
        if numeral == "I" and ahead[:1].isspace() and ahead != " of ":
            return match.group()
        return spoken(match, f"{word} the {ordinal(value)}")
    if numeral == "III" and _before(match)[:1].isupper():
        return spoken(match, f"{word} the third")
    if len(numeral) < 2 or numeral in ("XL", "XX", "LI"):
        return match.group()
    return spoken(match, f"{word} {cardinal(value)}")


ABBREVIATIONS = Pass(say_abbreviations, needs("", [*TRAPS, STOP_BEFORE_LETTER, "i"]), digits=False)
