#include <string.h>

#include "check.h"
#include "gather.h"
#include "half.h"

enum { ROWS = 5, CHANNELS = 11, N = 7 };

int main(void) {
    static const int32_t ids[N] = {4, 0, 0, 3, 1, 4, 2};
    float *table = malloc(ROWS * CHANNELS * sizeof *table);
    uint16_t *halves = malloc(ROWS * CHANNELS * sizeof *halves);
    float *out = malloc(N * CHANNELS * sizeof *out);
    for (int i = 0; i < ROWS * CHANNELS; i++) {
        table[i] = (float)i - 20.5f;
    }
    half_from_float32(table, ROWS * CHANNELS, halves);
    for (int is_half = 0; is_half < 2; is_half++) {
        memset(out, 0, N * CHANNELS * sizeof *out);
        if (is_half) {
            gather_float16(halves, CHANNELS, ids, N, out);
        } else {
            gather_float32(table, CHANNELS, ids, N, out);
        }
        for (int i = 0; i < N * CHANNELS; i++) {
            CHECK(out[i] == table[ids[i / CHANNELS] * CHANNELS + i % CHANNELS]);
        }
    }
    CHECK(gather_first_bad(ids, N, ROWS) == N);
    CHECK(gather_first_bad(ids, N, 4) == 0 && gather_first_bad(ids + 1, N - 1, 4) == 4);
    CHECK(gather_first_bad((const int32_t[]){0, -1}, 2, ROWS) == 1);
    CHECK(gather_first_bad(ids, 0, 0) == 0);
    free(table);
    free(halves);
    free(out);
    return 0;
}
