/* The passes of the portable FFT, compiled once for each simd_level. */
#include "fft_plan.h"
#include "lanes.h"

typedef struct {
    lanes re, im;
} point;

INLINE point add(point a, point b) {
    return (point){a.re + b.re, a.im + b.im};
}

INLINE point subtract(point a, point b) {
    return (point){a.re - b.re, a.im - b.im};
}

INLINE point scale(point a, double factor) {
    return (point){a.re * factor, a.im * factor};
}

INLINE point times_minus_i(point a) {
    return (point){a.im, -a.re};
}

INLINE point times_root(point a, const double *root) {
    return (point){a.re * root[0] - a.im * root[1], a.re * root[1] + a.im * root[0]};
}

INLINE void dft2(point z[2]) {
    const point a = z[0];
    z[0] = add(a, z[1]);
    z[1] = subtract(a, z[1]);
}

INLINE void dft3(point z[3]) {
    const double sin_third = 0.86602540378443865;
    const point sum = add(z[1], z[2]);
    const point turned = times_minus_i(scale(subtract(z[1], z[2]), sin_third));
    const point middle = subtract(z[0], scale(sum, 0.5));
    z[0] = add(z[0], sum);
    z[1] = add(middle, turned);
    z[2] = subtract(middle, turned);
}

INLINE void dft4(point z[4]) {
    const point even_sum = add(z[0], z[2]);
    const point even_difference = subtract(z[0], z[2]);
    const point odd_sum = add(z[1], z[3]);
    const point odd_turned = times_minus_i(subtract(z[1], z[3]));
    z[0] = add(even_sum, odd_sum);
    z[1] = add(even_difference, odd_turned);
    z[2] = subtract(even_sum, odd_sum);
    z[3] = subtract(even_difference, odd_turned);
}

INLINE void dft5(point z[5]) {
    const double cos1 = 0.30901699437494742, cos2 = -0.80901699437494742;
    const double sin1 = 0.95105651629515357, sin2 = 0.58778525229247313;
    const point sum1 = add(z[1], z[4]), difference1 = subtract(z[1], z[4]);
    const point sum2 = add(z[2], z[3]), difference2 = subtract(z[2], z[3]);
    const point middle1 = add(z[0], add(scale(sum1, cos1), scale(sum2, cos2)));
    const point middle2 = add(z[0], add(scale(sum1, cos2), scale(sum2, cos1)));
    const point turned1 = times_minus_i(add(scale(difference1, sin1), scale(difference2, sin2)));
    const point turned2 =
        times_minus_i(subtract(scale(difference1, sin2), scale(difference2, sin1)));
    z[0] = add(z[0], add(sum1, sum2));
    z[1] = add(middle1, turned1);
    z[2] = add(middle2, turned2);
    z[3] = subtract(middle2, turned2);
    z[4] = subtract(middle1, turned1);
}

/* Stockham, decimation in frequency: `stride` interleaved transforms of radix * rows points become
 * radix times as many of `rows` points, in order. */
INLINE void pass(const size_t radix, void (*dft)(point *), size_t rows, size_t stride,
                 const point *in, point *out, const double *roots) {
    for (size_t row = 0; row < rows; row++) {
        for (size_t q = 0; q < stride; q++) {
            point z[5];
            for (size_t k = 0; k < radix; k++) {
                z[k] = in[q + k * rows * stride];
            }
            dft(z);
            out[q] = z[0];
            for (size_t k = 1; k < radix; k++) {
                out[q + k * stride] = row == 0 ? z[k] : times_root(z[k], roots + 2 * (k - 1));
            }
        }
        in += stride;
        out += radix * stride;
        roots += 2 * (radix - 1);
    }
}

