"""Mandarin number words for strings of ASCII digits."""

_NUMERALS = "零一二三四五六七八九"
_DIGITS = str.maketrans("0123456789", _NUMERALS)
_SPELLED = str.maketrans("0123456789", _NUMERALS.replace("一", "幺"))
_PLACES = ("", "十", "百", "千")
_MYRIAD, _MYRIAD_MYRIADS = 10**4, 10**8
LONGEST = 16


def digits(text: str) -> str:
    """The digits one by one, as in years: "2024" is 二零二四."""
    return text.translate(_DIGITS)


def spelled(text: str) -> str:
    """The digits one by one with 幺 for one, as in telephone numbers."""
    return text.translate(_SPELLED)


def cardinal(text: str) -> str:
    """The quantity: "2024" is 两千零二十四. Above `LONGEST` digits they are read one by one."""
    if len(text) > LONGEST:
        return digits(text)
    words = _quantity(int(text))
    if words.startswith("一十"):
        return words[1:]
    if words.startswith(("二百", "二千", "二万", "二亿")):
        return "两" + words[1:]
    return words


def number(text: str) -> str:
    """A quantity that may have commas and a decimal point: "1,234.50" is 一千二百三十四点五零."""
    whole, point, decimals = text.replace(",", "").partition(".")
    return cardinal(whole) + ("点" + digits(decimals) if point else "")


def _quantity(value: int) -> str:
    if value < _MYRIAD:
        return _below_myriad(value)
    unit, name = (_MYRIAD_MYRIADS, "亿") if value >= _MYRIAD_MYRIADS else (_MYRIAD, "万")
    high, low = divmod(value, unit)
    gap = "零" if 0 < low < unit // 10 else ""
    return _quantity(high) + name + gap + (_quantity(low) if low else "")


def _below_myriad(value: int) -> str:
    if value == 0:
        return "零"
    words = ""
    for place, digit in enumerate(reversed(str(value))):
        if digit != "0":
            words = _NUMERALS[int(digit)] + _PLACES[place] + words
        elif words and not words.startswith("零"):
            words = "零" + words
    return words
