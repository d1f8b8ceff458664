"""Kilobyte CosyVoice3 models with the contract's names and shapes, and their NumPy twins.

All arithmetic is on whole numbers below 2**24 (or multiples of 2**-13), so that twin and model
agree bit for bit. The logits depend on every row of the cache that counts, on cur_len and, in the
prefill, on every row of the input, padding included; mel and audio depend on every input. So a
stale buffer, a length that is off by one or an unpadded read changes the tokens or the samples.
"""

import base64
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from tests.mil.builder import Input, build_package, mb

ROWS, KV_ROWS, DIM, HEADS, LAYERS, HEAD_DIM = 256, 768, 896, 2, 24, 64
KV = (LAYERS, 1, HEADS, KV_ROWS, HEAD_DIM)
VOCAB, TEXT_VOCAB, STOP = 6761, 151_936, 6561
FLOW_TOKENS, FRAMES, MELS, SPEAKER, HOP = 250, 500, 80, 192, 480
MARKER, MARKER_ID = "<|endofprompt|>", 151_646
NEVER = 10_000
# Longer and shorter in turn: the toy stops after different numbers of steps, and what a buffer
# keeps of a longer segment shows in the shorter one after it.
SENTENCES = [
    f"今天说第{number}句话，天气{'很' * count}好。"
    for number, count in zip("一二三四五六七", (4, 1, 7, 2, 6, 3, 5), strict=True)
]

# Whole-number weights that tell places apart.
KEY_WEIGHTS = (np.arange(DIM) % 5 + 1).astype(np.float32)
VALUE_WEIGHTS = (np.arange(DIM) % 7 + 1).astype(np.float32)
KEY_ROWS = (np.arange(KV_ROWS) % 7 + 1).astype(np.float32)
VALUE_ROWS = (np.arange(KV_ROWS) % 5 + 1).astype(np.float32)
IDS = np.arange(VOCAB, dtype=np.float32)
MEL_BANDS = np.arange(MELS, dtype=np.float32)
FRAME_INDEX = np.arange(FRAMES, dtype=np.float32)
TOKEN_INDEX = (np.arange(FLOW_TOKENS) % 5 + 1).astype(np.float32)
SPEAKER_WEIGHTS = (np.arange(SPEAKER) % 3 + 1).astype(np.float32)
FEAT_WEIGHTS = ((np.arange(FRAMES)[:, None] * 3 + np.arange(MELS)) % 5 + 1).astype(np.float32)
BAND_WEIGHTS = (np.arange(MELS) % 4 + 1).astype(np.float32)
BAND_WEIGHTS[0] += 1 / 8  # so that a constant added to the mel shows
WAVE = (np.round(np.sin(np.arange(HOP) * 0.05) * 64) / 64).astype(np.float32)
UNIT = np.float32(2**-10)
# The peaks of the logits lie in 128 ids, so that tokens repeat within a window of 10. Below STEEP a
# few ids are likely, from there on more than top_k.
FIRST_PEAK, STEEP = np.float32(2100), np.float32(2164)


def text_row(token_id):
    """Row of the text table, whole numbers 0 to 10."""
    return ((token_id * 7 + np.arange(DIM) * 3) % 11).astype(np.float32)


def speech_row(token_id, table):
    """Row of a speech table: 0 in the runtime file, 1 in the one for decoding."""
    return ((token_id * 5 + np.arange(DIM) * 2 + 3 * table) % 9).astype(np.float32)


def mod(x, size):
    """x modulo a power of two, exact for whole numbers."""
    return x - np.floor(x / np.float32(size)) * np.float32(size)


def logits_around(target):
    """A peak at ``target`` [..., 1] that falls by 1/2 or 1/16 an id."""
    slope = np.where(target < STEEP, np.float32(1 / 2), np.float32(1 / 16))
    return -slope * np.minimum(np.abs(IDS - target), np.float32(400))


def keys_and_values(embeds):
    """Two whole numbers 0 to 255 for each row [rows, 1]."""
    weights = np.stack([KEY_WEIGHTS, VALUE_WEIGHTS], axis=1)
    both = mod(embeds @ weights, 256)
    return both[:, :1], both[:, 1:]


