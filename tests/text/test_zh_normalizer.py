import re
import sys
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.growth import assert_linear
from twinvox.errors import RuntimeUnavailableError
from twinvox.text import zh_normalizer
from twinvox.text.zh_normalizer import normalize

TABLE = Path(__file__).parent / "data" / "zh_normalization.tsv"
CASES = [
    tuple(line.split("\t"))
    for line in TABLE.read_text(encoding="utf-8").splitlines()
    if not line.startswith("# ")
]


def test_the_table_is_large():
    assert len(CASES) >= 300


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_figures(text, expected):
    assert normalize(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("今天天气很好，我们去公园玩吧。", "今天天气很好，我们去公园玩吧。"),
        ("  你好   世界  ", "你好世界"),
        ("你好，", "你好。"),
        ("苹果、香蕉、", "苹果、香蕉。"),
        ("苹果（Apple）公司", "苹果Apple公司"),
        ("他（小明的哥哥）来了。", "他，小明的哥哥，来了。"),
        ("（一）总则", "一，总则"),
        ("他来了（真的）。", "他来了，真的。"),
        ("未完（待续", "未完待续"),
        ("【通知】明天放假", "通知，明天放假"),
        ("我们走了——他没有来", "我们走了，他没有来"),
        ("今天 - 明天", "今天，明天"),
        ("北京-上海高铁", "北京-上海高铁"),
        ("他说...好吧", "他说……好吧"),
        ("他说。。。好吧", "他说……好吧"),
        ("真的? 是的! 好.", "真的？是的！好。"),
        ("我用iPhone,他用安卓.", "我用iPhone，他用安卓。"),
        ("他来自U.S.", "他来自U.S."),
        ("\"你好,\"他说.", "\"你好，\"他说。"),
        ("他说：“好。”然后走了。", "他说：“好。”然后走了。"),
        ("第一行\n第二行", "第一行，第二行"),
        ("第一句。\n第二句。", "第一句。第二句。"),
        ("标题\n\n正文", "标题。正文"),
        ("标题\r\n\r\n正文", "标题。正文"),
        ("第一段。\n\n第二段！\n\n“第三段？”\n第四段", "第一段。第二段！“第三段？”第四段"),
        ("| 项目 | 费用 |\n|---|:--:|\n| 住宿 | 3元 |\n完", "项目，费用，住宿，三元，完"),
        ("求|x|<1的解", "求|x|小于一的解"),
        ("- 苹果\n- 3个橘子\n  * 香蕉", "苹果，三个橘子，香蕉"),
        ("男/女", "男、女"),
        ("张三&李四", "张三和李四"),
        ("**重点**：`代码`", "重点：代码"),
        ("# 标题", "标题"),
        ("用C#和C++写的", "用C#和C++写的"),
        ("好的~", "好的"),
        ("太好了！😀", "太好了！"),
        ("零\u200b宽", "零宽"),
        ("ＡＢＣ公司", "ABC公司"),
        ("见https://example.com", "见example点com"),
        ("每㎡的价格是每m²的", "每㎡的价格是每m的平方的"),
    ],
)  # fmt: skip
def test_marks_and_spaces(text, expected):
    assert normalize(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" 今天\n很好 ", "今天很好"),
        ("2024年3月10日", "二零二四年三月一零日"),
        ("面积5m²，体积3m³", "面积五m平方，体积三m立方"),
        ("他说. 好的", "他说。好的"),
        ("今天 - 明天", "今天，明天"),
        ("用 iPhone Pro 手机", "用iPhone Pro手机"),
        ("（一）【二】`三`", "一二三"),
        ("走了——他", "走了 他"),
        ("你好，", "你好。"),
        ("你好,、", "你好。"),
        ("3.14是圆周率", "三。一四是圆周率"),
    ],
)
def test_the_rule_set_of_the_reference(text, expected):
    assert normalize(text, "zh-basic") == expected


@pytest.mark.parametrize("normalization", ["zh", "zh-basic", "none"])
@pytest.mark.parametrize(
    "text", ["", "Hello, 2024.", "￥100", "12:30", "アイウ 5", "你好<|endofprompt|>5 "]
)
def test_what_is_returned_as_it_is(text, normalization):
    assert normalize(text, normalization) == text


def test_prenormalized_text_and_none_are_returned_as_they_are():
    assert normalize(" 第 5 章, ", prenormalized=True) == " 第 5 章, "
    assert normalize(" 第 5 章, ", "none") == " 第 5 章, "
    assert normalize("第5章 |> <|", "zh") == "第5章 |> <|"
    assert normalize("第5章 <|", "zh") == "第五章<|"


