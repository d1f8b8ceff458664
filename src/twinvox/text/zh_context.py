"""How a bare number is read by what stands around it: a quantity, a year, a code, a score."""

import re
from typing import NamedTuple, Self

from twinvox.text.zh_numbers import cardinal, digits, number, spelled
from twinvox.text.zh_units import COUNTED_WITH_LIANG

_BEFORE, _AFTER = 14, 8

_SCORE_BEFORE = re.compile(r"(?:以|(?:比[分例]|赔率)(?:大?约)?[为是]?[：:]? ?)\Z")
_SCORE_AFTER = re.compile(
    " ?(?:战胜|击败|[大险小完获取]胜|逆转|不敌|负于|惜败|落败|败给|告负|[输赢]了?|领先|落后|战平|"
    "力克|淘汰|稀释|混合|兑[水换]|的?(?:配?比[分例]|屏|画面|画幅|显示器))"
)
_LISTED_SCORE = re.compile(r"(?<!\d)(\d{1,2})-(\d{1,2}) ?[、，,] ?\Z", re.ASCII)
_CODE_BEFORE = re.compile(
    "(?:验证码|取[件货]码|提取码|激活码|邀请码|兑换码|邮编|邮政编码|密码|编号|代码|号码|学号|工号|尾号|卡号|账号|账户|房号|单号|身份证|车牌|"
    r"口令|(?<![A-Za-z])(?:QQ|ID|ISBN)|拨打|致电|热线|电话|客服|总机|分机|拨|\d ?转)"
    r"号?[是为]?[：:]? ?\Z",
    re.ASCII,
)
_CODE_AFTER = re.compile(
    " ?(?:室|房(?![子价费车东贷租屋产])|号房|教室|会议室|办公室|病房|医院|[国省县]道|"
    r"路(?:[公车站到去，。、]|\Z)|次列车|次航班|航班)"
)
_HOTLINE = re.compile(r"11[0249]|12[02]|100\d\d|123\d\d|9[56]\d{3}", re.ASCII)
_HOTLINE_BEFORE = re.compile("(?:打|短信[到至给])\\Z")
_HOTLINE_AFTER = re.compile(
    " ?(?:报警|火警|急救|热线|电话|购票|查询|客服|网站|官网|平台|投诉|举报|咨询)"
)
_NAME_BEFORE = re.compile(r"[A-Za-z][-·–]?\Z")
_NAME_BEFORE_BLANK = re.compile(r"[A-Za-z] \Z")
_LATIN_AFTER = re.compile("(?!(?:[GMKTgmkt][Bb]?|[VWw])(?![A-Za-z]))[A-Za-z]")  # no size: 500G
_NAME_AFTER = re.compile(
    r"后(?![来天年面期台续退])|高校|工程|院校|大学|事件|工作制|晚会|大促|购物节|狂欢节|"
    r"飞机|客机|显卡|安全卫士|纯?银|足金|[、/和与及]\d?[05]后(?![来天年面期台续退])"
)
_UNIVERSITIES = {"985", "211"}
_UNIVERSITY_BEFORE = re.compile(r"(?:985|211)[、和与及或]\Z")
_UNIVERSITY_AFTER = re.compile("[、和与及或](?:985|211)")
_DECIMALS_BEFORE = re.compile(r"\d[秒米]\Z", re.ASCII)
_DURATION_BEFORE = re.compile("(?:时长|用时|耗时|历时|片长|配速)[为是约]?[：:]? ?\\Z")
_ADDED_BEFORE = re.compile("[\u3400-\u9fff](?<![的是为到和与在])\\Z")
_APART_BEFORE = re.compile(r"(?:第|血压[是为]?[：:]?) ?\Z")
_YEAR_AFTER = re.compile(" ?(?:年(?!级)|学年|财年|赛季|奥运|世界杯|世博|亚运|欧洲杯|届|款|版)")
_BRACKETS = re.compile(r"〔〕|\[\]|\(\)|（）")
_YEAR_OF_DATE_AFTER = re.compile(r"年\d{1,2}月", re.ASCII)
_SHORT_YEAR_AFTER = re.compile(
    " ?年(?:底(?![薪蕴子层])|初(?![中恋心级期始步])|末|出生(?!率)|毕业(?!班)|[春夏秋冬][天季])"
)
_PADDED_AFTER = re.compile(" ?(?:月|日(?!元)|时|点)")
_ORDINALS_BEFORE = re.compile(
    r"第\d{1,3}(?:[、，,和与及或至到~-]\d{1,3})*+(?:[、，,和与及或至到~-]第?)?\Z", re.ASCII
)
_SPAN_AFTER = re.compile("年(?:前|来|间|历史|的?时间|以[前来上])")
_YEARS = re.compile(r"(?:1[5-9]|20)\d\d-(?:1[5-9]|20)\d\d", re.ASCII)
_DESIGNATED = set("歼轰运直强舟征宫娥风击旗斗问图苏格弹")  # aircraft, rockets, missiles


