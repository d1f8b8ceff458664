# Errors, arrays and features of Core ML as Python has them.
cdef dict DTYPES = {
    COREML_FLOAT16: "float16", COREML_FLOAT32: "float32", COREML_INT32: "int32",
}


cdef str quote(const coreml_failure *failure):
    return f"{failure.text.decode()} ({failure.domain.decode()} {failure.code})"


cdef int check(
    int status, const coreml_failure *failure, type error, str task
) except -1:
    if status == COREML_NO_MEMORY:
        raise MemoryError(f"no memory to {task}")
    if status == COREML_CLOSED:
        raise ValueError(f"cannot {task}: the model is closed")
    if status == COREML_BAD_LAYOUT:
        raise ValueError(f"cannot {task} in place: pass rows.compact of it")
    if status == COREML_FAILED:
        raise error(f"Core ML cannot {task}: {quote(failure)}")
    return 0


cdef char *format_of(int dtype):
    if dtype == COREML_INT32:
        return b"i"
    return b"e" if dtype == COREML_FLOAT16 else b"f"


@cython.final
cdef class Array:
    """An MLMultiArray, its memory as a buffer."""
    cdef coreml_array array
    cdef object owner  # of memory that is not Core ML's

    def __dealloc__(self):
        coreml_array_release(&self.array)

    def __getbuffer__(self, Py_buffer *view, int flags):
        view.obj, view.buf, view.readonly = self, self.array.data, False
        view.ndim, view.itemsize = self.array.rank, coreml_itemsize(self.array.dtype)
        view.shape, view.strides = self.array.shape, self.array.strides
        view.suboffsets = view.internal = NULL
        view.format = format_of(self.array.dtype)
        view.len = view.itemsize
        for axis in range(view.ndim):
            view.len *= view.shape[axis]


cdef Array stand_for(
    object value, const coreml_feature *feature, bint copied, bint written
):
    """An array that is a copy of value, or its memory, once it fits the feature."""
    cdef Array made = Array()
    cdef coreml_failure failure
    cdef Py_buffer view
    cdef int status
    cdef str name = feature.name.decode()
    borrow(value, &view, name, (DTYPES[feature.dtype],), -1)
    try:
        if not coreml_admits(feature, view.ndim, view.shape):
            raise ValueError(
                f"{name} has shape {shape_of(&view)}; expected {accepted(feature)}"
            )
        if written and view.readonly:
            raise ValueError(f"{name} is written to: it must be writable")
        made.array.dtype, made.array.rank = feature.dtype, view.ndim
        memcpy(made.array.shape, view.shape, view.ndim * sizeof(Py_ssize_t))
        if copied:
            status = coreml_array_create(&made.array, &failure)
        else:
            made.owner, made.array.data = memoryview(value), view.buf
            memcpy(made.array.strides, view.strides, view.ndim * sizeof(Py_ssize_t))
            status = coreml_array_wrap(&made.array, &failure)
        check(status, &failure, SynthesisError, f"take {name}")
    finally:
        PyBuffer_Release(&view)
    if copied:
        np.copyto(np.asarray(made), value)
    return made


cdef list stand_for_all(
    str kind, dict values, const coreml_feature *features, size_t n, bint copied
):
    names = [features[i].name.decode() for i in range(n)]
    if values.keys() != set(names):
        raise ValueError(
            f"{kind} are {', '.join(values)}; expected {', '.join(names)}"
        )
    return [
        stand_for(values[name], &features[i], copied, kind == "outputs")
        for i, name in enumerate(names)
    ]


cdef str accepted(const coreml_feature *feature):
    _, shape, _, shapes, ranges = describe(feature)
    if shape is None:
        return f"at most {COREML_MAX_RANK} axes"
    dims = ", ".join(["?" if size is None else str(size) for size in shape])
    return f"[{dims}]" + (f" within {shapes or ranges}" if shapes or ranges else "")


cdef tuple describe(const coreml_feature *feature):
    cdef size_t rank = feature.rank
    cdef const ptrdiff_t *low = feature.low
    cdef const ptrdiff_t *high = feature.high
    shape, shapes, ranges = None, [], []
    if feature.limits != COREML_UNDECLARED:
        shape = tuple([low[i] if low[i] == high[i] else None for i in range(rank)])
    if feature.limits == COREML_ENUMERATED:
        shapes = [
            [feature.shapes[i * rank + axis] for axis in range(rank)]
            for i in range(feature.n_shapes)
        ]
    if feature.limits == COREML_RANGES:
        ranges = [(low[i], None if high[i] < 0 else high[i]) for i in range(rank)]
    return feature.name.decode(), shape, np.dtype(DTYPES[feature.dtype]), shapes, ranges


cdef tuple describe_all(const coreml_feature *features, size_t n):
    return tuple([describe(&features[i]) for i in range(n)])
