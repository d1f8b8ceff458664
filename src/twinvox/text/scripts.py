"""Letters that English speech has no sound for."""

import unicodedata


def unspoken_letters(text: str) -> tuple[str, ...]:
    """The distinct letters of ``text`` that English G2P leaves out, in order: 你, ж.

    Latin letters and those that stand for them (ﬁ, 𝐛) are spoken. Give normalised text, in which
    symbols such as µ are words.
    """
    if text.isascii():
        return ()
    letters = {char for char in text if char.isalpha() and not char.isascii()}
    foreign = {char for char in letters if "LATIN" not in unicodedata.name(char, "")}
    foreign = {char for char in foreign if not unicodedata.normalize("NFKD", char).isascii()}
    return tuple(dict.fromkeys(char for char in text if char in foreign))
