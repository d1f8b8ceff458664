"""The reader: against coremltools' own parse, and on damaged files."""

import contextlib
import json
import shutil
import struct

import numpy as np
import pytest
from coremltools.proto import MIL_pb2, Model_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mil.builder import Input, Range, build_package, mb
from tests.mil.harness import floats, run
from twinvox.errors import (
    ModelFormatError,
    ModelNotFoundError,
    TwinvoxError,
    UnsupportedOpError,
)
from twinvox.mil.package import read_package
from twinvox.mil.program import Constant
from twinvox.mil.translate import to_onnx
from twinvox.mil.weights import Blob, WeightFile

WEIGHT = floats((40, 30), 1)
TABLE = floats((300, 30), 2).astype(np.float16)


def layers(x, tokens):
    rows = mb.gather(x=TABLE, indices=tokens, axis=0)
    rows = mb.cast(x=rows, dtype="fp32")
    both = mb.add(x=x, y=rows)
    out = mb.linear(x=both, weight=WEIGHT)
    return {"y": mb.slice_by_index(x=out, begin=[0, 1], end=[0, 9], end_mask=[True, False])}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    inputs = {"x": Input((Range(1, 8, 4), 30)), "tokens": Input((Range(1, 8, 4),), np.int32)}
    path = tmp_path_factory.mktemp("package") / "layers.mlpackage"
    return build_package(path, layers, inputs)


@pytest.fixture
def copy(package, tmp_path):
    return shutil.copytree(package, tmp_path / "copy.mlpackage")


def model_file(package):
    return package / "Data" / "com.apple.CoreML" / "model.mlmodel"


def weight_file(package):
    return package / "Data" / "com.apple.CoreML" / "weights" / "weight.bin"


def test_inputs_outputs_and_where_the_weights_are(package):
    program = read_package(package)
    assert program.name == "layers.mlpackage"
    x, tokens = program.features_in
    assert (x.name, x.dtype, x.shape, x.default_shape) == ("x", "fp32", (None, 30), (4, 30))
    assert x.ranges == ((1, 8), (30, 30))
    assert (tokens.name, tokens.dtype, tokens.shape) == ("tokens", "int32", (None,))
    assert [(f.name, f.dtype, f.shape) for f in program.features_out] == [("y", "fp32", (None, 8))]
    assert program.weights_folder == weight_file(package).parent
    blobs = [c for c in program.constants.values() if isinstance(c.data, Blob)]
    assert {blob.shape for blob in blobs} >= {(40, 30), (300, 30)}
    np.testing.assert_array_equal(next(b.array for b in blobs if b.shape == (300, 30)), TABLE)


def test_enumerated_shapes(tmp_path):
    inputs = {"x": Input(enumerated=((1, 100, 555), (1, 100, 96)))}
    program = read_package(build_package(tmp_path / "e.mlpackage", lambda x: mb.relu(x=x), inputs))
    (x,) = program.features_in
    assert x.shape == (1, 100, None)
    assert x.default_shape == (1, 100, 555)
    assert set(x.enumerated_shapes) == {(1, 100, 555), (1, 100, 96)}


def test_a_range_without_limits(copy):
    def unbounded(model):
        ranges = model.description.input[0].type.multiArrayType.shapeRange.sizeRanges
        ranges[0].upperBound = -1

    rewritten(copy, unbounded)
    assert read_package(copy).features_in[0].ranges == ((1, None), (30, 30))


DTYPES = {name.lower().replace("float", "fp"): number for name, number in MIL_pb2.DataType.items()}


