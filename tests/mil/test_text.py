"""The reader of compiled models: the forms of the text, what is refused, and where errors are."""

import math

import numpy as np
import pytest

from tests.growth import assert_linear
from tests.mil.harness import floats, run
from tests.mil.text_printer import VERSIONS
from twinvox.errors import ModelFormatError, ModelNotFoundError, UnsupportedOpError
from twinvox.mil import read_program
from twinvox.mil.text import read_compiled
from twinvox.mil.weights import Blob

SCALARS = ("string", "bool", "fp16", "fp32", "int32", "uint64")
SPELLINGS = {
    "1.0": {name: f"tensor<{name}, []>" for name in SCALARS},
    "1.3": {name: name for name in SCALARS},
}

LAYERS = """program({version})
[buildInfo = dict<{string}, {string}>({{{{"coremlc-version", "3402.4.1"}}, {{"a", ""}}}})]
{{
    func main<ios17>(tensor<fp32, [2, 3]> x, tensor<fp32, [2, 3]> y) {{
            {int32} axis = const()[name = {string}("op_3"), val = {int32}(-1)];
            {bool} interleave = const()[name = {string}("i"), val = {bool}(false)];
            tensor<fp32, [2, 3]> w = const()[name = {string}("w"),
                val = tensor<fp32, [2, 3]>(BLOBFILE(
                path = {string}("@model_path/weights/weight.bin"), offset = {uint64}(64)))];
            tensor<fp32, [2, 6]> both = concat(axis = axis, interleave = interleave,
                values = (x, y))[name = {string}("both_1")];
            tensor<fp32, [2, 3]> a, tensor<fp32, [2, 3]> b = split(axis = {int32}(1),
                num_splits = {int32}(2), x = both);
            tensor<fp32, [2, 3]> c = add(x = a, y = w)[name = {string}("c")];
            tensor<fp32, [2, 3]> out = maximum(x = c, y = {fp32}(0x1.8p-1))[name = {string}("out")];
        }} -> (out, b);
}}
"""


def layers(version):
    return LAYERS.format(version=version, **SPELLINGS[version])


WEIGHTS = floats((2, 3), 5)


def weight_file():
    """One blob of six fp32 numbers at offset 64."""
    header = np.array([1, 2], "<u4").tobytes().ljust(64, b"\0")
    block = np.array([0xDEADBEEF, 2], "<u4").tobytes() + np.array([24, 128], "<u8").tobytes()
    return header + block.ljust(64, b"\0") + WEIGHTS.tobytes()


@pytest.fixture
def model(tmp_path):
    """Writes a compiled model of this text."""

    def write(text, name="m.mlmodelc", weights="weight.bin"):
        folder = tmp_path / name
        (folder / "weights").mkdir(parents=True, exist_ok=True)
        (folder / "weights" / weights).write_bytes(weight_file())
        (folder / "model.mil").write_text(text, encoding="utf-8")
        return folder

    return write


def program(*statements, inputs="tensor<fp32, [2]> x", outputs="x", attributes=""):
    body = "\n".join(statements)
    return (
        f"program(1.0)\n{{\nfunc main<ios17>({inputs}){attributes} {{\n{body}\n"
        f"}} -> ({outputs});\n}}\n"
    )


def constant(kind, text):
    return f'{kind} k = const()[name = tensor<string, []>("k"), val = {kind}({text})];'


