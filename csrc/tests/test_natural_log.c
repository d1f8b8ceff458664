#include <float.h>
#include <math.h>

#include "check.h"
#include "natural_log.h"

static float from_bits(int32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double ulps(float got, double expected) {
    const float nearest = (float)expected;
    const double ulp = fabs((double)nextafterf(nearest, INFINITY) - nearest);
    return fabs(got - expected) / ulp;
}

int main(void) {
    double worst = 0.0;
    for (int32_t bits = 0x00800000; bits < 0x7f800000; bits += 1009) {
        const float x = from_bits(bits);
        worst = fmax(worst, ulps(natural_log(x), log((double)x)));
    }
    for (int32_t bits = 0x3f7f0000; bits < 0x3f810000; bits++) { /* around 1 */
        const float x = from_bits(bits);
        worst = fmax(worst, ulps(natural_log(x), log((double)x)));
    }
    printf("worst error %.3f ulp\n", worst);
    CHECK(worst <= 1.0);
    CHECK(natural_log(1.0f) == 0.0f);
    CHECK(isfinite(natural_log(FLT_MIN)) && isfinite(natural_log(FLT_MAX)));
    return 0;
}
