"""Comparison with a recorded run: tokenizer, frontend, then language model, flow and vocoder.

A fixture is a .safetensors file of what the recorded run read and made; the texts are in the .json
of the same name beside it. The tokenizer's is a JSON file of texts and ids.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Unpack

import numpy as np

from twinvox.audio import Samples
from twinvox.backends.base import Ids, OpenModel, open_checked, stage_opener
from twinvox.backends.cosyvoice3 import contract
from twinvox.backends.cosyvoice3.contract import CONTRACT
from twinvox.backends.cosyvoice3.flow import decode_flow, open_flow
from twinvox.backends.cosyvoice3.folder import ModelFolder
from twinvox.backends.cosyvoice3.frontend import Frontend
from twinvox.backends.cosyvoice3.hift import vocode
from twinvox.backends.cosyvoice3.lm import Embeddings
from twinvox.backends.cosyvoice3.parity_fixture import (
    Fixture,
    read_cases,
    read_fixture,
    read_reference,
    read_texts,
)
from twinvox.backends.cosyvoice3.parity_lm import replay
from twinvox.backends.cosyvoice3.prompt import Float32, Prompt
from twinvox.errors import ModelFormatError
from twinvox.runtime import RuntimeOptions
from twinvox.text.qwen2_tokenizer import Qwen2Tokenizer

EMBEDS_LIMIT = 1e-4  # max|d| of the rows that the language model reads
AUDIO_LIMIT = 1e-3  # max|d| of samples, full scale 1.0
N_SHOWN = 5  # differences, the first or the worst
TEXT_SHOWN = 40  # characters of a text that differs

Status = Literal["passed", "failed", "not run"]
_Figures = Mapping[str, int | float | None]


@dataclass(frozen=True, slots=True)
class Gate:
    """One comparison; ``detail`` says what was found."""

    name: str
    status: Status
    detail: str


@dataclass(frozen=True, slots=True)
class Difference:
    where: str
    detail: str


@dataclass(frozen=True, slots=True)
class Report:
    """The gates of one harness, its figures, and the first or worst differences."""

    harness: str
    gates: Sequence[Gate]
    figures: _Figures = field(default_factory=dict)
    differences: Sequence[Difference] = ()

    @property
    def status(self) -> Literal["passed", "failed", "incomplete"]:
        """Incomplete where no gate failed but one was not run."""
        found = {gate.status for gate in self.gates}
        if "failed" in found:
            return "failed"
        return "incomplete" if "not run" in found else "passed"


def check_tokenizer(tokenizer: Qwen2Tokenizer, cases_file: Path) -> Report:
    """Special tokens and ids equal those of ``cases_file``."""
    specials, cases = read_cases(cases_file)
    gates, differences = [], []
    if specials:
        wrong = [
            Difference(f"special token {name!r}", f"{tokenizer.special_tokens.get(name)} for {id_}")
            for name, id_ in specials.items()
            if tokenizer.special_tokens.get(name) != id_
        ]
        gates.append(_equal_gate("special tokens", len(specials), wrong))
        differences += wrong[:N_SHOWN]
    wrong = []
    for text, expected in cases:
        got = tokenizer.encode(text).tolist()
        if got != expected:
            wrong.append(Difference(f"text {_cut(text)!r}", _first_difference(got, expected)))
    gates.append(_equal_gate("ids", len(cases), wrong))
    differences += wrong[:N_SHOWN]
    return Report("tokenizer", gates, {"cases": len(cases)}, differences)


def check_frontend(
    tokenizer: Qwen2Tokenizer,
    embeddings_file: Path,
    fixture_file: Path,
    cases_file: Path | None = None,
) -> Report:
    """The language model's input, made from the fixture's texts and prompt, equals the recorded.

    With ``cases_file`` the tokenizer is checked first. The texts are taken as they are, without
    normalisation, in one segment.
    """
    first = check_tokenizer(tokenizer, cases_file) if cases_file else Report("tokenizer", ())
    fixture = read_fixture(fixture_file, ("lm_input_embeds", "t_pre"))
    prompt_text, tts_text = read_texts(fixture_file)
    prompt = fixture.prompt(prompt_text)
    recorded, t_pre = fixture.embeds(), len(fixture.lm_input())
    (utterance,) = Frontend(tokenizer).utterances(
        tts_text, prompt, normalization="none", prenormalized=True, chunking=False
    )
    rows: Float32 = np.empty((CONTRACT.prefill_tokens, CONTRACT.embed_dim), np.float32)
    embeddings = Embeddings.open(embeddings_file, embeddings_file)
    length = embeddings.assemble(utterance.ids, prompt.speech_ids, rows)
    slots = list(_slots(tokenizer, utterance.ids, prompt.speech_ids))
    gate, compared, worst = _compare_rows(rows[: len(recorded)], recorded, slots)
    figures = {
        **first.figures,
        "t_pre": length,
        "text_ids": len(utterance.ids),
        "prompt_speech_ids": len(prompt.speech_ids),
        **compared,
    }
    gates = [*first.gates, _number_gate("t_pre", length, t_pre), gate]
    return Report("frontend", gates, figures, [*first.differences, *worst])


def _compare_rows(
    rows: Float32, recorded: Float32, slots: Sequence[str]
) -> tuple[Gate, _Figures, list[Difference]]:
    """The gate, its figures and the worst rows; those after the ``slots`` are padding."""
    delta = np.abs(rows - recorded)
    by_row = delta.max(axis=1)
    largest = float(by_row.max())
    n_wrong = int(np.count_nonzero(by_row > EMBEDS_LIMIT))
    gate = Gate(
        "lm_input_embeds",
        _status(largest <= EMBEDS_LIMIT),
        f"max|d| {largest:.3g}, limit {EMBEDS_LIMIT:g}; {n_wrong} of {len(recorded)} rows "
        "beyond it",
    )
    differences = [
        Difference(
            slots[row] if row < len(slots) else "padding",
            f"row {row}, max|d| {by_row[row]:.3g} in channel {int(delta[row].argmax())}",
        )
        for row in map(int, np.argsort(-by_row, kind="stable")[:N_SHOWN])
        if by_row[row] > 0
    ]
    return gate, {"max_abs_difference": largest, "rows_beyond_limit": n_wrong}, differences


def check_synthesizer(
    folder: ModelFolder,
    fixture_file: Path,
    reference_file: Path | None = None,
    **options: Unpack[RuntimeOptions],
) -> Report:
    """The recorded tokens are ones that the language model would draw, and flow and HiFT make of
    them what the recorded run made of them.

    Nothing is sampled. Without ``reference_file``, a WAV file of that run, only the lengths of the
    audio are compared.
    """
    names = ("decoded_tokens", "num_prompt_mel", "audio_length_samples", "lm_input_embeds", "t_pre")
    fixture = read_fixture(fixture_file, names)
    prompt, tokens = fixture.prompt(""), fixture.ids("decoded_tokens")
    _check_tokens(fixture_file, tokens, prompt)
    reference = None if reference_file is None else read_reference(reference_file)
    open_model = stage_opener(folder.stages, contract.COMPUTE_UNITS, **options)
    lm_gate, lm_figures = _replay(folder, open_model, fixture, tokens)
    hift = open_checked(open_model, folder.hift, contract.hift())
    mel, n_prompt_mel = decode_flow(open_flow(folder.flow, open_model), prompt, tokens)
    samples = vocode(hift, mel)
    gates = [
        lm_gate,
        _number_gate("num_prompt_mel", n_prompt_mel, fixture.number("num_prompt_mel")),
        _number_gate("audio_length_samples", len(samples), fixture.number("audio_length_samples")),
    ]
    figures: dict[str, int | float | None] = {
        "tokens": len(tokens),
        **lm_figures,
        "num_prompt_mel": n_prompt_mel,
        "audio_length_samples": len(samples),
    }
    if reference is None:
        gates.append(Gate("audio", "not run", "no reference WAV was given"))
    else:
        gate, compared = _compare_audio(samples, reference)
        gates.append(gate)
        figures |= compared
    return Report("synthesizer", gates, figures)


def _replay(
    folder: ModelFolder, open_model: OpenModel, fixture: Fixture, tokens: Ids
) -> tuple[Gate, _Figures]:
    """The gate on the ranks that the language model gives to the tokens, and their figures."""
    ranks, drawable = replay(folder, open_model, fixture.lm_input(), tokens)
    likely = sum(rank < CONTRACT.top_k for rank in ranks)
    detail = (
        f"{likely} of {len(ranks)} tokens among the {CONTRACT.top_k} likeliest, median rank "
        f"{int(np.median(ranks))}"
    )
    first = drawable.index(False) if False in drawable else None
    if first is not None:
        detail += f"; token {first} ({tokens[first]}) of rank {ranks[first]} cannot be drawn"
    figures = {"likely_tokens": likely, "worst_rank": max(ranks), "first_not_drawable": first}
    return Gate("decoded_tokens", _status(first is None), detail), figures


def _compare_audio(samples: Samples, reference: Samples) -> tuple[Gate, _Figures]:
    """The gate and its figures, over the samples that both have."""
    shared = min(len(samples), len(reference))
    expected = reference[:shared].astype(np.float64)
    delta = np.abs(samples[:shared] - expected)
    at = int(delta.argmax())
    error = float(delta @ delta)
    power = float(expected @ expected)
    # Neither an exact copy nor a silent reference has a ratio that JSON can hold.
    snr = 10 * float(np.log10(power / error)) if error and power else None
    mean, largest = float(delta.mean()), float(delta[at])
    detail = (
        f"MAE {mean:.3g}, max|d| {largest:.3g} at sample {at} ({at / CONTRACT.sample_rate:.3f} s), "
        f"SNR {'-' if snr is None else f'{snr:.1f} dB'}; limit {AUDIO_LIMIT:g}"
    )
    if len(samples) != len(reference):
        detail += f"; {len(samples)} samples, the reference has {len(reference)}"
    passed = largest <= AUDIO_LIMIT and len(samples) == len(reference)
    figures = {
        "reference_samples": len(reference),
        "mean_abs_difference": mean,
        "max_abs_difference": largest,
        "max_at_sample": at,
        "snr_db": snr,
    }
    return Gate("audio", _status(passed), detail), figures


def _check_tokens(path: Path, tokens: Ids, prompt: Prompt) -> None:
    if not 1 <= len(tokens) <= prompt.room:
        raise ModelFormatError(
            f"{path}: decoded_tokens holds {len(tokens)} tokens; expected 1 to {prompt.room}, for "
            f"which the flow has room beside the {len(prompt.speech_ids)} of the prompt"
        )
    if tokens.min() < 0 or tokens.max() >= CONTRACT.first_stop_id:
        raise ModelFormatError(
            f"{path}: decoded_tokens run from {tokens.min()} to {tokens.max()}; expected 0 to "
            f"{CONTRACT.first_stop_id - 1}"
        )


def _slots(tokenizer: Qwen2Tokenizer, text_ids: Ids, speech_ids: Ids) -> Iterator[str]:
    """What each row of the language model's input is; numbers count from 0."""
    yield "sos"
    for index, id_ in enumerate(text_ids):
        yield f"text {index} ({id_} {tokenizer.decode([id_])!r})"
    yield "task"
    yield from (f"prompt speech {index} ({id_})" for index, id_ in enumerate(speech_ids))


def _first_difference(got: Sequence[int], expected: Sequence[int]) -> str:
    at = next(
        (i for i, (a, b) in enumerate(zip(got, expected, strict=False)) if a != b),
        min(len(got), len(expected)),
    )
    return (
        f"{len(got)} ids for {len(expected)}; from {at} on {_shown(got[at:])} for "
        f"{_shown(expected[at:])}"
    )


def _shown(ids: Sequence[int]) -> str:
    more = " …" if len(ids) > N_SHOWN else ""
    return f"[{', '.join(map(str, ids[:N_SHOWN]))}{more}]"


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_SHOWN else text[:TEXT_SHOWN] + "…"


def _equal_gate(name: str, total: int, wrong: Sequence[Difference]) -> Gate:
    n_wrong = len(wrong)
    return Gate(name, _status(not n_wrong), f"{total - n_wrong} of {total} equal")


def _number_gate(name: str, got: int, recorded: int) -> Gate:
    return Gate(name, _status(got == recorded), f"{got}, recorded {recorded}")


def _status(passed: bool) -> Status:
    return "passed" if passed else "failed"
