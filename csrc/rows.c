#include "rows.h"

#include <stdint.h>
#include <string.h>

typedef struct {
    size_t rank;
    ptrdiff_t shape[ROWS_MAX_RANK];
    ptrdiff_t strides[ROWS_MAX_RANK];
} layout;

/* Drops unit axes and merges axes that follow each other without a gap. */
static layout merge_axes(size_t rank, const ptrdiff_t *shape, const ptrdiff_t *strides) {
    layout merged = {0};
    for (size_t axis = 0; axis < rank; axis++) {
        const size_t last = merged.rank - 1;
        if (shape[axis] == 1) {
            continue;
        }
        if (merged.rank > 0 && merged.strides[last] == shape[axis] * strides[axis]) {
            merged.shape[last] *= shape[axis];
            merged.strides[last] = strides[axis];
        } else {
            merged.shape[merged.rank] = shape[axis];
            merged.strides[merged.rank++] = strides[axis];
        }
    }
    return merged;
}

static void gather2(const char *src, ptrdiff_t n, ptrdiff_t stride, char *out) {
    for (ptrdiff_t i = 0; i < n; i++) {
        memcpy(out + 2 * i, src + i * stride, 2);
    }
}

static void gather4(const char *src, ptrdiff_t n, ptrdiff_t stride, char *out) {
    for (ptrdiff_t i = 0; i < n; i++) {
        memcpy(out + 4 * i, src + i * stride, 4);
    }
}

/* Rows are short: copying them in line beats a call for each. */
static inline void copy_row(char *restrict out, const char *restrict src, size_t bytes) {
    enum { CHUNK = 64 };
    size_t done = 0;
    for (; done + CHUNK <= bytes; done += CHUNK) {
        memcpy(out + done, src + done, CHUNK);
    }
    memcpy(out + done, src + done, bytes - done);
}

static char *copy_axis(const layout *from, size_t axis, size_t itemsize, const char *src,
                       char *out) {
    const ptrdiff_t n = from->shape[axis];
    const ptrdiff_t stride = from->strides[axis];
    if (axis + 1 < from->rank) {
        for (ptrdiff_t i = 0; i < n; i++) {
            out = copy_axis(from, axis + 1, itemsize, src + i * stride, out);
        }
        return out;
    }
    const size_t bytes = (size_t)n * itemsize;
    if (stride == (ptrdiff_t)itemsize) {
        copy_row(out, src, bytes);
    } else {
        (itemsize == 2 ? gather2 : gather4)(src, n, stride, out);
    }
    return out + bytes;
}

status rows_compact(const void *src, size_t itemsize, size_t rank, const ptrdiff_t *shape,
                    const ptrdiff_t *strides, void *out) {
    if (rank > ROWS_MAX_RANK || (itemsize != 2 && itemsize != 4)) {
        return STATUS_BAD_ARGUMENT;
    }
    for (size_t axis = 0; axis < rank; axis++) {
        if (shape[axis] == 0) {
            return STATUS_OK;
        }
    }
    const layout from = merge_axes(rank, shape, strides);
    if (from.rank == 0) {
        memcpy(out, src, itemsize);
    } else {
        copy_axis(&from, 0, itemsize, src, out);
    }
    return STATUS_OK;
}

void rows_spread(const float *src, size_t channels, size_t pitch, size_t n_tokens,
                 size_t n_frames, size_t max_frames, float *out) {
    const size_t per_token = n_frames / n_tokens;
    const size_t row_bytes = channels * sizeof *out;
    if (row_bytes == 0) {
        return;
    }
    for (size_t token = 0; token <= n_tokens; token++) {
        const size_t repeats = token < n_tokens ? per_token : n_frames % n_tokens;
        for (size_t i = 0; i < repeats; i++, out += channels) {
            memcpy(out, src + token * pitch, row_bytes);
        }
    }
    memset(out, 0, (max_frames - n_frames) * row_bytes);
}