class Twin:
    """The language model: a token is named after the logits' peak, by the rows seen so far."""

    def __init__(self, stop_after, stop_at_once):
        self.stop_after = stop_after
        self.stop_at_once = stop_at_once

    def prefill(self, embeds, length):
        """Logits of the last row of [rows, DIM]; remembers the rows that count."""
        keys, values = keys_and_values(embeds)
        running = np.cumsum(KEY_ROWS[:ROWS, None] * keys + VALUE_ROWS[:ROWS, None] * values, axis=0)
        self.keys, self.values = keys[:length, 0], values[:length, 0]
        self.length = self.start = length
        target = self._target(running[length - 1, 0] + embeds.sum() + np.float32(13 * length))
        return logits_around(np.float32(STOP + 60) if self.stop_at_once else target)

    def decode(self, embed):
        key, value = keys_and_values(embed[None])
        n = self.length
        state = KEY_ROWS[:n] @ self.keys + VALUE_ROWS[:n] @ self.values
        state += np.float32(17 * n) + 29 * key[0, 0] + 31 * value[0, 0]
        self.keys = np.append(self.keys, key[0])
        self.values = np.append(self.values, value[0])
        self.length += 1
        # The v-plane of the first row tells how long the prompt was.
        stop = n - self.start >= self.stop_after + 3 * (self.start % 4)
        return logits_around(np.float32(STOP + 60) if stop else self._target(state))

    @staticmethod
    def _target(state):
        return mod(np.float32(state), 128) + FIRST_PEAK


def flow(token_total, num_prompt_tokens, prompt_feat, embedding):
    """mel [MELS, FRAMES], multiples of 2**-10 below 1; exact in float16."""
    tokens = token_total.astype(np.float32)
    total = mod((prompt_feat * FEAT_WEIGHTS).sum(), 1024) + mod(tokens @ TOKEN_INDEX, 1024)
    total += mod(embedding @ SPEAKER_WEIGHTS, 1024) + np.float32(11 * num_prompt_tokens)
    frames = np.repeat(tokens, 2) + 5 * FRAME_INDEX + total
    return mod(frames[None] * (MEL_BANDS[:, None] % 3 + 1) + 7 * MEL_BANDS[:, None], 1024) * UNIT


def hift(mel, num_valid_frames):
    """audio [FRAMES * HOP] of mel [MELS, FRAMES] and its valid length."""
    energy = mod((BAND_WEIGHTS @ mel) * 1024, 1024)
    ahead = np.append(energy[1:], np.float32(0))
    total = mod(energy.sum(), 1024)
    level = mod(energy + 3 * ahead + total + np.float32(13 * num_valid_frames), 1024) * UNIT - 0.5
    return (level[:, None] * WAVE).reshape(-1), num_valid_frames * HOP


def _mod(x, size):
    whole = mb.floor(x=mb.mul(x=x, y=np.float32(1 / size)))
    return mb.sub(x=x, y=mb.mul(x=whole, y=np.float32(size)))


def _sum(x, axes):
    return mb.reduce_sum(x=x, axes=axes, keep_dims=True)


def _float(x):
    return mb.cast(x=x, dtype="fp32")


def _keys_and_values(embeds):
    """[1, rows, 1] each."""
    both = mb.matmul(x=embeds, y=np.stack([KEY_WEIGHTS, VALUE_WEIGHTS], axis=1)[None])
    return mb.split(x=_mod(both, 256), num_splits=2, axis=2)


def _logits_around(target):
    distance = mb.abs(x=mb.sub(x=target, y=IDS[None, None]))
    steep = mb.mul(x=_float(mb.less(x=target, y=STEEP)), y=np.float32(-7 / 16))
    slope = mb.add(x=steep, y=np.float32(-1 / 16))
    return mb.mul(x=mb.minimum(x=distance, y=np.float32(400)), y=slope)


def _planes(rows):
    """[1, rows, 1] as [1, 1, 1, rows, 1], to spread over layers, heads and channels."""
    return mb.expand_dims(x=rows, axes=[0, 1])


