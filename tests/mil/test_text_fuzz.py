"""Damaged text: whatever is wrong, the error is one of ours, and no blob leaves its file."""

import contextlib
import re

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.mil.builder import Input, Range, build_package, mb
from tests.mil.harness import floats
from tests.mil.text_printer import VERSIONS, write_compiled
from twinvox.errors import ModelFormatError, ModelNotFoundError, UnsupportedOpError
from twinvox.mil.text import read_compiled
from twinvox.mil.translate import to_onnx
from twinvox.mil.weights import Blob

OURS = (ModelFormatError, ModelNotFoundError, UnsupportedOpError)
TOKEN = re.compile(r'"[^"]*"|[\w.@/+-]+|\s+|.', re.DOTALL)
POOL = [
    *"()[]{}<>,;=?\"'\\#-.0",
    "->", "-1", "2", "18446744073709551615", "18446744073709551616", "9" * 5000, "0x1p+99999",
    "1e999", "nan", "inf", "0x", "true", "_", "x", "main", "func", "const", "cond", "concat",
    "name", "val", "tensor", "string", "int8", "uint64", "fp16", "uint4", "bool", "state", "dict",
    "BLOBFILE", "tensor<fp32, [9223372036854775807]>", "tensor<fp16, [2, ?]>", "tensor<int4, [0]>",
    "state<tensor<fp16, [2]>>", '"@model_path/weights/../model.mil"', '"/etc/passwd"', '""', '"',
    "[" * 3000, "(" * 3000, "<" * 3000, "\x00", "\N{SNOWMAN}", "\N{ARABIC-INDIC DIGIT THREE}",
]  # fmt: skip

fuzzed = settings(
    max_examples=200,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
)


def layers(x, tokens, shape):
    rows = mb.gather(x=floats((300, 30), 2).astype(np.float16), indices=tokens, axis=0)
    both = mb.add(x=x, y=mb.cast(x=rows, dtype="fp32"))
    left, right = mb.split(x=both, num_splits=2, axis=1)
    both = mb.concat(values=(right, left), axis=1)
    both = mb.clip(x=both, alpha=-np.inf, beta=2.5)
    table = mb.constexpr_lut_to_dense(
        indices=np.arange(120, dtype=np.uint8), lut=floats((16,), 3), shape=np.uint32([8, 30])
    )
    out = mb.linear(x=both, weight=table)
    out = mb.slice_by_index(x=out, begin=[0, 1], end=[0, 7], end_mask=[True, False])
    return {"y": out, "z": mb.relu(x=shape)}


@pytest.fixture(scope="module", params=VERSIONS)
def compiled(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    inputs = {
        "x": Input((Range(1, 8, 4), 30)),
        "tokens": Input((Range(1, 8, 4),), np.int32),
        "shape": Input(enumerated=((1, 3), (1, 5))),
    }
    package = build_package(folder / "l.mlpackage", layers, inputs, opset="iOS16")
    return write_compiled(package, folder / "l.mlmodelc", version=request.param)


@pytest.fixture(scope="module", autouse=True)
def tokens(compiled):
    """Those of the undamaged text, whichever test comes first."""
    return TOKEN.findall((compiled / "model.mil").read_text(encoding="utf-8"))


def read(compiled, text):
    (compiled / "model.mil").write_text(text, encoding="utf-8")
    end = (compiled / "weights" / "weight.bin").stat().st_size
    with contextlib.suppress(*OURS):
        program = read_compiled(compiled)
        for constant in program.constants.values():
            assert constant.array.shape == constant.shape
            if isinstance(constant.data, Blob):
                assert (
                    0 <= constant.data.offset <= constant.data.offset + constant.data.nbytes <= end
                )
        to_onnx(program)


@st.composite
def damage(draw, tokens):
    """One to three tokens lost, doubled, swapped or replaced, or the text cut short."""
    tokens = list(tokens)
    for _ in range(draw(st.integers(1, 3))):
        here = draw(st.integers(0, len(tokens) - 1))
        there = draw(st.integers(0, len(tokens) - 1))
        match draw(st.sampled_from(["cut", "lose", "double", "swap", "copy", "replace"])):
            case "cut":
                tokens[here] = tokens[here][: there % (len(tokens[here]) + 1)]
                del tokens[here + 1 :]
            case "lose":
                del tokens[here : here + 1 + there % 3]
            case "double":
                tokens.insert(here, tokens[here])
            case "swap":
                tokens[here], tokens[there] = tokens[there], tokens[here]
            case "copy":
                tokens[here] = tokens[there]
            case "replace":
                tokens[here] = draw(st.sampled_from(POOL))
        tokens = tokens or [""]
    return "".join(tokens)


@fuzzed
@given(data=st.data())
def test_a_damaged_program_never_escapes_as_another_error(compiled, tokens, data):
    read(compiled, data.draw(damage(tokens)))


def test_a_program_cut_anywhere_is_a_format_error(compiled, tokens):
    text = "".join(tokens).rstrip()
    for end in range(0, len(text), 37):
        (compiled / "model.mil").write_text(text[:end], encoding="utf-8")
        with pytest.raises(OURS, match=r"model\.mil:\d+:\d+: "):
            read_compiled(compiled)


@fuzzed
@given(text=st.lists(st.sampled_from(POOL), max_size=30).map("".join))
def test_nonsense_never_escapes_as_another_error(compiled, text):
    head = "program(1.3) { func main<ios17>(tensor<fp32, [2]> x) "
    for before in ("", head, head + "{ tensor<fp32, [2]> k = const()[val = "):
        read(compiled, before + text)


@pytest.mark.parametrize(
    "text",
    ['"' * 10**6, '"\\' * 10**5, "tensor<" * 10**5, "tensor" + " " * 10**6, "\n" * 10**6],
    ids=["quotes", "escapes", "types", "spaces", "lines"],
)
def test_a_long_text_without_sense_is_refused_in_linear_time(compiled, text):
    (compiled / "model.mil").write_text(text, encoding="utf-8")
    with pytest.raises(ModelFormatError, match=r"model\.mil:\d+:\d+: expected 'program'"):
        read_compiled(compiled)
