# Borrowing the memory of arrays through the buffer protocol; errors say what to do.
from cpython.buffer cimport (
    PyBUF_FORMAT,
    PyBUF_STRIDES,
    PyBuffer_IsContiguous,
    PyBuffer_Release,
    PyObject_CheckBuffer,
    PyObject_GetBuffer,
)


cdef inline str describe(object value):
    dtype = getattr(value, "dtype", None)
    return type(value).__name__ if dtype is None else f"{dtype} array"


cdef inline str shape_of(Py_buffer *view):
    return str([view.shape[axis] for axis in range(view.ndim)])


cdef inline str dtype_of(Py_buffer *view):
    """The name of a native float32, float16 or int32 element, empty for any other."""
    if view.format == NULL or view.format[0] == 0 or view.format[1] != 0:
        return ""
    if view.format[0] == b"f":
        return "float32"
    if view.format[0] == b"e":
        return "float16"
    if view.itemsize == 4 and view.format[0] in (b"i", b"l"):
        return "int32"
    return ""


cdef inline int borrow(
    object array, Py_buffer *view, str name, tuple dtypes, int ndim
) except -1:
    """Fills view with a strided array of one of these dtypes; the caller releases it.

    ndim -1 takes any number of axes.
    """
    if not PyObject_CheckBuffer(array):
        raise TypeError(
            f"{name} must be a {' or '.join(dtypes)} array, got {describe(array)}"
        )
    PyObject_GetBuffer(array, view, PyBUF_FORMAT | PyBUF_STRIDES)
    if dtype_of(view) not in dtypes:
        PyBuffer_Release(view)
        raise TypeError(
            f"{name} must be a {' or '.join(dtypes)} array, got {describe(array)}: "
            "convert it with astype"
        )
    if ndim != -1 and view.ndim != ndim:
        shape = shape_of(view)
        PyBuffer_Release(view)
        raise ValueError(f"{name} must have {ndim} axes, got shape {shape}")
    return 0


cdef inline int borrow_output(
    object array, Py_buffer *view, str name, tuple dtypes, int ndim
) except -1:
    """As borrow, for an array to write to: C-contiguous and not read-only."""
    borrow(array, view, name, dtypes, ndim)
    if view.readonly or not PyBuffer_IsContiguous(view, b"C"):
        PyBuffer_Release(view)
        raise ValueError(
            f"{name} is written to: it must be C-contiguous and writable"
        )
    return 0


cdef inline Py_ssize_t row_pitch(Py_buffer *view, str name) except -1:
    """Elements from row to row of a borrowed [rows, columns] float32 array."""
    cdef Py_ssize_t rows = view.shape[0]
    cdef Py_ssize_t columns = view.shape[1]
    cdef Py_ssize_t row_bytes = columns * view.itemsize
    if columns > 1 and view.strides[1] != view.itemsize:
        raise ValueError(
            f"{name} must have contiguous rows, its column stride is "
            f"{view.strides[1]} bytes: pass rows.compact of it"
        )
    if rows <= 1:
        return columns
    if view.strides[0] < row_bytes or view.strides[0] % view.itemsize != 0:
        raise ValueError(
            f"{name} must have its rows one after another, the row stride is "
            f"{view.strides[0]} bytes for {row_bytes} bytes of row: "
            "pass rows.compact of it"
        )
    return view.strides[0] // view.itemsize
