from libc.stddef cimport ptrdiff_t, size_t


cdef extern from "coreml.h" nogil:
    enum:
        COREML_MAX_RANK
        COREML_NO_MEMORY
        COREML_FAILED
        COREML_CLOSED
        COREML_BAD_LAYOUT
        COREML_ALL
        COREML_CPU_ONLY
        COREML_CPU_AND_GPU
        COREML_CPU_AND_NE
        COREML_FLOAT16
        COREML_FLOAT32
        COREML_INT32
        COREML_UNDECLARED
        COREML_ENUMERATED
        COREML_RANGES

    ctypedef struct coreml_failure:
        const char *domain
        long code
        const char *text

    ctypedef struct coreml_feature:
        const char *name
        int dtype
        int limits
        size_t rank
        const ptrdiff_t *low
        const ptrdiff_t *high
        size_t n_shapes
        const ptrdiff_t *shapes

    ctypedef struct coreml_array:
        void *object
        void *data
        int dtype
        size_t rank
        Py_ssize_t *shape
        Py_ssize_t *strides

    ctypedef struct coreml_model:
        pass

    ctypedef struct coreml_binding:
        pass

    size_t coreml_itemsize(int dtype)
    int coreml_compile(const char *package, char **compiled, coreml_failure *failure)
    int coreml_open(
        const char *path, int units, coreml_model **out, coreml_failure *failure)
    const coreml_feature *coreml_inputs(const coreml_model *model, size_t *n)
    const coreml_feature *coreml_outputs(const coreml_model *model, size_t *n)
    bint coreml_admits(
        const coreml_feature *feature, size_t rank, const Py_ssize_t *shape)
    void coreml_close(coreml_model *model)
    void coreml_free(coreml_model *model)
    int coreml_array_create(coreml_array *array, coreml_failure *failure)
    int coreml_array_wrap(coreml_array *array, coreml_failure *failure)
    void coreml_array_release(coreml_array *array)
    int coreml_bind(
        coreml_model *model, coreml_array **inputs, coreml_array **outputs,
        coreml_binding **out, coreml_failure *failure)
    void coreml_unbind(coreml_binding *binding)
    int coreml_predict(
        coreml_binding *binding, coreml_array *results, coreml_failure *failure)
    const coreml_failure *coreml_refusal(const coreml_binding *binding)
