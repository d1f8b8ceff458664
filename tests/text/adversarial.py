"""Texts on which tokenizers differ: built of what is rare, not of what is said."""

import unicodedata

SPACES = " \t\n\v\f\r\x1c\x1f\x85\xa0\u1680\u2003\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
MARKS = "\u0300\u0301\u0308\u0323\u0327\u0338\u05b0\u064b\u093c\u094d\u3099\u309a\u20dd\ufe0f"
SNIPPETS = (
    "'s",
    "'S",
    "'\u017f",  # the long s, which folds to s
    "'LL",
    "'re",
    "'vE",
    "'d",
    "\u2019s",
    "\uff07s",
    "\r\n",
    "\n\n",
    "\r\r\n\n",
    " \r\n \t",
    "    ",
    "\u212a",  # KELVIN SIGN, which NFC makes a K
    "\u212b",
    "\u1112\u1161\u11ab",  # a Hangul syllable in parts
    "\ud55c\u11ab",
    "e\u0301",
    "\u0344",
    "q\u0307\u0323",
    "\uf900",
    "\U0002f800",
    "\U0001d15e",
    "\u0958",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1e8\U0001f1f3",
    "\U0001f44d\U0001f3fd",
    "\U0001f3f4\U000e0067\U000e007f",
    "\u2764\ufe0f",
    "\uff11\uff12",
    "\u00b2\u00bd\u2163\u3007\u0661",
    "\u4f60\u597d",
    "\u7684",
    "\uff0c\u3002\uff01",
    "\u2014\u2014\u2026\u2026",
    "\u3042\u30ab\uff76\uff9e",
    "\u0627\u0644\u0633",
    "\u0928\u092e\u0938\u094d\u0924\u0947",
    "\u0e2a\u0e27\u0e31\u0e2a",
    "\x00",
    "\x7f",
    "\u00ad",
    "\ufffd",
    "\ufffe",
    "\U0010ffff",
)
LOOKALIKES = (
    "<\uff5cendofprompt\uff5c>",
    "\uff1c|endofprompt|\uff1e",
    "<|endofprompt |>",
    "<|endofprompt|",
    "<|EndOfPrompt|>",
    "<|endofprompt|>".translate({ord("o"): "\u043e"}),
    "[ia\u0300]",
    "\uff3bbreath\uff3d",
)


def make(random, specials=(), unassigned=False):
    """One text of up to 60 parts; specials are strings to embed, whole and cut.

    With unassigned, scalars that this Python's Unicode does not know are among them.
    """
    parts = []
    for _ in range(random.randrange(1, random.choice([3, 12, 60]))):
        kind = random.randrange(12)
        if kind < 2:
            parts.append(chr(random.randrange(0x20, 0x7F)))
        elif kind == 2:
            parts.append(random.choice(SPACES) * random.choice([1, 1, 2, 3, 17]))
        elif kind == 3:
            parts.append(random.choice(MARKS) * random.choice([1, 1, 2, 3]))
        elif kind < 6:
            parts.append(random.choice(SNIPPETS))
        elif kind == 6:
            parts.append(_scalar(random, unassigned))
        elif kind == 7:
            parts.append(chr(random.randrange(0x4E00, 0xA000)))
        elif kind == 8:
            parts.append(chr(random.randrange(0xA1, 0x3000)))
        elif kind == 9 and specials:
            special = random.choice(specials)
            parts.append(special[: random.randrange(1, len(special) + 1)])
            parts.append(random.choice(["", special]))
        elif kind == 10:
            parts.append(random.choice(LOOKALIKES))
        else:
            parts.append(random.choice("aA1!' \n\u4e2d\u3002") * random.randrange(1, 200))
    return "".join(parts)


def _scalar(random, unassigned):
    """Any scalar, of any plane."""
    excluded = ("Cs",) if unassigned else ("Cs", "Cn")
    while True:
        point = random.randrange(0x110000) if random.random() < 0.5 else random.randrange(0x20000)
        if unicodedata.category(chr(point)) not in excluded:
            return chr(point)
