import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import mb
from tests.mil.harness import check, covers, few, floats, seeds


def added(constant):
    """A function that adds a compressed constant to its input, so that it can be read back."""
    return lambda x: mb.add(x=x, y=constant())


@covers("constexpr_affine_dequantize")
@few
@given(axis=st.integers(-2, 2), signed=st.booleans(), vector=st.booleans(), seed=seeds)
def test_affine_dequantize(axis, signed, vector, seed):
    rng = np.random.default_rng(seed)
    dtype = np.int8 if signed else np.uint8
    shape = (4, 5, 60)
    limits = np.iinfo(dtype)
    data = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    count = shape[axis] if vector else ()
    scale = rng.uniform(0.01, 0.1, count).astype(np.float32)
    zero_point = rng.integers(limits.min, limits.max, count, dtype)
    along = [1] * 3
    along[axis] = -1
    if vector:
        wide = (data - zero_point.reshape(along).astype(np.float32)) * scale.reshape(along)
    else:
        wide = (data - np.float32(zero_point)) * scale
    check(
        "constexpr_affine_dequantize",
        added(
            lambda: mb.constexpr_affine_dequantize(
                quantized_data=data, zero_point=zero_point, scale=scale, axis=np.int32(axis)
            )
        ),
        {"x": np.zeros(shape, np.float32)},
        wide.astype(np.float32),
    )


@covers("constexpr_cast")
def test_cast():
    values = floats((3, 500), 1).astype(np.float16)
    check(
        "constexpr_cast",
        added(lambda: mb.constexpr_cast(source_val=values, output_dtype="fp32")),
        {"x": np.zeros(values.shape, np.float32)},
        values.astype(np.float32),
    )


def packed(indices, width):
    """Bit fields in a row, the least significant bit first."""
    bits = (indices.reshape(-1, 1) >> np.arange(width)) & 1
    return np.packbits(bits.astype(np.uint8).reshape(-1), bitorder="little")


@covers("constexpr_lut_to_dense")
@pytest.mark.parametrize("width", [1, 2, 4, 6, 8])
@pytest.mark.parametrize("shape", [(5,), (3, 7), (4, 3, 101)])
def test_packed_look_up_table(width, shape):
    rng = np.random.default_rng(width)
    indices = rng.integers(0, 2**width, shape)
    lut = rng.uniform(-1, 1, 2**width).astype(np.float32)
    check(
        "constexpr_lut_to_dense",
        added(
            lambda: mb.constexpr_lut_to_dense(
                indices=packed(indices, width), lut=lut, shape=np.array(shape, np.uint32)
            )
        ),
        {"x": np.zeros(shape, np.float32)},
        lut[indices],
        opset="iOS16",
    )


@pytest.mark.parametrize("width", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("groups", [(1, 1), (2, 1), (2, 3)])
def test_grouped_look_up_table(width, groups):
    rng = np.random.default_rng(width)
    shape = (4, 60)
    indices = rng.integers(0, 2**width, shape).astype(sub_byte(f"uint{width}"))
    lut = rng.uniform(-1, 1, (*groups, 2**width, 1)).astype(np.float32)
    rows = np.arange(4)[:, None] * groups[0] // 4
    columns = np.arange(60) * groups[1] // 60
    check(
        "constexpr_lut_to_dense",
        added(lambda: mb.constexpr_lut_to_dense(indices=indices, lut=lut)),
        {"x": np.zeros(shape, np.float32)},
        lut[rows, columns, indices.astype(int), 0],
        opset="iOS18",
    )


@covers("constexpr_blockwise_shift_scale")
@pytest.mark.parametrize("dtype", ["int4", "uint4", "int8", "uint8"])
@pytest.mark.parametrize("blocks", [(1, 1), (4, 1), (2, 3)])
@pytest.mark.parametrize("shifted", [False, True])
def test_blockwise_shift_scale(dtype, blocks, shifted):
    rng = np.random.default_rng(len(dtype) + blocks[0])
    low, high = {"int4": (-8, 7), "uint4": (0, 15), "int8": (-128, 127), "uint8": (0, 255)}[dtype]
    shape = (4, 60)
    data = rng.integers(low, high, shape, endpoint=True).astype(sub_byte(dtype))
    scale = rng.uniform(0.01, 0.1, blocks).astype(np.float32)
    offset = rng.integers(low, high, blocks, endpoint=True).astype(sub_byte(dtype))
    parameters = {"offset": offset} if shifted else {}
    repeat = [size // count for size, count in zip(shape, blocks, strict=True)]
    wide = np.kron(scale, np.ones(repeat))
    base = np.kron(offset.astype(np.int32) if shifted else np.zeros(blocks), np.ones(repeat))
    check(
        "constexpr_blockwise_shift_scale",
        added(lambda: mb.constexpr_blockwise_shift_scale(data=data, scale=scale, **parameters)),
        {"x": np.zeros(shape, np.float32)},
        ((data.astype(np.int32) - base) * wide).astype(np.float32),
        opset="iOS18",
    )


def sub_byte(dtype):
    """coremltools' NumPy dtype for ``dtype``; the narrow ones are bytes with a note attached."""
    from coremltools.converters.mil.mil import types

    return types.nptype_from_builtin(types.string_to_builtin(dtype))
