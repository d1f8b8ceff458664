"""Core ML: compiling, opening and running models; built where the framework is."""

import os

import numpy as np

cimport cython
from cpython.buffer cimport PyBuffer_Release
from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from libc.stdlib cimport free
from libc.string cimport memcpy

from twinvox._native.arrays cimport borrow, shape_of

from twinvox.errors import ModelFormatError, SynthesisError

include "coreml.pxi"

cdef dict UNITS = {
    "all": COREML_ALL, "cpu_only": COREML_CPU_ONLY, "cpu_and_gpu": COREML_CPU_AND_GPU,
    "cpu_and_ne": COREML_CPU_AND_NE,
}


def compile_package(str package not None):
    cdef coreml_failure failure
    cdef bytes path = os.fsencode(package)
    cdef const char *source = path
    cdef char *compiled = NULL
    cdef int status
    with nogil:
        status = coreml_compile(source, &compiled, &failure)
    check(status, &failure, ModelFormatError, f"compile {package}")
    try:
        return os.fsdecode(compiled)
    finally:
        free(compiled)


@cython.final
cdef class Model:
    cdef coreml_model *model
    cdef const coreml_feature *features_in
    cdef const coreml_feature *features_out
    cdef size_t n_in, n_out
    cdef readonly tuple inputs, outputs
    cdef object __weakref__

    def __cinit__(self, str path not None, str compute_units not None):
        if compute_units not in UNITS:
            raise ValueError(
                f"compute_units is {compute_units!r}; "
                f"expected one of {', '.join(UNITS)}"
            )
        cdef coreml_failure failure
        cdef bytes encoded = os.fsencode(path)
        cdef const char *file = encoded
        cdef int units = UNITS[compute_units]
        cdef int status
        with nogil:
            status = coreml_open(file, units, &self.model, &failure)
        check(status, &failure, ModelFormatError, f"load {path}")
        self.features_in = coreml_inputs(self.model, &self.n_in)
        self.features_out = coreml_outputs(self.model, &self.n_out)
        self.inputs = describe_all(self.features_in, self.n_in)
        self.outputs = describe_all(self.features_out, self.n_out)

    def __dealloc__(self):
        with nogil:
            coreml_free(self.model)

    def predict(self, inputs):
        copies = stand_for_all(
            "inputs", dict(inputs), self.features_in, self.n_in, True)
        return Binding(self, copies, None, None)()

    def bind(self, inputs, outputs):
        cdef dict offered = dict(outputs)
        return Binding(
            self,
            stand_for_all("inputs", dict(inputs), self.features_in, self.n_in, False),
            stand_for_all("outputs", offered, self.features_out, self.n_out, False),
            offered,
        )

    def close(self):
        with nogil:
            coreml_close(self.model)


cdef bytes slots(list arrays):
    """Pointers to what the arrays hold."""
    cdef bytes memory = bytes(len(arrays) * sizeof(coreml_array *))
    cdef coreml_array **slot = <coreml_array **> PyBytes_AsString(memory)
    for array in arrays:
        slot[0] = &(<Array?> array).array
        slot += 1
    return memory


@cython.final
cdef class Binding:
    cdef Model model
    cdef coreml_binding *binding
    cdef list arrays  # over memory that they keep alive
    cdef dict offered

    def __cinit__(
        self, Model model not None, list inputs not None, list outputs, dict offered
    ):
        cdef bytes slots_in = slots(inputs)
        cdef bytes slots_out = slots(outputs or [])
        cdef coreml_failure failure
        cdef int status = coreml_bind(
            model.model, <coreml_array **> PyBytes_AsString(slots_in),
            NULL if outputs is None else <coreml_array **> PyBytes_AsString(slots_out),
            &self.binding, &failure)
        check(status, &failure, SynthesisError, "bind arrays")
        self.model, self.arrays, self.offered = model, [inputs, outputs], offered

    def __dealloc__(self):
        coreml_unbind(self.binding)

    def __call__(self):
        cdef size_t n = self.model.n_out
        cdef bytes memory = PyBytes_FromStringAndSize(NULL, n * sizeof(coreml_array))
        cdef coreml_array *results = <coreml_array *> PyBytes_AsString(memory)
        cdef coreml_failure failure
        cdef Array owner
        cdef int status
        with nogil:
            status = coreml_predict(self.binding, results, &failure)
        check(status, &failure, SynthesisError, "predict")
        found = {}
        for i in range(n):
            name = self.model.outputs[i][0]
            if results[i].object == NULL:
                found[name] = self.offered[name]
            else:
                owner = Array()
                owner.array, owner.owner = results[i], self  # it may be one of ours
                found[name] = np.asarray(owner)
        return found

    @property
    def refusal(self):
        cdef const coreml_failure *failure = coreml_refusal(self.binding)
        return None if failure == NULL else quote(failure)