@pytest.mark.parametrize("version", VERSIONS)
def test_a_program_in_both_spellings(model, version):
    read = read_compiled(model(layers(version)))
    assert (read.name, read.opset) == ("m.mlmodelc", "ios17")
    assert [(f.name, f.dtype, f.shape) for f in read.features_in] == [
        ("x", "fp32", (2, 3)),
        ("y", "fp32", (2, 3)),
    ]
    assert [feature.name for feature in read.features_out] == ["out", "b"]
    assert [operation.name for operation in read.operations] == ["both_1", "a", "c", "out"]
    assert read.operations[0].inputs["values"] == ("x", "y")
    x, y = floats((2, 3), 1), floats((2, 3), 2)
    out, b = run(read, {"x": x, "y": y}).values()
    np.testing.assert_array_equal(b, y)
    np.testing.assert_allclose(out, np.maximum(x + WEIGHTS, 0.75), rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("tensor<fp32, []>", "0x1.8p+1", 3),
        ("fp32", "-0x1.5p-17", -1.3125 / 2**17),
        ("fp16", "0x1.8p-23", 1.5 / 2**23),
        ("tensor<fp16, [3]>", "[inf, -inf, -0x0p+0]", [math.inf, -math.inf, -0.0]),
        ("tensor<fp32, [2]>", "[1.5, 2e-3]", [1.5, 2e-3]),
        ("tensor<fp32, [1]>", "[0x1.fffffep+127]", [np.finfo(np.float32).max]),
        ("tensor<int32, [2, 1, 2]>", "[[[1, -2]], [[3, 4]]]", [[[1, -2]], [[3, 4]]]),
        ("tensor<int32, [0]>", "[]", []),
        ("tensor<int32, [0, 2]>", "[]", np.zeros((0, 2))),
        ("tensor<uint64, []>", "18446744073709551615", 2**64 - 1),
        ("int8", "-128", -128),
        ("tensor<uint16, [1]>", "[65535]", [65535]),
        ("tensor<int4, [2]>", "[-8, 7]", [-8, 7]),
        ("tensor<uint3, [2]>", "[0, 7]", [0, 7]),
        ("tensor<bool, [2]>", "[true, false]", [True, False]),
        ("bool", "false", False),
        ("string", r'"a \"b\" \\ \n\t"', 'a "b" \\ \n\t'),
        ("tensor<string, [2]>", '["a, b", "]"]', ["a, b", "]"]),
    ],
)
def test_literals(model, kind, text, expected):
    (value,) = read_compiled(model(program(constant(kind, text)))).constants.values()
    assert value.array.shape == value.shape == np.shape(expected)
    expected = np.array(expected, value.array.dtype)
    np.testing.assert_array_equal(value.array, expected)
    if expected.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(value.array), np.signbit(expected))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("tensor<fp32, [2]>", "[1.0]"),
        ("tensor<fp32, [2]>", "0x1p+0"),
        ("tensor<fp32, [2, 2]>", "[[1, 2], [3]]"),
        ("tensor<fp32, [2, 2]>", "[1, 2, 3, 4]"),
        ("tensor<fp32, [2]>", "(1, 2)"),
        ("tensor<fp32, []>", "[1]"),
        ("tensor<string, [1]>", '("a")'),
        ("fp16", "0x1p+16"),
        ("fp32", "1e39"),
        ("fp32", "0x1p+99999"),
        ("fp32", "true"),
        ("int8", "128"),
        ("int32", "1.5"),
        ("uint64", "-1"),
        ("int32", "9" * 5000),
        ("uint3", "8"),
        ("bool", "1"),
        ("string", "valid"),
    ],
)
def test_a_literal_that_does_not_fit_its_type(model, kind, text):
    folder = model(program(constant(kind, text)))
    with pytest.raises(ModelFormatError, match=r"model\.mil:4:\d+: not a tensor<") as caught:
        read_compiled(folder)
    assert len(str(caught.value)) < 1000