_ROW_INDEX = np.arange(KV_ROWS, dtype=np.float32).reshape(1, 1, 1, KV_ROWS, 1)
_KEY_PLANE = np.zeros((LAYERS, 1, HEADS, 1, HEAD_DIM), np.float32)
_KEY_PLANE += np.arange(HEAD_DIM)
_VALUE_PLANE = np.zeros_like(_KEY_PLANE)
_VALUE_PLANE += np.arange(LAYERS).reshape(LAYERS, 1, 1, 1, 1)


def write_prefill(path: Path, *, stop_at_once: bool = False) -> None:
    def build(inputs_embeds, input_len):
        length = _float(input_len)
        keys, values = _keys_and_values(inputs_embeds)
        weighed = mb.add(
            x=mb.mul(x=keys, y=KEY_ROWS[None, :ROWS, None]),
            y=mb.mul(x=values, y=VALUE_ROWS[None, :ROWS, None]),
        )
        state = mb.add(x=mb.cumsum(x=weighed, axis=1), y=_sum(inputs_embeds, [1, 2]))
        state = mb.add(x=state, y=mb.mul(x=length, y=np.float32(13)))
        target = mb.add(x=_mod(state, 128), y=FIRST_PEAK)
        if stop_at_once:
            target = mb.add(x=mb.mul(x=target, y=np.float32(0)), y=np.float32(STOP + 60))
        real = _float(mb.less(x=_ROW_INDEX[:, :, :, :ROWS], y=length))
        first = _float(mb.less(x=_ROW_INDEX[:, :, :, :ROWS], y=np.float32(1)))
        # The first value's place (its weight is 1) also tells the length, times 256.
        told = mb.mul(x=mb.mul(x=first, y=length), y=np.float32(256))
        kept_keys = mb.mul(x=mb.add(x=_planes(keys), y=_KEY_PLANE), y=real)
        kept_values = mb.add(x=mb.mul(x=mb.add(x=_planes(values), y=_VALUE_PLANE), y=real), y=told)
        tail = [0, 0, 0, 0, 0, 0, 0, KV_ROWS - ROWS, 0, 0]
        return {
            "speech_logits": _logits_around(target),
            "kv_k": mb.pad(x=kept_keys, pad=tail, mode="constant", constant_val=np.float32(0)),
            "kv_v": mb.pad(x=kept_values, pad=tail, mode="constant", constant_val=np.float32(0)),
        }

    build_package(
        path, build, {"inputs_embeds": Input((1, ROWS, DIM)), "input_len": Input((1,), np.int32)}
    )


def write_decode(path: Path, *, stop_after: int = NEVER) -> None:
    """The model stops after ``stop_after + 3 * (T_pre % 4)`` steps."""

    def build(inputs_embeds, cur_len, kv_k, kv_v):
        length = _float(cur_len)
        key, value = _keys_and_values(inputs_embeds)
        # One corner of each cache stands for the row.
        one = [1, 1, 1, KV_ROWS, 1]
        keys = mb.slice_by_size(x=kv_k, begin=[LAYERS - 1, 0, 1, 0, HEAD_DIM - 1], size=one)
        keys = mb.sub(x=keys, y=np.float32(HEAD_DIM - 1))
        values = mb.slice_by_size(x=kv_v, begin=[0, 0, 0, 0, 0], size=one)
        first = mb.slice_by_size(x=values, begin=[0, 0, 0, 0, 0], size=[1, 1, 1, 1, 1])
        start = mb.floor(x=mb.mul(x=first, y=np.float32(1 / 256)))
        values = _mod(values, 256)
        seen = _float(mb.less(x=_ROW_INDEX, y=length))
        weighed = mb.add(
            x=mb.mul(x=keys, y=KEY_ROWS.reshape(1, 1, 1, -1, 1)),
            y=mb.mul(x=values, y=VALUE_ROWS.reshape(1, 1, 1, -1, 1)),
        )
        state = mb.reshape(x=_sum(mb.mul(x=weighed, y=seen), [3]), shape=[1, 1, 1])
        state = mb.add(x=state, y=mb.mul(x=length, y=np.float32(17)))
        state = mb.add(x=state, y=mb.mul(x=key, y=np.float32(29)))
        state = mb.add(x=state, y=mb.mul(x=value, y=np.float32(31)))
        target = mb.add(x=_mod(state, 128), y=FIRST_PEAK)
        start = mb.reshape(x=start, shape=[1, 1, 1])
        limit = mb.add(x=mb.mul(x=_mod(start, 4), y=np.float32(3)), y=np.float32(stop_after))
        stop = _float(mb.greater_equal(x=mb.sub(x=length, y=start), y=limit))
        stopped = mb.mul(x=stop, y=mb.sub(x=np.float32(STOP + 60), y=target))
        here = mb.equal(x=_ROW_INDEX, y=length)
        return {
            "speech_logits": _logits_around(mb.add(x=target, y=stopped)),
            "kv_k_out": _replaced(here, mb.add(x=_planes(key), y=_KEY_PLANE), kv_k),
            "kv_v_out": _replaced(here, mb.add(x=_planes(value), y=_VALUE_PLANE), kv_v),
        }

    inputs = {
        "inputs_embeds": Input((1, 1, DIM)),
        "cur_len": Input((1,), np.int32),
        "kv_k": Input(KV),
        "kv_v": Input(KV),
    }
    build_package(path, build, inputs)


