import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import Input, Range, build_package, mb
from tests.mil.harness import check, covers, few, floats, run, seeds
from twinvox.errors import UnsupportedOpError
from twinvox.mil.package import read_package
from twinvox.mil.translate import to_onnx

ACTIVATIONS = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "scaled_tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "hard_sigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "linear": lambda x: x,
}


def lstm(x, h, c, weight_ih, weight_hh, bias, peephole, activations):
    """The definition, for one direction: (h of every step, c of the last)."""
    gate, cell, output = (ACTIVATIONS[name] for name in activations)
    of_input, of_forget, of_output = np.split(peephole, 3)
    steps = []
    for frame in x:
        i, f, o, z = np.split(frame @ weight_ih.T + h @ weight_hh.T + bias, 4, axis=-1)
        c_next = gate(f + of_forget * c) * c + gate(i + of_input * c) * cell(z)
        h = gate(o + of_output * c_next) * output(c_next)
        c = c_next
        steps.append(h)
    return np.stack(steps), c


def weights(seed, size, hidden, biased, peeping):
    """Small ones: with linear gates the states would grow without end."""
    return {
        "weight_ih": floats((4 * hidden, size), seed, -0.4, 0.4),
        "weight_hh": floats((4 * hidden, hidden), seed + 1, -0.4, 0.4),
        "bias": floats((4 * hidden,), seed + 2, -0.4, 0.4) * biased,
        "peephole": floats((3 * hidden,), seed + 3, -0.4, 0.4) * peeping,
    }


@covers("lstm")
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@few
@given(
    steps=st.integers(1, 5),
    batch=st.integers(1, 3),
    size=st.integers(1, 4),
    hidden=st.integers(1, 4),
    seed=seeds,
    data=st.data(),
)
def test_lstm(direction, steps, batch, size, hidden, seed, data):
    biased, peeping, sequence = (data.draw(st.booleans()) for _ in range(3))
    activations = [data.draw(st.sampled_from(sorted(ACTIVATIONS))) for _ in range(3)]
    ways = [weights(seed, size, hidden, biased, peeping)]
    if direction == "bidirectional":
        ways.append(weights(seed + 9, size, hidden, biased, peeping))
    x = floats((steps, batch, size), seed + 4)
    h = floats((batch, len(ways) * hidden), seed + 5, -1, 1)
    c = floats((batch, len(ways) * hidden), seed + 6, -1, 1)

    every, last_h, last_c = [], [], []
    for way, parameters in enumerate(ways):
        part = slice(way * hidden, (way + 1) * hidden)
        backwards = way == 1 or direction == "reverse"
        y, cell = lstm(
            x[::-1] if backwards else x,
            h[:, part],
            c[:, part],
            **parameters,
            activations=activations,
        )
        last_h.append(y[-1])
        last_c.append(cell)
        every.append(y[::-1] if way == 1 else y)
    final = np.concatenate(last_h, -1)
    outputs = np.concatenate(every, -1) if sequence else final[None]

    given_weights = {
        name + suffix: array
        for parameters, suffix in zip(ways, ["", "_back"], strict=False)
        for name, array in parameters.items()
        if (biased or name != "bias") and (peeping or name != "peephole")
    }

    def function(x, h, c):
        y, h, c = mb.lstm(
            x=x,
            initial_h=h,
            initial_c=c,
            direction=direction,
            output_sequence=sequence,
            recurrent_activation=activations[0],
            cell_activation=activations[1],
            activation=activations[2],
            **given_weights,
        )
        return {"y": y, "last_h": h, "last_c": c}

    check(
        "lstm",
        function,
        {"x": x, "h": h, "c": c},
        (outputs, final, np.concatenate(last_c, -1)),
        rtol=1e-4,
        atol=1e-5,
    )


@pytest.mark.parametrize("sequence", [False, True])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_lstm_of_any_length_and_batch(bidirectional, sequence, tmp_path):
    parameters = weights(1, 3, 4, True, False)
    ways = 2 if bidirectional else 1
    back = {f"{name}_back": array for name, array in parameters.items()} if bidirectional else {}

    def function(x):
        state = mb.fill_like(
            ref_tensor=mb.slice_by_index(
                x=mb.tile(x=x, reps=[1, 1, 4 * ways]),
                begin=[0, 0, 0],
                end=[0, 0, 4 * ways],
                end_mask=[False, True, False],
                squeeze_mask=[True, False, False],
            ),
            value=0.0,
        )
        return mb.lstm(
            x=x,
            initial_h=state,
            initial_c=state,
            direction="bidirectional" if bidirectional else "forward",
            output_sequence=sequence,
            **parameters,
            **back,
        )[0]

    spec = Input((Range(1, 9, 2), Range(1, 9, 2), 3))
    program = read_package(build_package(tmp_path / "op.mlpackage", function, {"x": spec}))
    for steps, batch in ((1, 1), (6, 2), (3, 5)):
        x = floats((steps, batch, 3), steps)
        zeros = np.zeros((batch, 4))
        usual = ["sigmoid", "tanh", "tanh"]
        every = [lstm(x, zeros, zeros, **parameters, activations=usual)[0]]
        final = [every[0][-1]]
        if bidirectional:
            turned = lstm(x[::-1], zeros, zeros, **parameters, activations=usual)[0]
            every.append(turned[::-1])
            final.append(turned[-1])
        expected = np.concatenate(every, -1) if sequence else np.concatenate(final, -1)[None]
        np.testing.assert_allclose(run(program, {"x": x})["out"], expected, atol=1e-5)


def test_clipped_cells_are_refused(tmp_path):
    parameters = weights(1, 2, 3, True, False)

    def function(x):
        state = np.zeros((1, 3), np.float32)
        return mb.lstm(x=x, initial_h=state, initial_c=state, clip=2.0, **parameters)[0]

    package = build_package(tmp_path / "op.mlpackage", function, {"x": Input((4, 1, 2))})
    with pytest.raises(UnsupportedOpError, match="clip"):
        to_onnx(read_package(package))
