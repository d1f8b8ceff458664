import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.growth import assert_linear
from twinvox.errors import TextError
from twinvox.text.zh_segments import (
    OVERSHOOT,
    estimate_speech_tokens,
    segment_budget,
    split_speech_segments,
)

BUDGET = 110


def split(text, budget=BUDGET, fits=lambda piece: True):
    pieces = split_speech_segments(text, budget, fits)
    assert "".join("".join(pieces).split()) in ("".join(text.split()), "")
    assert all(piece == piece.strip() and any(map(str.isalnum, piece)) for piece in pieces)
    return pieces


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0), ("你好", 15), ("㐀", 7.5), ("かな", 15), ("한글", 15), ("abc 1", 7.5), ("，。", 5),
        ("é", 2.5), ("你a，", 11.5), ("\ud800", 2.5), ("😀", 2.5),
    ],
)  # fmt: skip
def test_estimate(text, tokens):
    assert estimate_speech_tokens(text) == tokens


@pytest.mark.parametrize(
    ("room", "budget"), [(250, 110), (155, 110), (154, 109), (100, 55), (46, 1), (1, 1)]
)
def test_budget(room, budget):
    assert segment_budget(room) == budget


FIVE = "今天天气很好呢。明天要下雨吗？后天一定放晴！"  # 7 ideographs and a mark each: 55 tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("！！！", []),
        ("……”", []),
        (" 你好。 ", ["你好。"]),
        ("今天天气很好。我们去玩。", ["今天天气很好。我们去玩。"]),
        ("一二三四五六七八九十一二三四。", ["一二三四五六七八九十一二三四。"]),
        (FIVE, ["今天天气很好呢。", "明天要下雨吗？", "后天一定放晴！"]),
        ("第一行没有任何标点\n第二行也没有标点", ["第一行没有任何标点", "第二行也没有标点"]),
        ("圆周率约等于3.14这么多呢. 它是一个无理数。",
         ["圆周率约等于3.14这么多呢.", "它是一个无理数。"]),
        ("这是U.S. Army基地的资料呢。我们去看一看它吧。",
         ["这是U.S. Army基地的资料呢。", "我们去看一看它吧。"]),
        ("Mr. Smith和Dr. Wang都同意了。所以我们走吧。",
         ["Mr. Smith和Dr. Wang都同意了。", "所以我们走吧。"]),
        ("他想了很久很久...真的……没办法。所以我们走吧。",
         ["他想了很久很久...真的……没办法。", "所以我们走吧。"]),
        ("他大声说：“今天天气真好啊！”我们都笑了起来。",
         ["他大声说：“今天天气真好啊！”", "我们都笑了起来。"]),
        ("他大声地说:\"今天天气真好。\"我们都笑了起来。",
         ["他大声地说:\"今天天气真好。\"", "我们都笑了起来。"]),
        ("我们大家都走了。\"今天天气真好,\"她这样说道。",
         ["我们大家都走了。", "\"今天天气真好,\"她这样说道。"]),
        ("今天天气真的很好吗！！！我们去公园里玩吧？！",
         ["今天天气真的很好吗！！！", "我们去公园里玩吧？！"]),
        ("今天天气很好，真的很好。好。明天要下雨吗？",
         ["今天天气很好，真的很好。好。", "明天要下雨吗？"]),
        ("今天的天气真的很好， 。 。 明天要下雨吗？真的吗？",
         ["今天的天气真的很好， 。 。", "明天要下雨吗？真的吗？"]),
    ],
)  # fmt: skip
def test_pieces(text, expected):
    assert split(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("明天如果不下雨的话，我们还可以一起去爬山，或者划船。",
         ["明天如果不下雨的话，", "我们还可以一起去爬山，或者划船。"]),
        ("This is a sentence of many words that goes on and on without any mark to pause at all "
         "and ends here",
         ["This is a sentence of many words that goes on and",
          "on without any mark to pause at all and ends here"]),
        ("这是一个非常非常长的没有任何标点的句子它会一直延续下去",
         ["这是一个非常非常长的", "没有任何标点的句子它会一直延续下去"]),
        ("第二产业增加值四十九万二千零八十七亿元增长百分之五点三；",
         ["第二产业增加值", "四十九万二千零八十七亿元", "增长百分之五点三；"]),
        ("去年全国不良贷款余额占百分之三点五左右而今年只占百分之二",
         ["去年全国不良贷款余额占", "百分之三点五左右而今年只占百分之二"]),
        ("一二三四五六七八九十一二三四五六七八九十一二三四五六七八",
         ["一二三四五六七八九十一二三四五六", "七八九十一二三四五六七八"]),
        ("这个城市里一共居住着一千二百三十四万五千六百七十八个人",
         ["这个城市里一共居住着", "一千二百三十四万五千六百七十八个人"]),
    ],
)  # fmt: skip
def test_a_long_sentence_is_cut_at_its_best_places(text, expected):
    assert split(text) == expected


