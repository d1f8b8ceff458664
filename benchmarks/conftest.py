"""Each file measures one hot path with its peers beside it, all on one thread.

Results of peers are checked against ours, so that the comparison is of the same work; times are
never asserted. A run ends with one table of all; see table.py for what stands beside what.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")


def pytest_terminal_summary(terminalreporter, config):
    from benchmarks.table import layout, rows
    from twinvox.bench.run import machine

    measured = [row for row in config._benchmarksession.benchmarks if row.stats.data]
    if measured:
        terminalreporter.section("medians; a ratio above 1 is twinvox ahead")
        terminalreporter.write_line(machine())
        for line in layout(rows(measured)):
            terminalreporter.write_line(line)
