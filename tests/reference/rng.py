"""xoshiro256++ and splitmix64 on Python integers, Box-Muller in float64 on a float32 u."""

import math

import numpy as np

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def derive_seed(seed, index):
    return mix((mix(seed + GOLDEN & MASK) + (index + 1) * GOLDEN) & MASK)


def rotate_left(x, k):
    return (x << k | x >> (64 - k)) & MASK


class Rng:
    def __init__(self, seed):
        self.state = [mix(seed + i * GOLDEN & MASK) for i in range(1, 5)]

    def draw(self):
        s = self.state
        result = rotate_left(s[0] + s[3] & MASK, 23) + s[0] & MASK
        t = s[1] << 17 & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate_left(s[3], 45)
        return result

    def uniform(self, n):
        return [(self.draw() >> 40) / 2**24 for _ in range(n)]

    def gaussian(self, n):
        normals = []
        while len(normals) < n:
            draw = self.draw()
            u = float(np.float32(draw >> 33) + np.float32(0.5)) / 2**31
            radius = math.sqrt(-2 * math.log(u))
            angle = 2 * math.pi * (draw >> 8 & 0xFFFFFF) / 2**24
            normals += [radius * math.cos(angle), radius * math.sin(angle)]
        return normals[:n]
