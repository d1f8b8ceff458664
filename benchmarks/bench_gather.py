"""250 rows of a memory-mapped embedding table to float32 beside NumPy and torch."""

import numpy as np
import pytest
from safetensors.numpy import save_file

from twinvox.tables import EmbeddingTable

SHAPE = (6761, 896)

pytestmark = pytest.mark.benchmark(group="gather 250 x 896")


@pytest.fixture(scope="module", params=[np.float16, np.float32], ids=["float16", "float32"])
def table(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "table.safetensors"
    values = np.random.default_rng(0).standard_normal(SHAPE, np.float32).astype(request.param)
    save_file({"speech_embedding": values}, path)
    return EmbeddingTable.open(path, "speech_embedding", SHAPE)


@pytest.fixture
def ids():
    return np.random.default_rng(1).integers(0, SHAPE[0], 250).astype(np.int32)


@pytest.fixture
def out():
    return np.empty((250, SHAPE[1]), np.float32)


def test_twinvox(benchmark, table, ids, out):
    benchmark(table.gather, ids, out)
    np.testing.assert_array_equal(out, table.values[ids])


def test_numpy(benchmark, table, ids, out):
    def gather():
        out[...] = table.values[ids]

    benchmark(gather)


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_torch(benchmark, table, ids, out):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    weights = torch.from_numpy(table.values)
    index, target = torch.from_numpy(ids), torch.from_numpy(out)

    def gather():
        target.copy_(torch.nn.functional.embedding(index, weights))

    benchmark(gather)


@pytest.mark.benchmark(group="gather 1 x 896")
def test_twinvox_one_row(benchmark, table, ids, out):
    benchmark(table.gather, ids[:1], out[:1])