def _replaced(here, row, cache):
    """The cache with ``row`` where ``here`` [1, 1, 1, rows, 1]."""
    kept = mb.mul(x=cache, y=mb.sub(x=np.float32(1), y=_float(here)))
    return mb.add(x=kept, y=mb.mul(x=row, y=_float(here)))


def write_flow(path: Path, dtype: type[np.generic]) -> None:
    def build(token_total, num_prompt_tokens, prompt_feat, embedding):
        tokens = _float(token_total)
        n_prompt = _float(num_prompt_tokens)
        parts = [
            _mod(_sum(mb.mul(x=prompt_feat, y=FEAT_WEIGHTS[None]), [1, 2]), 1024),
            mb.expand_dims(
                x=_mod(_sum(mb.mul(x=tokens, y=TOKEN_INDEX[None]), [1]), 1024), axes=[2]
            ),
            mb.expand_dims(
                x=_mod(_sum(mb.mul(x=embedding, y=SPEAKER_WEIGHTS[None]), [1]), 1024), axes=[2]
            ),
            mb.mul(x=n_prompt, y=np.float32(11)),
        ]
        total = parts[0]
        for part in parts[1:]:
            total = mb.add(x=total, y=part)
        twice = mb.tile(x=mb.expand_dims(x=tokens, axes=[2]), reps=[1, 1, 2])
        frames = mb.reshape(x=twice, shape=[1, 1, FRAMES])
        frames = mb.add(x=mb.add(x=frames, y=5 * FRAME_INDEX[None, None]), y=total)
        bands = MEL_BANDS[None, :, None]
        mel = mb.add(x=mb.mul(x=frames, y=bands % 3 + 1), y=7 * bands)
        mel = mb.mul(x=_mod(mel, 1024), y=UNIT)
        if dtype is np.float16:
            mel = mb.cast(x=mel, dtype="fp16")
        return {"mel": mel, "num_prompt_mel": mb.mul(x=num_prompt_tokens, y=np.int32(2))}

    inputs = {
        "token_total": Input((1, FLOW_TOKENS), np.int32),
        "num_prompt_tokens": Input((1,), np.int32),
        "prompt_feat": Input((1, FRAMES, MELS)),
        "embedding": Input((1, SPEAKER)),
    }
    build_package(path, build, inputs)


def write_hift(path: Path) -> None:
    def build(mel, num_valid_frames):
        energy = mb.matmul(x=BAND_WEIGHTS[None, None], y=mel)
        energy = _mod(mb.mul(x=energy, y=np.float32(1024)), 1024)
        padded = mb.pad(x=energy, pad=[0, 1], mode="constant", constant_val=np.float32(0))
        ahead = mb.slice_by_size(x=padded, begin=[0, 0, 1], size=[1, 1, FRAMES])
        level = mb.add(x=energy, y=mb.mul(x=ahead, y=np.float32(3)))
        level = mb.add(x=level, y=_mod(_sum(energy, [2]), 1024))
        level = mb.add(x=level, y=mb.mul(x=_float(num_valid_frames), y=np.float32(13)))
        level = mb.sub(x=mb.mul(x=_mod(level, 1024), y=UNIT), y=np.float32(0.5))
        wave = mb.mul(x=mb.transpose(x=level, perm=[0, 2, 1]), y=WAVE[None, None])
        return {
            "audio": mb.reshape(x=wave, shape=[1, FRAMES * HOP]),
            "audio_length_samples": mb.mul(x=num_valid_frames, y=np.int32(HOP)),
        }

    inputs = {"mel": Input((1, MELS, FRAMES)), "num_valid_frames": Input((1,), np.int32)}
    build_package(path, build, inputs)


