/* Rows of an embedding table, looked up by id. */
#ifndef TWINVOX_GATHER_H
#define TWINVOX_GATHER_H

#include <stddef.h>
#include <stdint.h>

/* The position of the first of n ids that is not in 0 .. n_rows - 1; n if all are. */
size_t gather_first_bad(const int32_t *ids, size_t n, size_t n_rows);

/* out [n, channels] from a table [n_rows, channels] that has every id. */
void gather_float32(const float *table, size_t channels, const int32_t *ids, size_t n, float *out);
void gather_float16(const uint16_t *table, size_t channels, const int32_t *ids, size_t n,
                    float *out);

#endif