@pytest.mark.parametrize("budget", range(40, 115, 5))
@pytest.mark.parametrize(
    "whole",
    [
        "3.14",
        "U.S. Army",
        "1,234.5",
        "example.com",
        "三百二十",
        "[laughter]",
        "[j][ǐ]",
        "</strong>",
    ],
)
def test_what_stays_whole(whole, budget):
    text = f"我们一直在数一直在数直到{whole}出现的时候大家才终于停了下来"
    assert any(whole.split()[0] in piece for piece in split(text, budget))


def test_pieces_are_cut_further_until_they_fit():
    text = "今天天气很好，我们去公园玩吧。"
    assert split(text, fits=lambda piece: len(piece) <= 8) == ["今天天气很好，", "我们去公园玩吧。"]
    assert all(len(piece) <= 3 for piece in split(text, fits=lambda piece: len(piece) <= 3))


@pytest.mark.parametrize("text", ["今天", "supercalifragilistic"])
def test_an_error_only_where_nothing_fits(text):
    with pytest.raises(TextError, match=r"cannot be cut and does not fit.*prompt's transcript"):
        split(text, fits=lambda piece: False)


def test_a_tiny_budget_gives_small_pieces():
    pieces = split("今天天气很好，我们去公园玩吧。", segment_budget(10))
    assert all(estimate_speech_tokens(piece) <= 1 + OVERSHOOT for piece in pieces)


def test_ten_thousand_characters():
    pieces = split("今天天气很好，我们去公园玩。" * 715)
    assert len(pieces) == 715


TEXTS = st.lists(
    st.sampled_from(
        [
            *"你好今天零一二的了，。！？…：“”（）",
            "3.14",
            "U.S.",
            " ",
            "\n",
            '"',
            "the ",
            "...",
            "Mr.",
            "—",
        ]
    ),
    max_size=150,
).map("".join)


@settings(deadline=None, max_examples=300)
@given(TEXTS | st.text(max_size=120), st.integers(1, 120))
def test_nothing_is_lost(text, budget):
    pieces = split(text, budget)
    assert bool(pieces) == any(map(str.isalnum, text))


@settings(deadline=None, max_examples=200)
@given(TEXTS, st.integers(40, 120))
def test_the_budget_is_kept_by_all_but_marks(text, budget):
    for piece in split(text, budget):
        spoken = sum(estimate_speech_tokens(char) for char in piece if char.isalnum())
        assert spoken <= budget + OVERSHOOT


@pytest.mark.parametrize(
    "unit", ["你好。", "你", "好，", "a", " ", "a ", "。", "“", '"', "1.", "零", "\n", "."]
)
def test_time_is_linear(unit):
    def split(text):
        return split_speech_segments("中" + text, BUDGET, lambda piece: True)

    assert_linear(split, unit, 30_000)
