"""Calling one kernel from eight threads at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

N_THREADS = 8


def in_threads(function):
    """The results of eight calls function(i), i < 8, that start together."""
    barrier = threading.Barrier(N_THREADS)

    def call(i):
        barrier.wait()
        return function(i)

    with ThreadPoolExecutor(N_THREADS) as pool:
        return list(pool.map(call, range(N_THREADS)))
