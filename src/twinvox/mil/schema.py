"""The fields of a .mlmodel file that a translation needs, as protobuf message classes.

The descriptors are built at import from the table below in a pool of their own: no generated code
that ties the package to one protobuf release, and no clash with coremltools' classes of the same
names. Field numbers are those of Apple's public Model.proto, FeatureTypes.proto and MIL.proto.
Parsing skips every field that is not listed.
"""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "twinvox.mlmodel"
_FIELD = descriptor_pb2.FieldDescriptorProto

_SCALARS = {
    "bool": _FIELD.TYPE_BOOL,
    "bytes": _FIELD.TYPE_BYTES,
    "double": _FIELD.TYPE_DOUBLE,
    "float": _FIELD.TYPE_FLOAT,
    "int32": _FIELD.TYPE_INT32,
    "int64": _FIELD.TYPE_INT64,
    "string": _FIELD.TYPE_STRING,
    "uint64": _FIELD.TYPE_UINT64,
}

# Kinds of model that are recognised only to refuse them by name.
FOREIGN_MODELS = {
    "pipelineClassifier": 200,
    "pipelineRegressor": 201,
    "pipeline": 202,
    "glmRegressor": 300,
    "supportVectorRegressor": 301,
    "treeEnsembleRegressor": 302,
    "neuralNetworkRegressor": 303,
    "bayesianProbitRegressor": 304,
    "glmClassifier": 400,
    "supportVectorClassifier": 401,
    "treeEnsembleClassifier": 402,
    "neuralNetworkClassifier": 403,
    "kNearestNeighborsClassifier": 404,
    "neuralNetwork": 500,
    "itemSimilarityRecommender": 501,
    "customModel": 555,
    "linkedModel": 556,
    "serializedModel": 3000,
}

# message -> field -> (number, type); "*T" is repeated, "%T" a map from string to T.
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "Opaque": {},
    "Model": {
        "specificationVersion": (1, "int32"),
        "description": (2, "ModelDescription"),
        "mlProgram": (502, "Program"),
        **{name: (number, "Opaque") for name, number in FOREIGN_MODELS.items()},
    },
    "ModelDescription": {
        "input": (1, "*FeatureDescription"),
        "output": (10, "*FeatureDescription"),
        "state": (13, "*FeatureDescription"),
        "functions": (20, "*Opaque"),
    },
    "FeatureDescription": {"name": (1, "string"), "type": (3, "FeatureType")},
    "FeatureType": {
        "int64Type": (1, "Opaque"),
        "doubleType": (2, "Opaque"),
        "stringType": (3, "Opaque"),
        "imageType": (4, "Opaque"),
        "multiArrayType": (5, "ArrayFeatureType"),
        "dictionaryType": (6, "Opaque"),
        "sequenceType": (7, "Opaque"),
        "stateType": (8, "Opaque"),
    },
    "ArrayFeatureType": {
        "shape": (1, "*int64"),
        "dataType": (2, "int32"),
        "enumeratedShapes": (21, "EnumeratedShapes"),
        "shapeRange": (31, "ShapeRange"),
    },
    "EnumeratedShapes": {"shapes": (1, "*Shape")},
    "Shape": {"shape": (1, "*int64")},
    "ShapeRange": {"sizeRanges": (1, "*SizeRange")},
    "SizeRange": {"lowerBound": (1, "uint64"), "upperBound": (2, "int64")},
    "Program": {"version": (1, "int64"), "functions": (2, "%Function")},
    "Function": {
        "inputs": (1, "*NamedValueType"),
        "opset": (2, "string"),
        "block_specializations": (3, "%Block"),
    },
    "Block": {
        "inputs": (1, "*NamedValueType"),
        "outputs": (2, "*string"),
        "operations": (3, "*Operation"),
    },
    "Operation": {
        "type": (1, "string"),
        "inputs": (2, "%Argument"),
        "outputs": (3, "*NamedValueType"),
        "attributes": (5, "%Value"),
    },
    "Argument": {"arguments": (1, "*Binding")},
    "Binding": {"name": (1, "string"), "value": (2, "Value")},
    "NamedValueType": {"name": (1, "string"), "type": (2, "ValueType")},
    "ValueType": {
        "tensorType": (1, "TensorType"),
        "listType": (2, "Opaque"),
        "tupleType": (3, "Opaque"),
        "dictionaryType": (4, "Opaque"),
        "stateType": (5, "Opaque"),
    },
    "TensorType": {
        "dataType": (1, "int32"),
        "dimensions": (3, "*Dimension"),
    },
    "Dimension": {"constant": (1, "ConstantDimension"), "unknown": (2, "UnknownDimension")},
    "UnknownDimension": {"variadic": (1, "bool")},
    "ConstantDimension": {"size": (1, "uint64")},
    "Value": {
        "type": (2, "ValueType"),
        "immediateValue": (3, "ImmediateValue"),
        "blobFileValue": (5, "BlobFileValue"),
    },
    "ImmediateValue": {
        "tensor": (1, "TensorValue"),
        "tuple": (2, "Opaque"),
        "list": (3, "Opaque"),
        "dictionary": (4, "Opaque"),
    },
    "BlobFileValue": {"fileName": (1, "string"), "offset": (2, "uint64")},
    "TensorValue": {
        "floats": (1, "Floats"),
        "ints": (2, "Ints"),
        "bools": (3, "Bools"),
        "strings": (4, "Strings"),
        "longInts": (5, "LongInts"),
        "doubles": (6, "Doubles"),
        "bytes": (7, "Bytes"),
    },
    "Floats": {"values": (1, "*float")},
    "Ints": {"values": (1, "*int32")},
    "Bools": {"values": (1, "*bool")},
    "Strings": {"values": (1, "*string")},
    "LongInts": {"values": (1, "*int64")},
    "Doubles": {"values": (1, "*double")},
    "Bytes": {"values": (1, "bytes")},
}


def _field(message: descriptor_pb2.DescriptorProto, name: str, number: int, kind: str) -> None:
    field = message.field.add(name=name, number=number)
    field.label = _FIELD.LABEL_REPEATED if kind[0] in "*%" else _FIELD.LABEL_OPTIONAL
    kind = kind.lstrip("*")
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
        return
    field.type = _FIELD.TYPE_MESSAGE
    if kind.startswith("%"):
        entry_name = "".join(part.capitalize() for part in name.split("_")) + "Entry"
        entry = message.nested_type.add(name=entry_name)
        entry.options.map_entry = True
        _field(entry, "key", 1, "string")
        _field(entry, "value", 2, kind[1:])
        kind = f"{message.name}.{entry_name}"
    field.type_name = f".{_PACKAGE}.{kind}"


def _model_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="twinvox/mlmodel.proto", package=_PACKAGE, syntax="proto3"
    )
    for message_name, fields in _MESSAGES.items():
        message = file.message_type.add(name=message_name)
        for field_name, (number, kind) in fields.items():
            _field(message, field_name, number, kind)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Model"))


Model: Any = _model_class()
