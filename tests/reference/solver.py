"""The anchor-Euler step in float64."""

import numpy as np


def anchor_euler_step(x, v, t, t_next, last):
    x, v = x.astype(np.float64), v.astype(np.float64)
    x1 = x + (1 - t) * v
    x0 = x - t * v
    return x1 if last else (1 - t_next) * x0 + t_next * x1
