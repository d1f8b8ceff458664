"""Build what the English front end ships: ``python tools/lexicon/build.py``.

Writes ``english.lex``: every word in all its contexts, as the oracle speaks it, and the words of
a larger vocabulary that ``letters.bin`` beside it would misread. A quarter of an hour on one core,
most of it the oracle's, unless ``--cache`` holds its answers. Needs the extra ``tools`` and what
``vocabulary.py`` names. After a change of the words ``letter_to_sound.py`` may learn them, and
this be run again.
"""

import argparse
import pickle
import re
import sys
import time
from multiprocessing import Pool
from pathlib import Path

from exceptions import exceptions
from oracle import phonemize
from pack import pack
from probe import probe
from vocabulary import vocabulary
from words import listed, words

from twinvox.text.g2p.letters import LetterToSound
from twinvox.text.g2p.lexicon import Context, Entry, Flag
from twinvox.text.g2p.unknown import MC_BEFORE_K

TARGET = Path(__file__).parents[2] / "src/twinvox/text/g2p/data"
OTHER_LISTS = ("wordnet", "words", "numerals", "accented", "chains", "symbols")
SCOTTISH = re.compile(r"Mc[A-Z]\w+")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=TARGET, help="folder of the file")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="keep the oracle's answers in this file")
    args = parser.parse_args()
    entries = lexicon(args.jobs, args.cache)
    letters = args.out / "letters.bin"
    if letters.exists():
        entries |= exceptions(entries, LetterToSound(letters), vocabulary())
    else:
        print(f"no {letters}: words that it would misread are left out", file=sys.stderr)
    _write(args.out / "english.lex", pack(entries))
    print(f"{len(entries)} entries")


def lexicon(jobs: int, cache: Path | None) -> dict[str, Entry]:
    """Every entry of the lexicon, as the oracle speaks its word."""
    phrases = listed("phrases")
    others = [word for name in OTHER_LISTS for word in listed(name)]
    entries = _probed(words() + others + phrases, jobs, cache)
    openers = {phrase.split(" ")[0].lower(): phrase for phrase in phrases}
    for key, entry in entries.items():
        if len(key) > 1 and key.isupper() and key.lower() in entries:
            entry = _capitals(entry, entries[key.lower()])
        if _only_at_end(key, entry):
            entry = entry._replace(flags=entry.flags | Flag.AT_END)
        if " " not in key and _opens(key, openers.get(key.lower(), "")):
            entry = entry._replace(flags=entry.flags | Flag.OPENS_PHRASE)
        entries[key] = entry
    return _scottish(entries)


def _scottish(entries: dict[str, Entry]) -> dict[str, Entry]:
    """McDonald is looked up as two words: kept as a phrase where it is not the sum of the two."""
    first = {"mc": entries["mc"], MC_BEFORE_K.lower(): Entry("mə")}
    names = {key: entries.pop(key) for key in list(entries) if SCOTTISH.fullmatch(key)}
    for key, entry in names.items():
        mc, rest = MC_BEFORE_K.lower() if key[2] in "CKG" else "mc", key[2:].lower()
        if rest not in entries or entry.base != f"{first[mc].base} {entries[rest].base}":
            entries[f"{mc} {rest}"] = entry
    for key, entry in first.items():
        key = MC_BEFORE_K if key != "mc" else key
        entries[key] = entry._replace(flags=entry.flags | Flag.OPENS_PHRASE)
    return entries


def _write(path: Path, content: bytes) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_bytes(content)
    fresh.replace(path)
    print(f"{path}: {len(content)} bytes")


def _capitals(entry: Entry, lower: Entry) -> Entry:
    """CAPITALS that are spelt among other words but read where the whole clause shouts.

    The frames for the end of a clause are so short that the oracle takes them for shouting; the
    reading is kept as the form of a word alone.
    """
    forms = dict(entry.forms or {})
    if forms.get(Context.END) == lower.base or forms.get(Context.ALONE) == lower.base:
        forms.pop(Context.END, None)
        forms[Context.ALONE] = lower.base
    return entry._replace(forms=forms or None)


def _opens(key: str, phrase: str) -> bool:
    """Whether ``phrase`` is still one when its first word is spelt as ``key``."""
    first, _, rest = phrase.partition(" ")
    if not rest or key in (first, key.lower()):
        return rest != ""
    return phonemize(f"Dogs found {key} {rest}.") == phonemize(f"Dogs found {phrase}.")


def _only_at_end(key: str, entry: Entry) -> bool:
    """A phrase that is spoken word by word but at the end of a clause."""
    spaced = key.count(" ") > 0 and entry.base.count(" ") == key.count(" ")
    return spaced and Context.END in (entry.forms or {})


def _probed(wanted: list[str], jobs: int, cache: Path | None) -> dict[str, Entry]:
    known: dict[str, dict[str, Entry]] = {}
    if cache and cache.exists():
        known = pickle.loads(cache.read_bytes())
    missing = [word for word in dict.fromkeys(wanted) if word not in known]
    start = time.monotonic()
    with Pool(jobs) as pool:
        answers = pool.imap(probe, missing, chunksize=500)
        for count, (word, found) in enumerate(zip(missing, answers, strict=True), 1):
            known[word] = found
            if count % 10_000 == 0:
                spent = time.monotonic() - start
                print(f"{count}/{len(missing)} words, {spent:.0f} s", file=sys.stderr)
    if cache:
        cache.write_bytes(pickle.dumps(known))
    return {key: entry for word in wanted for key, entry in known[word].items()}


if __name__ == "__main__":
    main()
