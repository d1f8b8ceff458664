/* Moving rows between strided model arrays and contiguous ones. */
#ifndef TWINVOX_ROWS_H
#define TWINVOX_ROWS_H

#include <stddef.h>

#include "status.h"

enum { ROWS_MAX_RANK = 8 };

/* Copies src, whose strides are in bytes, to C-contiguous out. itemsize is 2 or 4;
 * STATUS_BAD_ARGUMENT for another, or for a rank above ROWS_MAX_RANK. */
status rows_compact(const void *src, size_t itemsize, size_t rank, const ptrdiff_t *shape,
                    const ptrdiff_t *strides, void *out);

/* Stretches n_tokens rows of src [n_tokens + 1, channels], pitch elements apart, over n_frames of
 * out [max_frames, channels]: n_frames / n_tokens frames each, the remainder filled with the row
 * after the last token, the tail with zeros. Needs 1 <= n_tokens <= n_frames <= max_frames. */
void rows_spread(const float *src, size_t channels, size_t pitch, size_t n_tokens,
                 size_t n_frames, size_t max_frames, float *out);

#endif
