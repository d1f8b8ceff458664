"""Ask the oracle how one word sounds in every context that can change it."""

from oracle import phonemize, phonemize_many

from twinvox.text.g2p.joins import link_r, rhotic
from twinvox.text.g2p.letters import VOWELS
from twinvox.text.g2p.lexicon import Context, Entry, Flag

# What stands around the word, and the phonemes that the surroundings leave in the answer.
FRAMES = {
    Context.MID: ("Dogs {} dogs.", "dˈɑːɡz ", " dˈɑːɡz."),
    Context.END: ("Dogs {}.", "dˈɑːɡz ", "."),
    Context.TAIL: ("Dogs {} her.", "dˈɑːɡz ", " hɜː."),
    Context.FIRST: ("Dogs, {} dogs.", "dˈɑːɡz, ", " dˈɑːɡz."),
    Context.ALONE: ("Dogs, {}.", "dˈɑːɡz, ", "."),
    Context.VERB: ("Dogs to {} dogs.", "dˈɑːɡz t", " dˈɑːɡz."),
    Context.VERB_S: ("Dogs he {} dogs.", "dˈɑːɡz hiː ", " dˈɑːɡz."),
    Context.NOUN: ("Dogs my {} dogs.", "dˈɑːɡz maɪ ", " dˈɑːɡz."),
    Context.PAST: ("Dogs were {} dogs.", "dˈɑːɡz wɜː", " dˈɑːɡz."),
    Context.BEFORE_VOWEL: ("Dogs {} apples.", "dˈɑːɡz ", " ˈæpəlz."),
    Context.BEFORE_R: ("Dogs {} runs.", "dˈɑːɡz ", " ɹˈʌnz."),
    Context.BEFORE_HYPHEN: ("Dogs {}-dogs.", "dˈɑːɡz ", "dˈɑːɡz."),
}
READINGS = (Context.VERB, Context.VERB_S, Context.NOUN, Context.PAST)
CAPITAL = "Dogs {} dogs."
# A flag holds when the frame's answer ends so.
FLAG_FRAMES = {
    Flag.EXPECTS_VERB: ("Dogs {} record dogs.", "ɹᵻkˈoːɹd dˈɑːɡz."),
    Flag.EXPECTS_VERB_S: ("Dogs {} records dogs.", "ɹᵻkˈoːɹdz dˈɑːɡz."),
    Flag.EXPECTS_NOUN: ("Dogs {} produce dogs.", "pɹˈɑːduːs dˈɑːɡz."),
    Flag.EXPECTS_PAST: ("Dogs {} read dogs.", "ɹˈɛd dˈɑːɡz."),
    Flag.EXTENDS_VERB: ("Dogs to {} record dogs.", "ɹᵻkˈoːɹd dˈɑːɡz."),
}
STRESS_FRAMES = ("Dogs over {} her.",)
UNHEARD_FRAME = ("Dogs the {} dogs.", "dˈɑːɡz ðə ")
SPOKEN_MARKS = {
    "!": ("Dogs!dogs.", "dˈɑːɡz ", " dˈɑːɡz."),
    "'s": ("Dogs U.S.'s dogs.", "dˈɑːɡz jˌuːˈɛs ", " dˈɑːɡz."),
}
PAUSE_FRAMES = ("Dogs to {} dogs.", "Dogs her {} dogs.")


def probe(word: str) -> dict[str, Entry]:
    """The entry of ``word``, and those of its Capitalised and CAPITAL spellings that differ."""
    if word in SPOKEN_MARKS:
        frame, before, after = SPOKEN_MARKS[word]
        return {word: Entry(_between(phonemize(frame), before, after) or "", Flag.UNHEARD)}
    entry, others = _probe(word)
    found = {word: entry}
    for spelling in others:
        other, _ = _probe(spelling)
        if other != entry:
            found[spelling] = other
    return found


def _probe(word: str) -> tuple[Entry, list[str]]:
    spellings = []
    if word.islower() and " " not in word:
        spellings = [s for s in dict.fromkeys((word.capitalize(), word.upper())) if s != word]
        if word.startswith("mc") and len(word) > 3:
            spellings.append("Mc" + word[2:].capitalize())
    frames = [frame for frame, _, _ in FRAMES.values()]
    flags = [frame for frame, _ in FLAG_FRAMES.values()]
    items = [frame.format(word) for frame in (*frames, *flags, *STRESS_FRAMES, *PAUSE_FRAMES)]
    items += [CAPITAL.format(spelling) for spelling in spellings]
    answers = phonemize_many(items)
    forms: dict[Context, str | None] = {}
    for (context, (frame, before, after)), answer in zip(FRAMES.items(), answers, strict=False):
        found = _between(answer, before, after)
        if found is None:
            found = _between(phonemize(frame.format(word)), before, after)
        if found is not None and context in (Context.VERB, Context.PAST):
            found = found.partition(" ")[2] or None
        forms[context] = None if " " in word and context in READINGS else found
    base = forms.pop(Context.MID) or forms[Context.END] or phonemize(word).strip()
    rest = answers[len(frames) : len(items) - len(spellings)]
    flags = _flags(base, forms, rest)
    if not word[0].isalpha() and base.lstrip("ˈˌ")[:1] in VOWELS:
        frame, sign = UNHEARD_FRAME
        flags |= Flag.UNHEARD * phonemize(frame.format(word)).startswith(sign)
    entry = Entry(base, int(flags), _differing(base, forms) or None)
    heard = (_between(a, "dˈɑːɡz ", " dˈɑːɡz.") for a in answers[len(items) - len(spellings) :])
    return entry, [s for s, h in zip(spellings, heard, strict=True) if h and h != base]


def _between(answer: str, before: str, after: str) -> str | None:
    if answer.startswith(before) and answer.endswith(after):
        return answer[len(before) : len(answer) - len(after)]
    return None


def _differing(base: str, forms: dict[Context, str | None]) -> dict[int, str]:
    different = {int(c): form for c, form in forms.items() if form is not None and form != base}
    for context, rule in ((Context.BEFORE_VOWEL, link_r), (Context.BEFORE_R, rhotic)):
        if forms[context] == rule(base):
            different.pop(context, None)
        elif forms[context] is not None:
            different[context] = forms[context]
    weak = {different.get(context) for context in READINGS}
    if len(weak) == 1 and None not in weak:
        different[Context.AFTER_WEAK] = different[Context.VERB]
        for context in READINGS:
            del different[context]
    if different.get(Context.ALONE) == forms[Context.END]:
        different.pop(Context.ALONE, None)
    return different


def _flags(base: str, forms: dict[Context, str | None], answers: list[str]) -> Flag:
    flags = Flag(0)
    for (flag, (_, sign)), answer in zip(FLAG_FRAMES.items(), answers, strict=False):
        if answer.endswith(sign):
            flags |= flag
    tail = answers[len(FLAG_FRAMES)]
    if "oʊvɚ" in tail:
        stressed = "ˌoʊvɚ" in tail
        if stressed != ("ˈ" in (forms[Context.TAIL] or base)):
            flags |= Flag.STRESSED_TAIL if stressed else Flag.UNSTRESSED_TAIL
    return flags | Flag.PAUSES if pauses(base, answers[-2], answers[-1]) else flags


def pauses(base: str, after_to: str, after_her: str) -> bool:
    """Whether a breath before the word keeps "to" and "her" from leaning on it."""
    if base.lstrip("ˈˌ")[:1] in VOWELS:
        return after_her.startswith("dˈɑːɡz hɜː ")
    return after_to.startswith("dˈɑːɡz tʊ ")