@pytest.mark.parametrize("normalization", ["zh", "zh-basic", "none"])
def test_what_is_kept(normalization):
    kept = re.compile(r"\[breath\]|\[AA0\]|\[j\]|\[ǐ\]|</?strong>")
    text = "他[j][ǐ]乎<strong>没</strong>说，[breath]只有[AA0]。"
    assert normalize(text, normalization, kept=kept) == text
    assert normalize("第5章[breath]\ufdd0", "zh", kept=kept) == "第五章[breath]"
    assert normalize("第5章[笑]", "zh", kept=kept) == normalize("第5章[笑]") == "第五章笑。"


def test_an_unknown_rule_set():
    with pytest.raises(ValueError, match=r"'zh-tw'; expected one of zh, zh-basic, wetext, none"):
        normalize("Hello", "zh-tw", prenormalized=True)


def test_wetext_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "wetext", None)
    zh_normalizer._wetext.cache_clear()
    with pytest.raises(RuntimeUnavailableError, match=r'pip install "twinvox\[wetext\]"'):
        normalize("第5章", "wetext")


def test_wetext_is_imported_only_when_asked_for():
    normalize("第5章")
    normalize("第5章", "zh-basic")
    assert "wetext" not in sys.modules or zh_normalizer._wetext.cache_info().currsize


class TestWetext:
    """The grammars of others, where they read well."""

    @pytest.fixture(autouse=True)
    def installed(self):
        pytest.importorskip("wetext")

    def test_selected(self):
        assert normalize("第5章 占12.5%（约）", "wetext") == "第五章占百分之十二点五，约。"

    @pytest.mark.parametrize("heading", ["dates", "decimals", "fractions", "quantities", "units"])
    def test_most_of_the_table_reads_alike(self, heading):
        section = TABLE.read_text(encoding="utf-8").split(f"# {heading}\n")[1].split("\n# ")[0]
        cases = [line.split("\t") for line in section.splitlines()]
        alike = sum(normalize(text, "wetext") == expected for text, expected in cases)
        assert alike / len(cases) > 0.5

    @settings(deadline=None, max_examples=40)
    @given(
        # Theirs reads 10.1 as a date, and 110 or 12345 as telephone numbers whatever is counted.
        (st.integers(32, 999) | st.integers(100_000, 10**9)).filter(
            lambda whole: whole not in (110, 111, 112, 114, 119, 120, 122)
        ),
        st.integers(0, 9999),
        st.dates(date(1000, 1, 1), date(2999, 12, 31)),
        st.integers(3, 23),
        st.integers(0, 59),
    )
    def test_figures_read_alike(self, whole, decimals, day, hour, minute):
        for text in (
            f"共{whole}公斤。",
            f"数值为{whole}.{decimals}左右",
            f"增长{whole}.{decimals}%",
            f"生于{day.year}年{day.month}月{day.day}日",
            f"生于{day:%Y-%m-%d}。",
            f"在{hour}:{minute:02}出发",
        ):
            theirs = normalize(text, "wetext").replace("两日", "二日")  # a fault of theirs
            assert normalize(text) == theirs


@pytest.mark.parametrize("normalization", ["zh", "zh-basic"])
@settings(deadline=None, max_examples=300)
@given(st.text(max_size=80))
def test_never_raises(normalization, text):
    normalize(text, normalization)
    normalize("中" + text, normalization)


FIGURES = "0123456789.,:/-~+×=%℃$￥()（） kgmx年月日点个元万亿第中，。½²-−—:：\n"


@settings(deadline=None, max_examples=1000)
@given(st.text(alphabet=FIGURES, max_size=40))
def test_no_digit_is_left(text):
    spoken = normalize("中" + text)
    assert not re.search("[0-9]", spoken)


def test_plain_text_is_returned_itself():
    text = "今天天气很好，我们去公园玩吧。" * 20
    assert normalize(text) == text


UNITS = [
    "1", "1-", "1,", "1,234", "(", "(中", "1:", "1.", "-", "…", "，", "、,", "1/", "1 ",
    " \n", "$1-", "1x", "1+", "a.", "010-", "2024-01-", "一-", "中~", "——", " - ", "1%-",
    "1kg", "½", "【", "*", "中/", "第1、", "[", "[](", "a⁹", "@1.", "- ", "> ",
    "1 1", "1：", "2024.1.1-", "岁+", "|", "| |\n", "www.", "http://",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear(unit):
    assert_linear(lambda text: normalize("中" + text), unit, 60_000)
    assert_linear(lambda text: normalize("中" + text, "zh-basic"), unit, 60_000)