def test_flexible_shapes(model):
    kinds = "tuple<tuple<string, dict<string, tensor<int32, [?]>>>, tuple<string, list<int32, ?>>>"
    ranges = (
        f'[FlexibleShapeInformation = {kinds}((("DefaultShapes", {{{{"x", [1, 5]}}, '
        '{"z", [4]}}), ("RangeDims", {{"x", [[1, 1], [2, 9]]}, {"z", [[1, -1]]}})))]'
    )
    inputs = "tensor<fp32, [1, ?]> x, tensor<fp32, [3]> y, tensor<fp32, [?]> z"
    x, y, z = read_compiled(model(program(inputs=inputs, attributes=ranges))).features_in
    assert (x.shape, x.default_shape, x.ranges) == ((1, None), (1, 5), ((1, 1), (2, 9)))
    assert (y.shape, y.default_shape, y.ranges) == ((3,), (3,), ())
    assert (z.shape, z.default_shape, z.ranges) == ((None,), (4,), ((1, None),))

    shapes = (
        '[FlexibleShapeInformation = tuple<string>((("DefaultShapes", {{"x", [1, 5]}, {"z", [5]}}),'
        ' ("EnumeratedShapes", {{"79ae981e", {{"x", [1, 5]}, {"z", [5]}}},'
        ' {"7a1b0c3d", {{"x", [1, 7]}, {"z", [5]}}}})))]'
    )
    x, y, z = read_compiled(model(program(inputs=inputs, attributes=shapes))).features_in
    assert (x.shape, x.enumerated_shapes) == ((1, None), ((1, 5), (1, 7)))
    assert (z.shape, z.enumerated_shapes) == ((5,), ((5,),))

    for nothing in ("", "[FlexibleShapeInformation = tuple<tuple<string>>()]"):
        x, y, z = read_compiled(model(program(inputs=inputs, attributes=nothing))).features_in
        assert (x.shape, x.ranges, x.enumerated_shapes) == ((1, None), (), ())


@pytest.mark.parametrize(
    "content",
    [
        "5", '("RangeDims")', '(("RangeDims", 3))', '(("RangeDims", {{"x", [[1, 1], [9, 2]]}}))',
        '(("RangeDims", {{"x", [[1, 1], [-2, 2]]}}))', '(("Elsewhere", {{"x", [1, 1]}}))',
        '(("RangeDims", {{x, [[1, 1], [1, 2]]}}))', '(("DefaultShapes", {{"x", [1, "5"]}}))',
        '(("EnumeratedShapes", {{"k", {{"x", [1]}}}}))',
        '(("RangeDims", {{"x", [[1, 1]]}}))', '(("DefaultShapes", {{"x", [[1], 5]}}))',
    ],
)  # fmt: skip
def test_flexible_shapes_that_make_no_sense(model, content):
    attributes = f"[FlexibleShapeInformation = tuple<string>({content})]"
    with pytest.raises(ModelFormatError, match=r"model\.mil:3:(18|41): "):
        read_compiled(model(program(inputs="tensor<fp32, [1, ?]> x", attributes=attributes)))


ADD = 'tensor<fp32, [2]> y = add(x = x, y = x)[name = string("y")];'
TYPE = "tensor<fp32, [2]>"
NESTED = "(" * 9 + "x" + ")" * 9

# What the error says, and the text with a mark where it is.
ERRORS = {
    "expected 'program', found the end": "§",
    "expected a type, found '3'": "program(1.0)\n  [buildInfo = §3]",
    "the program has no function": "§program(1.0)\n{\n}\n",
    "expected the end, found 'more'": program() + "\n §more",
    "expected ';', found '}'": program(ADD[:-1]).replace("} ->", "§} ->"),
    "'z' is not defined": program(ADD.replace("y = x)", "y = §z)")),
    "'y' is not defined": program(ADD.replace("y = x)", "y = §y)")),
    "'w' is not defined": program(ADD, outputs="x, §w"),
    "'y' is defined twice": program(ADD, f"§{ADD}"),
    "'x' is defined twice": program(inputs=f"§{TYPE} x, {TYPE} x"),
    "'two'": program("§" + ADD.replace("[2]", "[two]")),
    "-2 is no size": program("§" + ADD.replace("[2]", "[-2]")),
    f"{2**63} is no size": program("§" + ADD.replace("[2]", f"[{2**63}]")),
    "expected tensor<dtype, [sizes]>, found 'tensor<[2]>'": program("§tensor<[2]> y = x"),
    "unknown type 'tenser'": program("§" + ADD.replace(TYPE, "tenser")),
    "y is no string": program(ADD.replace('string("y")', "§string(y)")),
    "expected a value, found '\"y)];": program(ADD.replace('"y"', '§"y')),
    "name is a tensor<int32, []>": program("§" + ADD.replace('string("y")', "int32(3)")),
    "val is missing": program("§fp32 k = const();"),
    "val is no tensor": program("§fp32 k = const()[val = dict<string, fp32>({})];"),
    "val is a tensor<fp16, []>": program("§fp32 k = const()[val = fp16(1)];"),
    "has no fixed shape": program("fp32 k = const()[val = §tensor<fp32, [?]>([1])];"),
    "expected a name, found 'tensor<fp32, [2]>'": program(f"{TYPE} §{TYPE} = relu(x = x);"),
    "expected a name, found '('": program(f"{TYPE} y = relu(x = (§{NESTED}));"),
    "nested more than 16 deep": program(f"fp32 k = const()[val = fp32({'[' * 16}§{'[' * 99999}"),
    "'<' is never closed": program("dict§" + "<" * 10**5),
}


