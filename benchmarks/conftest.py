"""Each file measures one hot path with its peers beside it, all on one thread.

Results of peers are checked against ours, so that the comparison is of the same work; times are
never asserted.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
