#include <stdint.h>
#include <string.h>

#include "check.h"
#include "rows.h"

/* Heap blocks of exactly the needed size, so that AddressSanitizer sees every overrun. */
static void check_padded_rows(size_t rows, size_t columns, size_t pitch) {
    const size_t n_src = rows > 0 ? (rows - 1) * pitch + columns : 0;
    const size_t n_out = rows * columns;
    float *src = calloc(n_src > 0 ? n_src : 1, sizeof *src);
    float *out = calloc(n_out > 0 ? n_out : 1, sizeof *out);
    CHECK(src && out);
    for (size_t i = 0; i < n_src; i++) {
        src[i] = (float)i;
    }
    const ptrdiff_t shape[] = {(ptrdiff_t)rows, (ptrdiff_t)columns};
    const ptrdiff_t strides[] = {(ptrdiff_t)(pitch * sizeof *src), sizeof *src};
    CHECK(rows_compact(src, sizeof *src, 2, shape, strides, out) == STATUS_OK);
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; column < columns; column++) {
            CHECK(out[row * columns + column] == (float)(row * pitch + column));
        }
    }
    free(out);
    free(src);
}

static void check_transposed_halves(void) {
    uint16_t src[3][2] = {{0, 1}, {2, 3}, {4, 5}};
    uint16_t out[6];
    const uint16_t expected[] = {0, 2, 4, 1, 3, 5};
    const ptrdiff_t shape[] = {2, 1, 3};
    const ptrdiff_t strides[] = {2, 999, 4};
    CHECK(rows_compact(src, 2, 3, shape, strides, out) == STATUS_OK);
    CHECK(memcmp(out, expected, sizeof expected) == 0);
}

static void check_reversed(void) {
    const float src[] = {1.0f, 2.0f, 3.0f};
    float out[3];
    const ptrdiff_t shape[] = {3};
    const ptrdiff_t strides[] = {-4};
    CHECK(rows_compact(src + 2, 4, 1, shape, strides, out) == STATUS_OK);
    CHECK(out[0] == 3.0f && out[1] == 2.0f && out[2] == 1.0f);
}

static void check_refused(void) {
    const ptrdiff_t ones[ROWS_MAX_RANK + 1] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const float src = 5.0f;
    float out = 0.0f;
    CHECK(rows_compact(&src, 4, ROWS_MAX_RANK + 1, ones, ones, &out) == STATUS_BAD_ARGUMENT);
    CHECK(rows_compact(&src, 8, 1, ones, ones, &out) == STATUS_BAD_ARGUMENT);
    CHECK(rows_compact(&src, 4, 0, ones, ones, &out) == STATUS_OK && out == 5.0f);
}

static void check_spread(void) {
    const float src[] = {1, 2, -9, 3, 4, -9, 5, 6}; /* three rows of two, pitch 3 */
    float *out = malloc(2 * 7 * sizeof *out);
    CHECK(out);
    memset(out, 0xff, 2 * 7 * sizeof *out);
    rows_spread(src, 2, 3, 2, 5, 7, out);
    const float expected[] = {1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 0, 0, 0, 0};
    CHECK(memcmp(out, expected, sizeof expected) == 0);
    free(out);
}

int main(void) {
    check_padded_rows(1024, 100, 112);
    check_padded_rows(3, 7, 7);
    check_padded_rows(5, 1, 4);
    check_padded_rows(1, 5, 8);
    check_padded_rows(0, 5, 8);
    check_padded_rows(4, 0, 8);
    check_transposed_halves();
    check_reversed();
    check_refused();
    check_spread();
    return 0;
}