def write_tokenizer(folder: Path) -> None:
    """One token for each byte, and the marker."""
    folder.mkdir(parents=True)
    lines = (f"{base64.b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256))
    (folder / "toy.tiktoken").write_text("".join(lines))
    specials = {"<|endoftext|>": 256, "<|im_start|>": 257, "<|im_end|>": 258, MARKER: MARKER_ID}
    (folder / "special_tokens.json").write_text(json.dumps({"special_tokens": specials}))


def write_embeddings(folder: Path) -> None:
    """Both files; of the text table only the rows of the toy tokenizer take space on disk."""
    folder.mkdir(parents=True)
    speech = np.stack([speech_row(i, 0) for i in range(VOCAB)])
    decoded = np.stack([speech_row(i, 1) for i in range(VOCAB)]).astype(np.float16)
    save_file({"speech_embedding": decoded}, folder / "speech_embedding-fp16.safetensors")
    header = {
        "speech_embedding": {
            "dtype": "F32", "shape": [VOCAB, DIM], "data_offsets": [0, speech.nbytes],
        },
        "text_embedding": {
            "dtype": "F32",
            "shape": [TEXT_VOCAB, DIM],
            "data_offsets": [speech.nbytes, speech.nbytes + TEXT_VOCAB * DIM * 4],
        },
    }  # fmt: skip
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    with (folder / "embeddings-runtime-fp32.safetensors").open("wb") as file:
        file.write(len(encoded).to_bytes(8, "little") + encoded + speech.tobytes())
        start = file.tell()
        for token_id in (*range(256), MARKER_ID):
            file.seek(start + token_id * DIM * 4)
            file.write(text_row(token_id).tobytes())
        file.truncate(start + TEXT_VOCAB * DIM * 4)


def prompt_tensors(n_tokens: int) -> dict[str, np.ndarray]:
    """A bundle's tensors of whole numbers."""
    rng = np.random.default_rng(n_tokens)
    return {
        "llm_prompt_speech_ids": rng.integers(0, STOP, (1, n_tokens)).astype(np.int32),
        "prompt_mel": rng.integers(-9, 3, (1, 2 * n_tokens, MELS)).astype(np.float32),
        "spk_embedding": rng.integers(-3, 4, (1, SPEAKER)).astype(np.float32),
    }


def write_voice(path: Path, n_tokens: int, prompt_text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(prompt_tensors(n_tokens), path)
    sidecar = json.dumps({"prompt_text": prompt_text}, ensure_ascii=False)
    path.with_suffix(".json").write_text(sidecar, encoding="utf-8")


def write_folder(root: Path, *, stop_after=NEVER, flow_dtype=np.float32, nested=False) -> Path:
    """A CosyVoice3 folder in the published layout."""

    def place(folder, stem):
        where = root / folder if nested else root
        where.mkdir(parents=True, exist_ok=True)
        return where / f"{stem}.mlpackage"

    write_prefill(place("llm-fp16", "LLM-Prefill-T256-M768-fp16"))
    write_decode(place("llm-fp16-decode", "LLM-Decode-M768-fp16"), stop_after=stop_after)
    suffix = "fp16" if flow_dtype is np.float16 else "fp32"
    write_flow(place("flow-fp16-n250", f"Flow-N250-{suffix}"), flow_dtype)
    write_hift(place("hift-fp16-t500", "HiFT-T500-fp16"))
    write_tokenizer(root / "tokenizer")
    write_embeddings(root / "embeddings")
    write_voice(root / "voices" / "cosyvoice3-default-zh.safetensors", 20, f"你好{MARKER}好")
    return root
