import json

import numpy as np
import pytest

from tests import toy_cosyvoice3 as toy
from twinvox import Voice
from twinvox.backends.cosyvoice3.frontend import Frontend
from twinvox.backends.cosyvoice3.prompt import (
    MEL_TENSOR,
    SPEAKER_TENSOR,
    SPEECH_IDS_TENSOR,
    Prompt,
)
from twinvox.errors import ModelFormatError, PromptError, TextError
from twinvox.text.qwen2_tokenizer import Qwen2Tokenizer

MARKER = toy.MARKER
OPTIONS = {"normalization": "zh", "prenormalized": False, "chunking": True}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer") / "toy"
    toy.write_tokenizer(folder)
    return Qwen2Tokenizer.load(folder)


@pytest.fixture(scope="module")
def frontend(tokenizer):
    return Frontend(tokenizer)


def prompt_of(text=f"hi{MARKER}ok", n_tokens=20):
    return Prompt(
        text,
        np.zeros(n_tokens, np.int32),
        np.zeros((2 * n_tokens, 80), np.float32),
        np.zeros(192, np.float32),
    )


def segments(frontend, text, prompt=None, **options):
    return frontend.utterances(text, prompt or prompt_of(), **OPTIONS | options)


def test_ids_are_those_of_prompt_and_text(frontend):
    (utterance,) = segments(frontend, "你好。")
    own = list("你好。".encode())
    assert utterance.text == "你好。"
    assert utterance.ids.tolist() == [*b"hi", toy.MARKER_ID, *b"ok", *own]
    assert (utterance.n_own, utterance.ids.dtype) == (len(own), np.int32)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "在二零二四年。"),
        ({"normalization": "zh-basic"}, "在二零二四年。"),
        ({"normalization": "none"}, "在2024年。"),
        ({"prenormalized": True}, "在2024年。"),
    ],
)
def test_normalization(frontend, options, said):
    (utterance,) = segments(frontend, "在2024年。", **options)
    assert utterance.text == said


def test_text_with_special_tokens_or_without_chinese_is_not_normalised(frontend):
    assert segments(frontend, "I am 5 .")[0].text == "I am 5 ."
    assert segments(frontend, "我<|x|>5")[0].text == "我<|x|>5"


@pytest.mark.parametrize("normalization", ["zh", "zh-basic"])
def test_special_tokens_survive_normalisation(tmp_path, normalization):
    toy.write_tokenizer(tmp_path / "toy")
    specials = {"<|endoftext|>": 256, MARKER: toy.MARKER_ID}
    specials |= {"[breath]": 151_647, "[j]": 151_648, "[UW0]": 151_649}
    (tmp_path / "toy" / "special_tokens.json").write_text(json.dumps(specials))
    frontend = Frontend(Qwen2Tokenizer.load(tmp_path / "toy"))
    (utterance,) = segments(frontend, "他[j]3[UW0]，[breath]好", normalization=normalization)
    assert utterance.text == "他[j]三[UW0]，[breath]好"
    assert [id_ for id_ in utterance.ids.tolist() if id_ > 256] == [
        toy.MARKER_ID, 151_648, 151_649, 151_647,
    ]  # fmt: skip


def test_a_marker_must_be_somewhere(frontend):
    for text in ("你好", "我是<|endofprompt>"):
        with pytest.raises(PromptError, match=r"neither the voice's prompt_text 'hi' nor the text"):
            segments(frontend, text, prompt_of("hi"))
    with pytest.raises(PromptError, match="neither"):
        frontend.from_ids([65], prompt_of("hi"))


def test_an_instruction_in_the_text_goes_before_every_segment(frontend):
    text = f"用四川话说。{MARKER}今天天气很好，我们出去玩。" + "明天也去公园散步，看很多花。" * 2
    prompt = prompt_of("hi")
    spoken = segments(frontend, text, prompt)
    assert len(spoken) > 1
    head = [*b"hi", *"用四川话说。".encode(), toy.MARKER_ID]
    for utterance in spoken:
        assert utterance.ids.tolist() == [*head, *utterance.text.encode()]
    assert "".join(u.text for u in spoken) == text.partition(MARKER)[2]
    with pytest.raises(TextError, match="nothing to say"):
        segments(frontend, f"用四川话说。{MARKER}。", prompt)
    assert frontend.from_ids([65, toy.MARKER_ID, 66], prompt)[0].ids.tolist() == [
        *b"hi", 65, toy.MARKER_ID, 66,
    ]  # fmt: skip


def test_a_second_marker_is_refused(frontend):
    with pytest.raises(TextError, match="in the voice's prompt_text already"):
        segments(frontend, f"你好{MARKER}再见")
    with pytest.raises(TextError, match="stands there more often"):
        segments(frontend, f"你{MARKER}好{MARKER}再见", prompt_of("hi"))
    with pytest.raises(PromptError, match="2 times, not once"):
        segments(frontend, "你好", prompt_of(f"a{MARKER}b{MARKER}"))
    with pytest.raises(TextError, match="already"):
        frontend.from_ids([65, toy.MARKER_ID], prompt_of())


@pytest.mark.parametrize(
    "lookalike",
    [
        "＜｜endofprompt｜＞",
        "<｜endofprompt｜>",
        "＜|endofprompt|＞",
        "<|EndOfPrompt|>",
        "< | end of prompt | >",
        "<|end_of_prompt|>",
    ],
)
def test_lookalikes_of_the_marker_are_refused(frontend, lookalike):
    with pytest.raises(TextError, match=r"the text holds .* did you mean '<\|endofprompt\|>'"):
        segments(frontend, f"你好{lookalike}再见", prompt_of("hi"))
    with pytest.raises(PromptError, match="the voice's prompt_text holds"):
        segments(frontend, "你好", prompt_of(f"hi{lookalike}"))
    with pytest.raises(PromptError, match="the voice's prompt_text holds"):
        frontend.from_ids([65], prompt_of(f"hi{lookalike}{MARKER}"))


