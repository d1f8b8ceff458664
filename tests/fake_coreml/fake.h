/* How the tests steer the fake Core ML and look into it; strides in bytes. */
#ifndef FAKE_COREML_H
#define FAKE_COREML_H

#include <stddef.h>

enum { FAKE_MAX_RANK = 8 };
enum {
    FAKE_USE_BACKINGS,
    FAKE_IGNORE_BACKINGS,
    FAKE_REJECT_BACKINGS,
    FAKE_USE_ONE_BACKING,
    FAKE_RAISE_FOR_BACKINGS,
};
enum { FAKE_NO_FAULT, FAKE_ERROR, FAKE_EXCEPTION, FAKE_THROWN_STRING, FAKE_SILENT_ERROR };
/* Moving: padded until the data pointer is asked for, then contiguous elsewhere. */
enum { FAKE_PADDED, FAKE_CONTIGUOUS, FAKE_REVERSED, FAKE_MOVING };

typedef struct {
    /* set by the tests */
    int backings;
    int layout; /* of the arrays that the fake makes */
    int compile_fault, load_fault, predict_fault;
    int hold;        /* keep predictions from going on */
    int omit_output; /* leave one output out */
    int late_reads;  /* read the inputs once more when the next prediction comes */
    /* counted by the fake */
    long predictions;
    long offers;   /* backings offered, over all predictions */
    long overlaps; /* predictions on one model that ran at once */
    long starved;  /* predictions held in vain: nobody else could run */
    long changed;  /* late reads that found other values */
    long compilations;
    int compute_units; /* of the model loaded last */
} fake_state;

typedef struct {
    const char *name;
    long dtype;
    size_t rank;
    ptrdiff_t shape[FAKE_MAX_RANK];
    ptrdiff_t strides[FAKE_MAX_RANK];
    void *data;
} fake_tensor;

/* Declares the features of the model at path by fake_declare; other than 0: it cannot be loaded. */
typedef int (*fake_load)(const char *path, void *sink);
/* Computes a prediction and hands over the outputs by fake_emit; other than 0: an NSError. */
typedef int (*fake_compute)(const char *path, const fake_tensor *inputs, size_t n, void *sink);

extern fake_state fake_coreml;

void fake_install(fake_load load, fake_compute compute);
/* limits: n times the rank and sizes of a complete shape, or location and length of a range. */
void fake_declare(void *sink, int is_output, const char *name, long type, long dtype, size_t rank,
                  const ptrdiff_t *shape, long limit_type, size_t n, const ptrdiff_t *limits);
/* data is C-contiguous. */
void fake_emit(void *sink, const char *name, long dtype, size_t rank, const ptrdiff_t *shape,
               const void *data);
/* Objects of the fake's classes that are alive. */
long fake_live(void);

#endif