def test_agrees_with_coremltools(package, tmp_path):
    fp16 = build_package(
        tmp_path / "old.mlpackage",
        lambda x: mb.conv(x=x, weight=floats((4, 2, 3), 1), pad_type="same"),
        {"x": Input((1, 2, 9))},
        opset="iOS15",
    )
    for path in (package, fp16):
        model = Model_pb2.Model()
        model.ParseFromString(model_file(path).read_bytes())
        program = read_package(path)
        ((_, function),) = model.mlProgram.functions.items()
        block = function.block_specializations[function.opset]
        assert program.opset == function.opset
        assert [feature.name for feature in program.features_in] == [
            feature.name for feature in model.description.input
        ]
        assert list(program.outputs) == list(block.outputs)
        consts = [op for op in block.operations if op.type == "const"]
        assert list(program.constants) == [op.outputs[0].name for op in consts]
        others = [op for op in block.operations if op.type != "const"]
        assert len(others) == len(program.operations)
        for ours, theirs in zip(program.operations, others, strict=True):
            assert (ours.kind, ours.name) == (
                theirs.type,
                theirs.attributes["name"].immediateValue.tensor.strings.values[0],
            )
            assert {key: list(names) for key, names in ours.inputs.items()} == {
                key: [binding.name for binding in argument.arguments]
                for key, argument in theirs.inputs.items()
            }
            for value, output in zip(ours.outputs, theirs.outputs, strict=True):
                tensor = output.type.tensorType
                assert value.name == output.name
                assert DTYPES[value.type.dtype] == tensor.dataType
                assert [size or 0 for size in value.type.shape] == [
                    dim.constant.size for dim in tensor.dimensions
                ]


def test_immediate_values_of_every_dtype(tmp_path):
    def function(x):
        outputs = {"of_x": x}
        for dtype in (np.float16, np.float32, np.int32, np.bool_):
            outputs[f"of_{np.dtype(dtype).name}"] = mb.const(val=np.array([1, 0, 1], dtype))
        return {key: mb.cast(x=value, dtype="fp32") for key, value in outputs.items()}

    program = read_package(build_package(tmp_path / "i.mlpackage", function, {"x": Input((3,))}))
    for result in run(program, {"x": np.array([1, 0, 1], np.float32)}).values():
        np.testing.assert_array_equal(result, [1, 0, 1])


def test_what_is_missing_is_named(copy, tmp_path):
    with pytest.raises(ModelNotFoundError, match="no model at"):
        read_package(tmp_path / "absent.mlpackage")
    weight_file(copy).unlink()
    with pytest.raises(ModelNotFoundError, match=r"weight\.bin"):
        read_package(copy)
    model_file(copy).unlink()
    with pytest.raises(ModelNotFoundError, match=r"model\.mlmodel"):
        read_package(copy)
    (copy / "Manifest.json").unlink()
    with pytest.raises(ModelNotFoundError, match=r"Manifest\.json"):
        read_package(copy)
    file = tmp_path / "file.mlpackage"
    file.write_text("not a folder")
    with pytest.raises(ModelFormatError, match="is a file"):
        read_package(file)


