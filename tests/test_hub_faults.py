"""Every fault of the hub, the network and the disk is named, and nothing damaged stays."""

import errno
import json
import os
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

import huggingface_hub
import pytest

from tests import hub_server
from tests.hub_repository import (
    BIG,
    FILES,
    REPOSITORY,
    WANTED,
    blobs,
    contents,
    damage_html,
    damage_missing,
    damage_other_commit,
    damage_pointer,
    damage_truncated,
    fetched,
    free_bytes,
    repository_files,
)
from twinvox import hub
from twinvox.errors import DownloadError, ModelFormatError, ModelNotFoundError, ModelWarning
from twinvox.hub.download import endpoint
from twinvox.hub.places import HubCache, PlainFolder


@pytest.fixture
def server(tmp_path, monkeypatch):
    """An empty cache and a hub with the LuxTTS repository."""
    with hub_server.connected(monkeypatch, tmp_path) as running:
        running.publish(REPOSITORY, repository_files())
        yield running


def test_a_dropped_connection_is_resumed(server):
    server.fail(f"GET {BIG}", hub_server.drop)
    root = fetched()
    content = repository_files()[BIG]
    assert (root / BIG).read_bytes() == content
    assert server.ranges == [f"bytes={len(content) // 2 // 1024 * 1024}-"]


@pytest.mark.parametrize("dropped", [False, True])
def test_the_bar_counts_every_byte_once(server, monkeypatch, dropped):
    bars = []

    @contextmanager
    def bar(total_bytes: int, what: str):
        bars.append([what, total_bytes, 0])
        yield SimpleNamespace(update=partial(add, bars[-1]))

    def add(seen: list, n: float) -> None:
        seen[2] += n

    monkeypatch.setattr(hub, "progress_bar", bar)
    if dropped:
        server.fail(f"GET {BIG}", hub_server.drop)
    root = fetched()
    total = sum(len(repository_files()[path]) for path in WANTED)
    assert bars == [["LuxTTS", total, total]]
    damage_missing(root / BIG)
    with pytest.warns(ModelWarning):
        fetched()
    size = len(repository_files()[BIG])
    assert bars[1:] == [["LuxTTS", size, size]]


def test_the_disk_fills_up_in_the_middle(server, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/hf/blobs/1")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", full)
    with pytest.raises(DownloadError, match=r"No space left on device \(/hf/blobs/1\).*are kept"):
        fetched()


def test_a_cache_that_may_only_be_read_is_used(server, monkeypatch):
    """Another program has fetched everything; the receipt cannot be written beside it."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    root = fetched()
    HubCache.of(REPOSITORY).receipt.unlink()
    monkeypatch.setattr(hub.Receipt, "write", refuse)
    server.requests.clear()
    with pytest.warns(
        ModelWarning, match=r"cannot note in .*twinvox\.json .*Read-only file system"
    ):
        assert fetched() == root
    assert server.gets("resolve") == []


def test_after_a_failure_only_the_rest_is_fetched(server):
    server.fail("GET gpu/TextEncoder.mlmodelc/weights/weight.bin", hub_server.status(500), 50)
    with pytest.raises(DownloadError, match=r"TextEncoder.*answered 500.*are kept"):
        fetched()
    server.faults.clear()
    before = set(server.gets("resolve"))
    server.requests.clear()
    fetched()
    assert before
    assert not before & set(server.gets("resolve"))


@pytest.mark.parametrize(
    ("request_", "fault", "times", "message"),
    [
        ("GET /api/", hub_server.status(401), 1, "401.*private, gated or gone.*HF_TOKEN"),
        ("GET /api/", hub_server.status(403), 1, "403.*log in"),
        ("GET /api/", hub_server.status(404), 1, "404.*does not exist"),
        (
            "GET /api/",
            hub_server.status(404, X_Error_Code="RevisionNotFound"),
            1,
            "luxtts-coreml at main.*no such revision",
        ),
        ("GET /api/", hub_server.status(429), 1, "429.*too many requests"),
        ("GET /api/", hub_server.status(503), 1, "503.*later"),
        ("GET /api/", hub_server.html, 1, "not the hub's, perhaps a login"),
        ("HEAD tokens.txt", hub_server.status(401), 9, "tokens.txt.*401.*gated"),
        (
            "HEAD tokens.txt",
            hub_server.status(403, X_Error_Code="GatedRepo"),
            9,
            "tokens.txt.*403.*accept its terms",
        ),
        ("HEAD tokens.txt", hub_server.status(404), 9, "tokens.txt.*404"),
        ("HEAD tokens.txt", hub_server.status(429), 99, "tokens.txt.*429"),
        ("HEAD tokens.txt", hub_server.status(500), 99, "tokens.txt.*500"),
        ("HEAD tokens.txt", hub_server.html, 9, "tokens.txt.*not the hub's"),
        ("HEAD tokens.txt", hub_server.other_commit, 9, "tokens.txt.*another commit"),
        (f"GET {BIG}", hub_server.status(429), 99, "FmDecoder.*429.*are kept"),
        (f"GET {BIG}", hub_server.status(502), 99, "FmDecoder.*502"),
        (f"GET {BIG}", hub_server.html, 9, "FmDecoder.*ended early.*41,?088"),
        (f"GET {BIG}", hub_server.html_of_right_size, 9, "FmDecoder.*is an HTML page.*twice"),
        (f"GET {BIG}", hub_server.flipped, 9, "FmDecoder.*other content.*twice"),
        (f"GET {BIG}", hub_server.short, 9, "FmDecoder.*ended early"),
    ],
)
def test_faults_are_explained_and_leave_nothing_damaged(server, request_, fault, times, message):
    server.fail(request_, fault, times)
    with pytest.raises(DownloadError, match=message):
        fetched()
    assert all(path.name == hub_server.etag(path.read_bytes()) for path in blobs())
    with pytest.raises(ModelNotFoundError):
        hub.ensure("luxtts", FILES, offline=True)
    server.faults.clear()
    assert contents(fetched()).keys() == set(WANTED)


@pytest.mark.parametrize("up", ["../../../../../..", "../../.."])
def test_a_hub_cannot_touch_files_outside(server, tmp_path, up):
    """Above the snapshot in the cache, and above a folder of the user's."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path = f"gpu/TextEncoder.mlmodelc/{up}/../victim"
    server.publish(REPOSITORY, repository_files() | {path: b"evil"})
    for place in (HubCache.of(REPOSITORY), PlainFolder(tmp_path / "a" / "b")):
        with pytest.raises(DownloadError, match=r"what no hub does .*victim.*check HF_ENDPOINT"):
            hub.pull(hub.published("luxtts"), FILES, place)
    assert victim.read_text() == "precious"
    assert server.gets("resolve") == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sha": "../../../../victim"}, "what no hub does .a commit '../"),
        ({"sha": None}, "what no hub does .a commit None"),
        ({"siblings": [{"rfilename": "tokens.txt"}]}, "what no hub does .*size and hash"),
        ({"siblings": [{"rfilename": "a", "size": -1, "blobId": "0" * 40}]}, "size and hash"),
        ({"siblings": [{"rfilename": "a", "size": 1, "blobId": None}]}, "what no hub does"),
        ({"siblings": [{"size": 1}]}, "not the hub's"),
        ({"siblings": ["tokens.txt"]}, "not the hub's"),
    ],
)
def test_what_the_hub_declares_is_checked(server, monkeypatch, change, message):
    answer = hub_server.Handler._info

    def changed(handler, *repository):
        body, headers, code = answer(handler, *repository)
        return json.dumps(json.loads(body) | change).encode(), headers, code

    monkeypatch.setattr(hub_server.Handler, "_info", changed)
    with pytest.raises(DownloadError, match=message):
        fetched()
    assert server.gets("resolve") == []