class Context(NamedTuple):
    """The characters before and after a figure."""

    before: str
    after: str

    @classmethod
    def of(cls, match: re.Match[str]) -> Self:
        text, start, end = match.string, match.start(), match.end()
        return cls(text[max(0, start - _BEFORE) : start], text[end : end + _AFTER])

    @property
    def is_score(self) -> bool:
        if _SCORE_BEFORE.search(self.before) or _SCORE_AFTER.match(self.after):
            return True
        listed = _LISTED_SCORE.search(self.before)
        return listed is not None and int(listed[1]) > int(listed[2])

    @property
    def is_code(self) -> bool:
        return bool(_CODE_BEFORE.search(self.before) or _CODE_AFTER.match(self.after))

    @property
    def is_named(self) -> bool:
        """Whether a Latin letter stands before, as in A380 and GPT-4."""
        return _NAME_BEFORE.search(self.before) is not None

    @property
    def is_counted(self) -> bool:
        """Whether a word follows that is counted with 两."""
        return COUNTED_WITH_LIANG.match(self.after) is not None

    @property
    def is_designation(self) -> bool:
        """Whether a dash before the number is part of a name, as in 神舟-13."""
        return self.before[-1:] in _DESIGNATED

    @property
    def is_apart(self) -> bool:
        """Whether two numbers with a slash between them are no fraction: blood pressure, pages."""
        return _APART_BEFORE.search(self.before) is not None

    @property
    def is_named_after(self) -> bool:
        """Whether what follows makes the digits a name, as 后 in 90后."""
        return _NAME_AFTER.match(self.after) is not None

    @property
    def is_duration(self) -> bool:
        """Whether what a colon divides are minutes and seconds, not a time of day."""
        return _DURATION_BEFORE.search(self.before) is not None

    @property
    def is_added(self) -> bool:
        """Whether a plus sign before the number adds it to something."""
        return _ADDED_BEFORE.search(self.before) is not None

    def is_year(self, text: str) -> bool:
        if _YEAR_OF_DATE_AFTER.match(self.after):
            return len(text) in (2, 4)
        if len(text) != 4:
            return False
        if text[:2] in ("19", "20") and _BRACKETS.fullmatch(self.before[-1:] + self.after[:1]):
            return True
        if not _YEAR_AFTER.match(self.after):
            return False
        return text[0] in "12" and not (text.endswith("00") and _SPAN_AFTER.match(self.after))

    def read(self, text: str) -> str:
        """A number without unit."""
        if not text.isdigit():
            return number(text)
        if len(text) >= 3 and self._is_spelled(text):
            return spelled(text)
        if self._is_digit_by_digit(text):
            return digits(text)
        if text == "2" and self.is_counted and not (self.is_named or self._is_ordinal):
            return "两"
        return cardinal(text)

    @property
    def _is_ordinal(self) -> bool:
        return self.before.endswith("第") or _ORDINALS_BEFORE.search(self.before) is not None

    def _is_spelled(self, text: str) -> bool:
        called = _HOTLINE_BEFORE.search(self.before) or _HOTLINE_AFTER.match(self.after)
        hotline = called and _HOTLINE.fullmatch(text) and not self.is_counted
        return self.is_code or bool(hotline)

    def _is_digit_by_digit(self, text: str) -> bool:
        if len(text) == 1:
            return False
        if len(text) == 2 and text[0] == "0" and self._is_padded:
            return False
        if text[0] == "0" or self.is_year(text) or self.is_named_after:
            return True
        if len(text) == 2:
            if _SHORT_YEAR_AFTER.match(self.after) and not self.before.endswith("第"):
                return True
            return _DECIMALS_BEFORE.search(self.before) is not None
        if text in _UNIVERSITIES and (
            _UNIVERSITY_BEFORE.search(self.before) or _UNIVERSITY_AFTER.match(self.after)
        ):
            return True
        if self.is_named or _LATIN_AFTER.match(self.after):
            return True
        blank = _NAME_BEFORE_BLANK.search(self.before) and not self.is_counted
        return bool(blank) or self.before.endswith(("公元", "公元前"))

    @property
    def _is_padded(self) -> bool:
        """Whether a nought before a month, day or hour is silent, as in 03月05日."""
        day = self.before.endswith("月") and self.after.startswith("号")
        return day or _PADDED_AFTER.match(self.after) is not None

    def read_pair(self, first: str, second: str) -> str:
        """Two bare numbers with a dash between them; empty where they are a range."""
        if self.is_code:
            return spelled(first + second)
        if len(first) == 4 and self.is_year(first) and len(second) == 2:
            return f"{digits(first)}到{digits(second)}"
        if _YEARS.fullmatch(f"{first}-{second}") and not self.is_counted:
            if first.endswith("00") and second.endswith("00"):
                return ""
            return f"{digits(first)}到{digits(second)}"
        if len(first) >= 3 and _NAME_BEFORE_BLANK.search(self.before):
            return f"{digits(first)}杠{digits(second)}"
        descending = float(first.replace(",", "")) >= float(second.replace(",", ""))
        if descending and self.before.endswith("满"):
            return f"{number(first)}减{number(second)}"
        nil = first == "0" and not self.after[:1].isalpha()
        apart = (descending or nil) and len(first) <= 3 and not self.is_counted
        if self.is_score or apart:
            return f"{number(first)}比{number(second)}"
        return spelled(first + second) if descending and (first + second).isdigit() else ""