@pytest.mark.parametrize("n_text", [228, 229])
def test_256_rows_fit_and_257_do_not(frontend, n_text):
    """2 + 5 prompt ids + 20 speech ids + 229 text ids = 256."""
    prompt = prompt_of(f"hi{MARKER}ok")
    (utterance,) = segments(frontend, "a" * n_text, prompt, chunking=False)
    assert 2 + len(utterance.ids) + 20 == 27 + n_text <= 256
    assert len(frontend.from_ids([65] * n_text, prompt)[0].ids) == 5 + n_text
    with pytest.raises(TextError, match="takes 230 text tokens; 229 fit"):
        segments(frontend, "a" * 230, prompt, chunking=False)
    with pytest.raises(TextError, match=r"230 token ids do not fit; .* room for 229"):
        frontend.from_ids([65] * 230, prompt)


def test_segments_are_cut_until_they_fit_beside_the_prompt(frontend):
    prompt = prompt_of("p" * 190 + MARKER)
    text = "今天天气很好我们去公园散步看见了很多花" * 3
    spoken = segments(frontend, text, prompt)
    assert all(2 + len(u.ids) + 20 <= 256 for u in spoken)
    assert max(2 + len(u.ids) + 20 for u in spoken) > 200
    assert "".join(u.text for u in spoken) == text
    with pytest.raises(TextError, match="cannot be cut"):
        segments(frontend, "a" * 300, prompt_of("p" * 200 + MARKER))


@pytest.mark.parametrize(("n_text", "fits"), [(232, True), (233, False)])
def test_a_prompt_that_leaves_no_room_is_a_prompt_error(frontend, n_text, fits):
    prompt = prompt_of("p" * n_text + MARKER)
    if fits:
        assert len(segments(frontend, "a", prompt)) == 1
        return
    with pytest.raises(PromptError, match=r"takes 256 of the 256 .*\(234 of text, 20 of speech\)"):
        segments(frontend, "a", prompt)


@pytest.mark.parametrize(
    ("ids", "error"),
    [
        ([], TextError),
        ([[1]], TypeError),
        ([0.5], TypeError),
        ([-1], ValueError),
        ([151_936], ValueError),
    ],
)
def test_bad_token_ids(frontend, ids, error):
    with pytest.raises(error):
        frontend.from_ids(ids, prompt_of())


def test_a_tokenizer_with_another_marker_id_is_refused(tmp_path):
    toy.write_tokenizer(tmp_path / "toy")
    (tmp_path / "toy" / "special_tokens.json").write_text('{"<|endofprompt|>": 256}')
    with pytest.raises(ModelFormatError, match="id 256; expected 151646"):
        Frontend(Qwen2Tokenizer.load(tmp_path / "toy"))


def tensors_of(n_tokens=20, **changed):
    tensors = {
        SPEECH_IDS_TENSOR: np.arange(n_tokens, dtype=np.int32),
        MEL_TENSOR: np.zeros((2 * n_tokens, 80), np.float32),
        SPEAKER_TENSOR: np.zeros(192, np.float32),
    }
    return {**tensors, **{f"cosyvoice3.{name}": value for name, value in changed.items()}}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"prompt_speech_ids": np.arange(20)}, r"int64 \[20\]; expected int32 \[n\]"),
        ({"prompt_speech_ids": np.zeros((1, 20), np.int32)}, r"int32 \[1, 20\]; expected"),
        ({"prompt_speech_ids": np.zeros(0, np.int32)}, "0 prompt tokens; expected 1 to 249"),
        ({"prompt_speech_ids": np.zeros(250, np.int32)}, "250 prompt tokens; expected 1 to 249"),
        ({"prompt_speech_ids": np.full(20, 6561, np.int32)}, "6561 to 6561; expected 0 to 6560"),
        ({"prompt_speech_ids": np.full(20, -1, np.int32)}, "-1 to -1; expected"),
        ({"prompt_mel": np.zeros((40, 80))}, r"float64 \[40, 80\]; expected float32 \[n, 80\]"),
        ({"prompt_mel": np.zeros((40, 100), np.float32)}, r"\[40, 100\]; expected"),
        ({"prompt_mel": np.zeros((39, 80), np.float32)}, "39 mel frames for 20 .* expected 40"),
        ({"prompt_mel": np.full((40, 80), np.nan, np.float32)}, "NaN"),
        ({"speaker_embedding": np.zeros(256, np.float32)}, r"\[256\]; expected float32 \[192\]"),
    ],
)
def test_a_voice_with_bad_tensors_is_a_prompt_error(changed, message):
    with pytest.raises(PromptError, match=message):
        Prompt.from_voice(Voice("hi", tensors_of(**changed)))


def test_a_voice_of_another_backend_is_a_prompt_error():
    with pytest.raises(PromptError, match=r"cosyvoice3\.prompt_speech_ids.*cosyvoice3 backend"):
        Prompt.from_voice(Voice.load("female"))


def test_extra_mel_frames_are_trimmed():
    mel = np.arange(45 * 80, dtype=np.float32).reshape(45, 80)
    prompt = Prompt.from_voice(Voice("hi", tensors_of(prompt_mel=mel)))
    np.testing.assert_array_equal(prompt.mel, mel[:40])
    assert prompt.room == 230