@pytest.mark.parametrize(("message", "text"), ERRORS.items(), ids=list(ERRORS))
def test_errors_say_where(model, message, text):
    before, after = text.split("§")
    folder = model(before + after)
    with pytest.raises(ModelFormatError) as caught:
        read_compiled(folder)
    line, column = before.count("\n") + 1, len(before.split("\n")[-1]) + 1
    assert str(caught.value).startswith(f"{folder / 'model.mil'}:{line}:{column}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (program(inputs="state<tensor<fp16, [1, 4]>> kv_cache"), "'kv_cache' has type state"),
        (program("list<tensor<fp32, [2]>, ?> l = make_list();"), "'l' has type list"),
        (program(ADD.replace("add", "while_loop")), "'y' is of kind while_loop; control flow"),
        (program(ADD.replace("fp32", "bf16")), "unknown dtype 'bf16'"),
    ],
)
def test_what_is_refused_by_name(model, text, message):
    with pytest.raises(UnsupportedOpError, match=rf"model\.mil:\d+:\d+: {message}"):
        read_compiled(model(text))


def test_features_are_numbers(model):
    with pytest.raises(UnsupportedOpError, match=r"'x' is of dtype string"):
        read_compiled(model(program(inputs="string x")))


def functions(*names):
    one = "func {name}<ios18>(tensor<fp32, [{size}]> x) {{ }} -> (x);"
    body = "\n".join(one.format(name=name, size=size) for size, name in enumerate(names, 1))
    return f"program(1.3)\n{{\n{body}\n}}"


def test_of_several_functions_main_is_read(model):
    assert read_compiled(model(functions("main", "decode"))).features_in[0].shape == (1,)
    assert read_compiled(model(functions("decode", "main"))).features_in[0].shape == (2,)
    assert read_compiled(model(functions("decode"))).features_in[0].shape == (1,)
    with pytest.raises(UnsupportedOpError, match=r"m\.mlmodelc: .*: decode, prefill"):
        read_compiled(model(functions("prefill", "decode")))
    with pytest.raises(ModelFormatError, match=r"model\.mil:4:6: .*'main' is defined twice"):
        read_compiled(model(functions("main", "main")))


def test_folders_that_hold_no_text(tmp_path):
    with pytest.raises(ModelNotFoundError, match="no model at"):
        read_program(tmp_path / "absent.mlmodelc")
    folder = tmp_path / "m.mlmodelc"
    (folder / "analytics").mkdir(parents=True)
    with pytest.raises(ModelNotFoundError, match=r"has no model\.mil"):
        read_program(folder)
    (folder / "model.espresso.net").touch()
    with pytest.raises(ModelFormatError, match="compiled neural network"):
        read_program(folder)
    for stage in ("model1", "model0"):
        (folder / stage).mkdir()
    with pytest.raises(ModelFormatError, match="pipeline of model0, model1"):
        read_program(folder)
    file = tmp_path / "file.mlmodelc"
    file.touch()
    with pytest.raises(ModelFormatError, match="is a file"):
        read_program(file)


def test_a_file_that_is_no_text(model):
    folder = model("")
    (folder / "model.mil").write_bytes(b"program(1.0)\xff")
    with pytest.raises(ModelFormatError, match=r"model\.mil is not text"):
        read_compiled(folder)


