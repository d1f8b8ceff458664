#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "half.h"

static uint16_t rounded(float value) {
    uint16_t half;
    half_from_float32_portable(&value, 1, &half);
    return half;
}

/* By the definition of binary16. */
static double value_of(uint16_t half) {
    const int exponent = (half >> 10) & 31;
    const double mantissa = half & 1023;
    const double magnitude =
        exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024.0 + mantissa, exponent - 25);
    return half & 0x8000 ? -magnitude : magnitude;
}

static void check_every_half(void) {
    static uint16_t halves[65536], back[65536];
    static float floats[65536];
    for (int i = 0; i < 65536; i++) {
        halves[i] = (uint16_t)i;
    }
    half_to_float32_portable(halves, 65536, floats);
    half_from_float32_portable(floats, 65536, back);
    for (int i = 0; i < 65536; i++) {
        const bool special = (i & 0x7c00) == 0x7c00;
        const bool nan = special && (i & 0x3ff) != 0;
        if (nan) {
            CHECK(isnan(floats[i]) && back[i] == (i | 0x200));
        } else {
            CHECK(special ? isinf(floats[i]) && (signbit(floats[i]) != 0) == (i >> 15)
                          : floats[i] == value_of((uint16_t)i));
            CHECK(back[i] == i);
        }
    }
}

/* Between neighbours a < b: what is nearer wins, the middle goes to the even one. */
static void check_rounding(void) {
    for (uint16_t a = 0; a < 0x7bff; a++) {
        const uint16_t b = a + 1;
        const float middle = (float)((value_of(a) + value_of(b)) / 2);
        CHECK(rounded(middle) == (a % 2 == 0 ? a : b));
        CHECK(rounded(nextafterf(middle, 0.0f)) == a);
        CHECK(rounded(nextafterf(middle, INFINITY)) == b);
    }
    CHECK(rounded(65519.996f) == 0x7bff && rounded(65520.0f) == 0x7c00);
    CHECK(rounded(-1e30f) == 0xfc00 && rounded(-1e-30f) == 0x8000);
}

#if defined(__x86_64__)
static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void check_f16c(void) {
    enum { N = 4099 };
    static float floats[N], floats_f16c[N];
    static uint16_t halves[N], halves_f16c[N];
    for (uint32_t base = 0; base < 0xfff00000u; base += 0x00100000) {
        for (uint32_t i = 0; i < N; i++) {
            floats[i] = float_of(base + i * 255);
        }
        half_from_float32_portable(floats, N, halves);
        half_from_float32_f16c(floats, N, halves_f16c);
        CHECK(memcmp(halves, halves_f16c, sizeof halves) == 0);
    }
    for (uint32_t base = 0; base < 65536; base += N) {
        for (uint32_t i = 0; i < N; i++) {
            halves[i] = (uint16_t)(base + i);
        }
        half_to_float32_portable(halves, N, floats);
        half_to_float32_f16c(halves, N, floats_f16c);
        CHECK(memcmp(floats, floats_f16c, sizeof floats) == 0);
    }
}
#endif

int main(void) {
    check_every_half();
    check_rounding();
#if defined(__x86_64__)
    if (__builtin_cpu_supports("f16c")) {
        check_f16c();
    }
#endif
    return 0;
}
