"""A recorded run of the CosyVoice3 toys for the parity harnesses, made by the NumPy twin."""

import numpy as np
from safetensors.numpy import load_file, save_file

from tests import toy_cosyvoice3 as toy
from tests.reference import cosyvoice3 as reference

TTS_TEXT = "今天3月，good day。"
N_PROMPT = 20
CAP = 12
SYSTEM = list(b"You are a helpful assistant.")
TEXT_IDS = [*SYSTEM, toy.MARKER_ID, *"好".encode(), *TTS_TEXT.encode()]
TASK_ROW = 1 + len(TEXT_IDS)
T_PRE = TASK_ROW + 1 + N_PROMPT


def recording():
    """Tensors of the twin's run, and its samples."""
    prompt = toy.prompt_tensors(N_PROMPT)
    tokens, _, samples = reference.speak(TEXT_IDS, prompt, 5, cap=CAP)
    speech = [6563, *prompt["llm_prompt_speech_ids"][0]]
    rows = [toy.speech_row(6561, 0), *map(toy.text_row, TEXT_IDS)]
    rows += [toy.speech_row(id_, 0) for id_ in speech]
    tensors = prompt | {
        "lm_input_embeds": np.stack(rows)[None],
        "t_pre": np.array([T_PRE], np.int32),
        "decoded_tokens": np.array([tokens], np.int32),
        "seed": np.array([42], np.int64),
        "num_prompt_mel": np.array([2 * N_PROMPT], np.int32),
        "audio_length_samples": np.array([len(samples)], np.int32),
    }
    return tensors, samples


def toy_ids(text):
    first, *rest = (list(part.encode()) for part in text.split(toy.MARKER))
    return first + [id_ for part in rest for id_ in (toy.MARKER_ID, *part)]


def change(path, **tensors):
    """Replace tensors of the fixture; None removes one."""
    held = load_file(path) | tensors
    save_file({name: array for name, array in held.items() if array is not None}, path)