@pytest.mark.parametrize(
    "fault",
    [hub_server.html_of_right_size, hub_server.flipped, hub_server.drop],
)
def test_a_fault_that_passes_goes_unnoticed(server, fault):
    server.fail(f"GET {BIG}", fault)
    root = fetched()
    assert (root / BIG).read_bytes() == repository_files()[BIG]


def test_a_wrong_range_is_noticed(server):
    server.fail(f"GET {BIG}", hub_server.drop)
    server.fail(f"GET {BIG}", hub_server.wrong_range)
    root = fetched()
    assert (root / BIG).read_bytes() == repository_files()[BIG]
    assert len(server.gets(BIG)) == 3


def test_no_hub_at_all(server, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DownloadError, match=r"no answer from http://127\.0\.0\.1:9.*refused"):
        fetched()


def test_an_empty_endpoint_is_the_public_hub(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "")
    assert endpoint() == "https://huggingface.co"


def test_a_repository_that_is_laid_out_anew(server):
    files = {p: c for p, c in repository_files().items() if not p.startswith("vocoder/")}
    server.publish(REPOSITORY, files)
    with pytest.raises(DownloadError, match=r"has no vocoder/Vocoder\*\.mlmodelc/\*; check"):
        fetched()
    assert server.gets("resolve") == []


def test_the_disk_must_have_room(server, monkeypatch):
    free_bytes(monkeypatch, 40_000)
    with pytest.raises(DownloadError, match=r"need 0\.00 GB more, and 0\.00 GB are free.*HF_HOME"):
        fetched()
    assert server.gets("resolve") == []


@pytest.mark.parametrize(
    "damage",
    [damage_truncated, damage_html, damage_other_commit, damage_missing, damage_pointer],
)
def test_a_damaged_file_is_named_and_fetched_again(server, damage):
    root = fetched()
    problem = damage(root / BIG)
    with pytest.raises(ModelFormatError, match=f"{BIG} .*{problem}.*twinvox models pull luxtts"):
        hub.ensure("luxtts", FILES, offline=True)
    server.requests.clear()
    with pytest.warns(ModelWarning, match=f"{BIG} .*{problem}.*fetching again"):
        assert fetched() == root
    assert (root / BIG).read_bytes() == repository_files()[BIG]
    assert len(server.gets("resolve") + server.gets("cdn")) == 1
    assert fetched() == root


def test_a_damaged_file_that_arrives_damaged_is_asked_for_twice(server):
    root = fetched()
    damage_other_commit(root / BIG)
    server.fail(f"GET {BIG}", hub_server.flipped)
    with pytest.warns(ModelWarning):
        assert fetched() == root
    assert (root / BIG).read_bytes() == repository_files()[BIG]


def test_verify_finds_a_flipped_byte_that_looks_untouched(server):
    root = fetched()
    place = HubCache.of(REPOSITORY)
    receipt, problems = hub.verify(place)
    assert sorted(receipt.files) == WANTED
    assert problems == {}
    status = (root / BIG).stat()
    damage_other_commit(root / BIG)
    os.utime(root / BIG, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert fetched() == root
    assert list(hub.verify(place)[1]) == [BIG]
    with pytest.warns(ModelWarning, match="other content"):
        assert fetched() == root
    assert (root / BIG).read_bytes() == repository_files()[BIG]
    assert hub.verify(place)[1] == {}


def test_a_file_that_was_only_touched_is_sound(server):
    root = fetched()
    os.utime(root / BIG, ns=(1, 1))
    server.requests.clear()
    assert hub.ensure("luxtts", FILES, offline=True) == root
    assert server.requests == []
