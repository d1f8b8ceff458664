"""Letters that English speech has no sound for."""

from twinvox.text.g2p.letters import folded
from twinvox.text.g2p.rules import SYMBOLS


def unspoken_letters(text: str) -> tuple[str, ...]:
    """The distinct letters of ``text`` that English G2P leaves out, in order: 你, ж, ə.

    Latin letters and those that stand for them (ﬁ, 𝐛, é, ł) are spoken, but for the few that no
    plain letter stands for. Give normalised text, in which symbols such as Ω are words.
    """
    if text.isascii():
        return ()
    letters = {char for char in text if char.isalpha() and not char.isascii()}
    foreign = {char for char in letters if char not in SYMBOLS and not folded(char, "")}
    return tuple(dict.fromkeys(char for char in text if char in foreign))
