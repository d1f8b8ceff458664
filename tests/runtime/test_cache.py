import multiprocessing
import os

import pytest

from twinvox.runtime import cache as cache_module
from twinvox.runtime.cache import _hash_file as _hash
from twinvox.runtime.cache import cached, content_key


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TWINVOX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_an_entry_is_built_once():
    builds = []

    def build():
        builds.append(1)
        return b"graph"

    assert [cached("key", build) for _ in range(3)] == [b"graph"] * 3
    assert len(builds) == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[:10],
        lambda data: b"",
        lambda data: data + b"x",
        lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
    ],
)
def test_a_damaged_entry_is_rebuilt(cache, damage):
    cached("key", lambda: b"a graph of some length")
    entry = cache / "graphs" / "key"
    entry.write_bytes(damage(entry.read_bytes()))
    assert cached("key", lambda: b"rebuilt") == b"rebuilt"
    assert cached("key", lambda: b"unused") == b"rebuilt"


def test_a_failed_build_leaves_nothing(cache):
    with pytest.raises(ZeroDivisionError):
        cached("key", lambda: 1 // 0)
    assert not list(cache.rglob("*key*"))


def test_a_folder_that_cannot_be_written_is_logged(cache, caplog):
    cache.write_text("a file where the folder should be")
    assert cached("key", lambda: b"graph") == b"graph"
    assert "cannot store" in caplog.text


def _fill(folder, results):
    os.environ["TWINVOX_CACHE_DIR"] = folder
    for index in range(20):
        results.put(cached(f"key{index}", lambda: b"x" * 100_000) == b"x" * 100_000)


def test_several_processes_share_one_cache(cache):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [context.Process(target=_fill, args=(str(cache), results)) for _ in range(3)]
    for worker in workers:
        worker.start()
    assert all(results.get(timeout=60) for _ in range(60))
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert sorted(path.name for path in (cache / "graphs").iterdir()) == sorted(
        f"key{index}" for index in range(20)
    )


def test_the_key_follows_content_name_and_salt(tmp_path):
    path = tmp_path / "model.mlmodel"
    path.write_bytes(b"one")
    key = content_key([path], "1")
    assert content_key([path], "1") == key
    assert content_key([path], "2") != key
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (moved / "model.mlmodel").write_bytes(b"one")
    assert content_key([moved / "model.mlmodel"], "1") == key
    path.write_bytes(b"two")
    assert content_key([path], "1") != key


def test_a_large_file_is_hashed_once_until_it_changes(tmp_path, monkeypatch):
    path = tmp_path / "weight.bin"
    path.write_bytes(bytes(1 << 24))
    hashed = []
    monkeypatch.setattr(cache_module, "_hash_file", lambda path: hashed.append(path) or _hash(path))
    fresh = content_key([path])
    assert content_key([path]) == fresh
    assert len(hashed) == 2, "a file written just now may change again within the clock's grain"
    monkeypatch.setattr(cache_module, "_SETTLED_NS", 0)
    assert [content_key([path]) for _ in range(3)] == [fresh] * 3
    assert len(hashed) == 3
    status = path.stat()
    with path.open("r+b") as stream:
        stream.write(b"x")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert content_key([path]) != fresh
    assert len(hashed) == 4
