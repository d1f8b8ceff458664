"""Mandarin text before the model: normalisation beside wetext, and segmentation.

One call reads one sentence; the sentences take turns, so that no cache of a peer helps.
"""

import itertools

import pytest

from twinvox.text.zh_normalizer import normalize
from twinvox.text.zh_segments import MAX_BUDGET, split_speech_segments

SENTENCES = {
    "figures": [
        "苹果（Apple）公司在2024年9月10日发布了iPhone 16 Pro，售价￥7999元起。",
        "2024年第3季度营收为1234.56亿元，同比增长12.5%，环比下降3.2%。",
        "请在2024-03-15 08:30前拨打400-800-8888。",
        "气温-3~5℃，风速3.5m/s，湿度50%-60%。",
        "他今年25岁，身高1.75米，体重70kg，住在302室。",
    ],
    "plain": [
        "今天天气很好，我们去公园玩吧。",
        "床前明月光，疑是地上霜。举头望明月，低头思故乡。",
        "他一句话也没有说，只是静静地看着窗外的雨。",
    ],
}
PARAGRAPH = "今天天气很好，我们去公园玩吧。明天如果不下雨的话，我们还可以一起去爬山。" * 5


@pytest.fixture(params=SENTENCES)
def sentences(request):
    return itertools.cycle(SENTENCES[request.param])


@pytest.mark.benchmark(group="one Mandarin sentence")
class TestNormalize:
    @pytest.mark.parametrize("normalization", ["zh", "zh-basic"])
    def test_twinvox(self, benchmark, sentences, normalization):
        benchmark(lambda: normalize(next(sentences), normalization))

    def test_wetext(self, benchmark, sentences):
        pytest.importorskip("wetext")
        benchmark(lambda: normalize(next(sentences), "wetext"))


@pytest.mark.benchmark(group="180 characters to segments")
def test_segments(benchmark):
    benchmark(split_speech_segments, PARAGRAPH, MAX_BUDGET, lambda piece: True)