def test_what_else_lies_in_the_folder_does_not_matter(model):
    folder = model(layers("1.0"))
    (folder / "Manifest.json").write_text('{"rootModelIdentifier": "model.mil"}')
    (folder / "metadata.json").write_text("[]")
    (folder / "coremldata.bin").write_bytes(b"\0")
    assert read_program(folder).name == "m.mlmodelc"
    assert read_program(folder.rename(folder.with_suffix(".folder"))).name == "m.folder"


def test_weights_of_another_name(model):
    text = layers("1.3").replace("weight.bin", "weights.bin")
    folder = model(text, name="n.mlmodelc", weights="weights.bin")
    read = read_compiled(folder)
    assert read.weights_folder == folder / "weights"
    np.testing.assert_array_equal(read.constants["w"].array, WEIGHTS)
    with pytest.raises(ModelNotFoundError, match=r"weight\.bin"):
        read_compiled(model(layers("1.3"), name="n.mlmodelc", weights="weights.bin"))


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../weight.bin", "@model_path/weight.bin", "@model_path/weights/../model.mil",
     "@model_path/weights/..", "@model_path/../weights", "weights/sub/weight.bin", ""],
)  # fmt: skip
def test_blobs_lie_in_the_weights_folder(model, path):
    folder = model(layers("1.0").replace("@model_path/weights/weight.bin", path))
    with pytest.raises(ModelFormatError, match=r"model\.mil:8:\d+: .*expected a file in"):
        read_compiled(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(64)", "(32)", "no blob at offset 32"),
        ("(64)", f"({2**64 - 1})", "truncated"),
        ("(64)", "(-64)", "not a tensor<uint64, []>"),
        ("uint64", "int32", "expected a uint64"),
        ("[2, 3]> w", "[3, 3]> w", "expected a tensor"),
        ("[2, 3]>(B", "[2, 4]>(B", "expects 8 values of fp32"),
        ("[2, 3]>(B", "[2, 2]>(B", "expects 4 values of fp32"),
        ("fp32, [2, 3]>(B", "fp16, [2, 3]>(B", "expects 6 values of fp16"),
        ("fp32, [2, 3]>(B", "string, [2, 3]>(B", "expects 6 values of string"),
        ("path", "file", "expected 'path', found 'file'"),
    ],
)
def test_blobs_are_what_the_program_says(model, old, new, message):
    assert old in layers("1.3")
    folder = model(layers("1.3").replace(old, new))
    with pytest.raises(ModelFormatError, match=r"model\.mil:[789]:\d+: ") as caught:
        read_compiled(folder)
    assert message in str(caught.value)


def test_blobs_stay_in_the_mapped_file(model):
    weight = read_compiled(model(layers("1.0"))).constants["w"]
    assert isinstance(weight.data, Blob)
    assert not weight.array.flags.owndata


@pytest.mark.parametrize("size", ["3", "?"])
def test_topk_of_all(model, size):
    """k = -1, which iOS 17 knows and coremltools does not write."""
    kind = f"tensor<fp32, [2, {size}]>"
    top = "topk(axis = int32(1), k = int32(-1), return_indices = bool(false), x = x)"
    folder = model(program(f"{kind} y = {top};", inputs=f"{kind} x", outputs="y"))
    x = floats((2, 3), 1)
    np.testing.assert_array_equal(run(read_compiled(folder), {"x": x})["y"], -np.sort(-x))


def test_reading_takes_time_in_proportion_to_the_functions(model):
    unit = " func f<ios17>(fp32 x) { fp32 y = relu(x = x); } -> (y);\n"

    def read(text):
        functions = (unit.replace(" f<", f" f{i}<") for i in range(text.count(unit)))
        folder = model("program(1.3) {" + "".join(functions) + "}")
        with pytest.raises(UnsupportedOpError, match="several functions"):
            read_compiled(folder)

    assert_linear(read, unit, 400 * len(unit))
