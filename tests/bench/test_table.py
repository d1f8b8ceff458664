"""The table at the end of ``make bench``."""

from types import SimpleNamespace

from benchmarks.table import HEADER, duration, layout, rows


def measured(group, name, median, *, param=None, params=None, **extra_info):
    return SimpleNamespace(
        group=group, name=name, fullname=f"bench.py::{name}", param=param, params=params,
        stats=SimpleNamespace(median=median), extra_info=extra_info,
    )  # fmt: skip


def test_peers_stand_beside_what_agrees_in_the_parameters_of_both():
    run = [
        measured("mel", "test_twinvox[5s-a]", 1.0, param="5s-a", params={"s": 5, "kind": "a"}),
        measured("mel", "test_twinvox[9s-a]", 2.0, param="9s-a", params={"s": 9, "kind": "a"}),
        measured("mel", "test_numpy[5s]", 3.0, param="5s", params={"s": 5}),
        measured("mel", "test_librosa", 4.0),
    ]
    assert [row[1:6] for row in rows(run)] == [
        ("5s-a", "1 s", "numpy", "3 s", "3.00x"),
        ("5s-a", "1 s", "librosa", "4 s", "4.00x"),
        ("9s-a", "2 s", "librosa", "4 s", "2.00x"),
    ]


def test_a_parameter_may_name_the_sides():
    run = [
        measured("bpe", f"test_encode[zh-{name}]", median, param=f"zh-{name}",
                 params={"name": name, "kind": "zh"})
        for name, median in (("twinvox", 0.002), ("tiktoken", 0.001))
    ]  # fmt: skip
    assert list(rows(run)) == [("bpe", "zh", "2 ms", "tiktoken", "1 ms", "0.50x", "")]


def test_without_peers_all_is_ours():
    run = [
        measured("speech", "test_first_audio[threads=1]", 5e-5, param="threads=1", rtfx=70.5),
        measured("g2p", "test_twinvox_to_ids", 1e-5),
        measured(None, "test_alone", 1.0),
    ]
    assert list(rows(run)) == [
        ("speech", "first audio threads=1", "50 us", "-", "-", "-", "rtfx 70.5"),
        ("g2p", "to ids", "10 us", "-", "-", "-", ""),
        ("bench.py::test_alone", "alone", "1 s", "-", "-", "-", ""),
    ]


def test_layout():
    assert [duration(seconds) for seconds in (2.5, 0.0312, 4e-7)] == ["2.5 s", "31.2 ms", "0.4 us"]
    head, row = layout([tuple("abcdefg")])
    assert head.split("  ")[0] == HEADER[0]
    assert row.index("b") == head.index("case")
