/* Core ML behind plain C. What the framework refuses or raises comes back as a coreml_failure;
 * nothing throws. Predictions on one model run one after the other, whatever thread asks. */
#ifndef TWINVOX_COREML_H
#define TWINVOX_COREML_H

#include <stdbool.h>
#include <stddef.h>

enum { COREML_MAX_RANK = 8 };

typedef enum {
    COREML_OK = 0,
    COREML_NO_MEMORY,
    COREML_FAILED, /* the failure says why */
    COREML_CLOSED,
    COREML_BAD_LAYOUT, /* rows that overlap or do not follow each other, or a split element */
} coreml_status;

/* Values of the framework's own enumerations. */
typedef enum {
    COREML_CPU_ONLY = 0,
    COREML_CPU_AND_GPU = 1,
    COREML_ALL = 2,
    COREML_CPU_AND_NE = 3,
} coreml_units;

typedef enum {
    COREML_FLOAT16 = 65552,
    COREML_FLOAT32 = 65568,
    COREML_INT32 = 131104,
} coreml_dtype;

/* An NSError, or an NSException, whose name stands for the domain. */
typedef struct {
    char domain[128];
    long code;
    char text[1024]; /* with the texts of the errors beneath it */
} coreml_failure;

typedef enum {
    COREML_UNDECLARED, /* an output whose shape the model leaves open */
    COREML_FIXED,
    COREML_ENUMERATED,
    COREML_RANGES,
} coreml_limits;

typedef struct {
    char *name;
    coreml_dtype dtype;
    coreml_limits limits;
    size_t rank;
    ptrdiff_t low[COREML_MAX_RANK];
    ptrdiff_t high[COREML_MAX_RANK]; /* -1: no limit */
    size_t n_shapes;
    ptrdiff_t *shapes; /* [n_shapes, rank], the shapes accepted */
} coreml_feature;

/* An MLMultiArray and the memory it stands for; strides in bytes. */
typedef struct {
    void *object;
    void *data;
    coreml_dtype dtype;
    size_t rank;
    ptrdiff_t shape[COREML_MAX_RANK];
    ptrdiff_t strides[COREML_MAX_RANK];
} coreml_array;

typedef struct coreml_model coreml_model;
typedef struct coreml_binding coreml_binding;

size_t coreml_itemsize(coreml_dtype dtype);

/* Compiles a .mlpackage into a folder of the system's choice, which is then the caller's, and so
 * is the string: free() it. */
coreml_status coreml_compile(const char *package, char **compiled, coreml_failure *failure);

/* Opens a .mlmodelc. */
coreml_status coreml_open(const char *path, coreml_units units, coreml_model **out,
                          coreml_failure *failure);

/* The features in order of their names; they live until coreml_free. */
const coreml_feature *coreml_inputs(const coreml_model *model, size_t *n);
const coreml_feature *coreml_outputs(const coreml_model *model, size_t *n);

/* Whether the feature takes an array of this shape; none has more than COREML_MAX_RANK axes. */
bool coreml_admits(const coreml_feature *feature, size_t rank, const ptrdiff_t *shape);

/* Waits for the prediction that runs, then unloads the model. */
void coreml_close(coreml_model *model);
/* Closes; to be called once no binding is left. NULL is fine. */
void coreml_free(coreml_model *model);

/* Fills in an array of this dtype, rank and shape whose memory is Core ML's own. */
coreml_status coreml_array_create(coreml_array *array, coreml_failure *failure);
/* Fills in the object over memory of the caller, which has to outlive every use. Rows may be
 * padded, else COREML_BAD_LAYOUT. */
coreml_status coreml_array_wrap(coreml_array *array, coreml_failure *failure);
void coreml_array_release(coreml_array *array);

/* Prepares predictions. Takes one array for each input and, unless outputs is NULL, for each
 * output, in the features' order; the binding keeps the objects alive. */
coreml_status coreml_bind(coreml_model *model, coreml_array *const *inputs,
                          coreml_array *const *outputs, coreml_binding **out,
                          coreml_failure *failure);
void coreml_unbind(coreml_binding *binding);

/* Predicts. results has room for every output: one whose object is NULL is in the array offered,
 * any other is the caller's to release. Where Core ML fails or raises with the arrays offered it is
 * asked again without, and if that works they are not offered any more. */
coreml_status coreml_predict(coreml_binding *binding, coreml_array *results,
                             coreml_failure *failure);

/* Why the arrays are no longer offered, NULL while they are. */
const coreml_failure *coreml_refusal(const coreml_binding *binding);

#endif