/* Transforms the points of a level in place or into work; returns where the result lies. */
static const point *complex_fft(const fft_level *level, point *z, point *work) {
    size_t rows = level->n / 4;
    size_t stride = 1;
    for (size_t i = 0; i < level->n_passes; i++) {
        const size_t radix = level->passes[i].radix;
        const double *roots = level->passes[i].roots;
        rows /= radix;
        switch (radix) {
        case 2:
            pass(2, dft2, rows, stride, z, work, roots);
            break;
        case 3:
            pass(3, dft3, rows, stride, z, work, roots);
            break;
        case 4:
            pass(4, dft4, rows, stride, z, work, roots);
            break;
        case 5:
            pass(5, dft5, rows, stride, z, work, roots);
            break;
        }
        stride *= radix;
        point *const result = work;
        work = z;
        z = result;
    }
    return z;
}

/* Samples i, i + n/4, i + n/2, i + 3n/4 of a level to sums i, i + n/4 and complex point i. */
INLINE point fold(const lanes x[4], const double *root, lanes *first_sum, lanes *second_sum) {
    *first_sum = x[0] + x[2];
    *second_sum = x[1] + x[3];
    return times_root((point){x[0] - x[2], x[3] - x[1]}, root);
}

static void fold_frames(const fft_level *level, const float *const *frames, const double *window,
                        lanes *sums, point *z) {
    const size_t quarter = level->n / 4;
    for (size_t i = 0; i < quarter; i += 4) {
        lanes columns[4][4];
        for (size_t part = 0; part < 4; part++) {
            load_columns(frames, i + part * quarter, columns[part]);
        }
        for (size_t k = i; k < i + 4; k++) {
            lanes x[4];
            for (size_t part = 0; part < 4; part++) {
                x[part] = columns[part][k - i] * window[k + part * quarter];
            }
            z[k] = fold(x, level->roots + 2 * k, &sums[k], &sums[k + quarter]);
        }
    }
}

static void fold_sums(const fft_level *level, lanes *sums, point *z) {
    const size_t quarter = level->n / 4;
    for (size_t k = 0; k < quarter; k++) {
        lanes x[4];
        for (size_t part = 0; part < 4; part++) {
            x[part] = sums[k + part * quarter];
        }
        z[k] = fold(x, level->roots + 2 * k, &sums[k], &sums[k + quarter]);
    }
}

INLINE float_lanes power_of(point z) {
    return __builtin_convertvector(z.re * z.re + z.im * z.im, float_lanes);
}

/* Point k is bin 4k + 1 of a level, mirrored where that is beyond its half; the level's bins are
 * `step` apart. */
static void store_power(const point *spectrum, size_t n_points, size_t step, float_lanes *power) {
    const size_t n_below = (n_points + 1) / 2;
    float_lanes *to = power + step;
    for (size_t k = 0; k < n_below; k++, to += 4 * step) {
        *to = power_of(spectrum[k]);
    }
    to = power + 3 * step;
    for (size_t k = n_points; k-- > n_below; to += 4 * step) {
        *to = power_of(spectrum[k]);
    }
}

/* The few reals below the last level, by the definition of the transform. */
static void transform_rest(const fft_plan *plan, const lanes *x, float_lanes *power) {
    const size_t half = plan->rest / 2;
    const double *root = plan->rest_roots;
    for (size_t k = 0; k <= half; k++) {
        point sum = {{0}, {0}};
        for (size_t j = 0; j < half; j++, root += 2) {
            const lanes sample = k % 2 == 0 ? x[j] + x[j + half] : x[j] - x[j + half];
            sum.re += sample * root[0];
            sum.im += sample * root[1];
        }
        power[k << plan->n_levels] = power_of(sum);
    }
}

void LEVEL_NAME(fft_power)(const fft_plan *plan, const float *const *frames, const double *window,
                           void *scratch, float *power) {
    const size_t n = plan->n;
    lanes *sums = scratch;
    point *z = (point *)(sums + n / 2);
    point *work = z + n / 4;
    float_lanes *out = (float_lanes *)power;
    for (size_t i = 0; i < plan->n_levels; i++) {
        const fft_level *level = &plan->levels[i];
        if (i == 0) {
            fold_frames(level, frames, window, sums, z);
        } else {
            fold_sums(level, sums, z);
        }
        const point *spectrum = complex_fft(level, z, work);
        store_power(spectrum, level->n / 4, (size_t)1 << i, out);
    }
    transform_rest(plan, sums, out);
}