def test_a_manifest_cannot_leave_the_package(copy):
    manifest = json.loads((copy / "Manifest.json").read_text())
    root = manifest["rootModelIdentifier"]
    manifest["itemInfoEntries"][root]["path"] = "../../outside/model.mlmodel"
    (copy / "Manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ModelFormatError, match="outside the package"):
        read_package(copy)
    (copy / "Manifest.json").write_text("{}")
    with pytest.raises(ModelFormatError, match="names no root model"):
        read_package(copy)


def test_truncated_weights(copy):
    file = weight_file(copy)
    content = file.read_bytes()
    file.write_bytes(content[:-40])
    with pytest.raises(ModelFormatError, match=r"weight\.bin: .*truncated"):
        read_package(copy)
    file.write_bytes(content[:200])
    with pytest.raises(ModelFormatError, match="truncated"):
        read_package(copy)
    file.write_bytes(b"")
    with pytest.raises(ModelFormatError, match="too few"):
        read_package(copy)


def test_damaged_weights(copy):
    file = weight_file(copy)
    content = bytearray(file.read_bytes())
    for offset, value, message in [
        (4, 3, "version 3"),
        (64, 0x12345678, "no blob at offset 64"),
        (68, 99, "unknown dtype code 99 at offset 64"),
        (68, 3, "holds .* bytes of uint8"),
    ]:
        damaged = bytearray(content)
        struct.pack_into("<I", damaged, offset, value)
        file.write_bytes(damaged)
        with pytest.raises(ModelFormatError, match=message):
            read_package(copy)
    damaged = bytearray(content)
    struct.pack_into("<Q", damaged, 80, 2**63)
    file.write_bytes(damaged)
    with pytest.raises(ModelFormatError, match="truncated"):
        read_package(copy)


def test_a_blob_reference_cannot_leave_the_weights_folder(copy):
    content = model_file(copy).read_bytes()
    inside, outside = b"@model_path/weights/weight.bin", b"@model_path/../../../weight.bi"
    assert len(inside) == len(outside)
    model_file(copy).write_bytes(content.replace(inside, outside))
    with pytest.raises(ModelFormatError, match="expected a file in"):
        read_package(copy)


def rewritten(copy, change):
    model = Model_pb2.Model()
    model.ParseFromString(model_file(copy).read_bytes())
    change(model)
    model_file(copy).write_bytes(model.SerializeToString())


def block_of(model):
    ((_, function),) = model.mlProgram.functions.items()
    return function.block_specializations[function.opset]


def test_other_kinds_of_model_are_refused_by_name(copy):
    rewritten(copy, lambda model: model.neuralNetwork.layers.add(name="softmax"))
    with pytest.raises(ModelFormatError, match=r"copy\.mlpackage .* neuralNetwork .* not an ML"):
        read_package(copy)


def test_several_functions_are_refused_by_name(copy):
    rewritten(
        copy,
        lambda model: model.mlProgram.functions["second"].CopyFrom(
            model.mlProgram.functions["main"]
        ),
    )
    with pytest.raises(UnsupportedOpError, match=r"several functions.* main, second"):
        read_package(copy)


def test_states_are_refused_by_name(copy):
    rewritten(copy, lambda model: model.description.state.add(name="kv_cache"))
    with pytest.raises(UnsupportedOpError, match=r"states.* kv_cache"):
        read_package(copy)


def test_images_are_refused_by_name(copy):
    rewritten(copy, lambda model: setattr(model.description.input[0].type.imageType, "width", 3))
    with pytest.raises(UnsupportedOpError, match="'x' is declared as imageType"):
        read_package(copy)


def test_an_output_that_nothing_makes(copy):
    rewritten(copy, lambda model: block_of(model).outputs.append("nothing"))
    with pytest.raises(ModelFormatError, match="'nothing' is produced by no operation"):
        read_package(copy)


@pytest.mark.parametrize("kind", ["const", "linear"])
def test_an_operation_without_outputs(copy, kind):
    def damage(model):
        next(op for op in block_of(model).operations if op.type == kind).ClearField("outputs")

    rewritten(copy, damage)
    with pytest.raises(ModelFormatError, match=rf"copy\.mlpackage: a {kind} has no output"):
        read_package(copy)


def test_an_output_of_words_is_refused(copy):
    def damage(model):
        (cast,) = (op for op in block_of(model).operations if op.type == "cast")
        model.description.output[0].name = cast.inputs["dtype"].arguments[0].name

    rewritten(copy, damage)
    with pytest.raises(UnsupportedOpError, match="is of dtype string, not of numbers"):
        read_package(copy)


@settings(max_examples=100, deadline=None, database=None, derandomize=True)
@given(data=st.data())
def test_a_damaged_model_file_never_escapes_as_another_error(package, tmp_path_factory, data):
    copy = tmp_path_factory.getbasetemp() / "fuzz.mlpackage"
    if not copy.exists():
        shutil.copytree(package, copy)
    content = bytearray(model_file(package).read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    model_file(copy).write_bytes(content)
    with contextlib.suppress(TwinvoxError):
        program = read_package(copy)
        for constant in program.constants.values():
            assert constant.array.size == constant.size
        to_onnx(program)


def test_blobs_stay_in_their_file(package):
    file = WeightFile(weight_file(package))
    end = weight_file(package).stat().st_size
    for offset in (0, 32, end - 64, end, 2**62):
        with pytest.raises(ModelFormatError):
            file.blob(offset)


def test_constants_are_views_of_the_mapped_file(package):
    program = read_package(package)
    large = [c for c in program.constants.values() if isinstance(c.data, Blob)]
    assert large
    for constant in large:
        assert isinstance(constant, Constant)
        assert isinstance(constant.array.base, np.ndarray)
        assert not constant.array.flags.owndata
        assert not constant.array.flags.writeable
