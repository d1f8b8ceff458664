"""Converts the trained models to ML Programs and writes src/twinvox/data/embedded.

    python -m tools.embedded_voice.export --acoustic acoustic.pt --vocoder vocoder.pt

Weights of large products are stored (and, on Core ML, computed) in fp16; pitch, phase and the
transforms stay fp32. The torch models are rounded alike first, so the reference activations that
are written for the tests differ from the packages by arithmetic only. Packages are
byte-reproducible.
"""

import argparse
import json
import shutil
import uuid
from pathlib import Path

import coremltools as ct
import numpy as np
import torch
from coremltools.converters.mil.mil import Operation
from torch import Tensor, nn

from . import acoustic_model
from .acoustic_model import AcousticModel, FmDecoder, TextEncoder
from .tokens import encode, write_table
from .vocoder_model import LOG_FLOOR, N_MELS, Vocoder

FRAME_BUCKETS = tuple(range(256, 1025, 64))
VOCODER_BUCKETS = (64, 96, 128, 192, 256, 320, 384, 448, 555)
MAX_TOKENS = 256
HALF_PRECISION_FROM = 16_384
_HALF_OPS = {"linear", "conv", "matmul", "gather"}


def stored_in_half(shape: tuple[int, ...]) -> bool:
    """Whether a constant of this shape is stored in fp16; small ones cost nothing and stay fp32."""
    return len(shape) >= 2 and int(np.prod(shape)) >= HALF_PRECISION_FROM


def round_weights(model: nn.Module) -> None:
    """Rounds to fp16 in place what the package will hold so: large constants and their biases."""
    for module in model.modules():
        own = dict(module.named_parameters(recurse=False)) | dict(
            module.named_buffers(recurse=False)
        )
        large = {name for name, value in own.items() if stored_in_half(tuple(value.shape))}
        if "weight" in large:
            large.add("bias")
        for name in large & own.keys():
            own[name].data.copy_(own[name].data.half().float())


def _computed_in_half(op: Operation) -> bool:
    if op.op_type not in _HALF_OPS:
        return False
    constants = [value for value in op.inputs.values() if getattr(value, "val", None) is not None]
    return any(stored_in_half(np.shape(constant.val)) for constant in constants)


def convert(
    model: nn.Module,
    examples: tuple[Tensor, ...],
    inputs: list[ct.TensorType],
    output: str,
    destination: Path,
) -> None:
    """Traces, converts and saves one model for iOS 17 / macOS 14, fp32 or int32 at its boundary."""
    traced = torch.jit.trace(model, examples, check_trace=False)
    program = ct.convert(
        traced,
        inputs=inputs,
        outputs=[ct.TensorType(output, dtype=np.float32)],
        minimum_deployment_target=ct.target.iOS17,
        compute_precision=ct.transform.FP16ComputePrecision(op_selector=_computed_in_half),
        skip_model_load=True,
    )
    del program.user_defined_metadata["com.github.apple.coremltools.conversion_date"]
    if destination.exists():
        shutil.rmtree(destination)
    program.save(str(destination))
    _settle(destination)


def _settle(package: Path) -> None:
    """The same bytes for the same model: no random identifiers, maps in order; readable by all."""
    manifest = package / "Manifest.json"
    text = manifest.read_text(encoding="utf-8")
    for identifier, item in json.loads(text)["itemInfoEntries"].items():
        text = text.replace(identifier, str(uuid.uuid5(uuid.NAMESPACE_URL, item["path"])).upper())
    for file in package.rglob("model.mlmodel"):
        model = ct.proto.Model_pb2.Model.FromString(file.read_bytes())
        file.write_bytes(model.SerializeToString(deterministic=True))
        file.chmod(0o644)
    entries = json.loads(text)
    manifest.write_text(json.dumps(entries, indent=4, sort_keys=True) + "\n", encoding="utf-8")


def export_text_encoder(model: TextEncoder, destination: Path) -> None:
    shape = (1, MAX_TOKENS)
    inputs = [
        ct.TensorType("tokens", shape=shape, dtype=np.int32),
        ct.TensorType("padding_mask", shape=shape, dtype=np.float32),
    ]
    examples = (torch.ones(shape, dtype=torch.int32), torch.zeros(shape))
    convert(model, examples, inputs, "token_embeds", destination)


def export_fm_decoder(model: FmDecoder, destination: Path) -> None:
    # Below iOS 18 only one input may enumerate its shapes, so the four that share T give its range.
    frames = ct.RangeDim(FRAME_BUCKETS[0], FRAME_BUCKETS[-1], default=FRAME_BUCKETS[-1], symbol="T")
    rows = ("x", "text_condition", "speech_condition")
    inputs = [ct.TensorType(name, shape=(1, frames, N_MELS), dtype=np.float32) for name in rows]
    inputs += [
        ct.TensorType(name, shape=(1,), dtype=np.float32) for name in ("t", "guidance_scale")
    ]
    inputs.append(ct.TensorType("padding_mask", shape=(1, frames), dtype=np.float32))
    length = FRAME_BUCKETS[0]
    examples = (
        *(torch.zeros(1, length, N_MELS) for _ in rows),
        torch.zeros(1),
        torch.full((1,), 3.0),
        torch.zeros(1, length),
    )
    convert(model, examples, inputs, "v", destination)


def export_vocoder(model: Vocoder, destination: Path) -> None:
    # Not a list of the buckets: on the CPU alone macOS 27 ends a process that runs such a model.
    frames = ct.RangeDim(VOCODER_BUCKETS[0], VOCODER_BUCKETS[-1], default=VOCODER_BUCKETS[-1])
    inputs = [ct.TensorType("mel", shape=(1, N_MELS, frames), dtype=np.float32)]
    example = torch.full((1, N_MELS, VOCODER_BUCKETS[0]), LOG_FLOOR)
    convert(model, (example,), inputs, "audio", destination)


def load_models(acoustic: Path | None, vocoder: Path | None) -> tuple[AcousticModel, Vocoder]:
    """Models ready to convert, weights rounded; seeded random weights without a checkpoint."""
    torch.manual_seed(0)
    voice = AcousticModel().eval() if acoustic is None else acoustic_model.load(acoustic)
    generator = Vocoder().eval()
    if vocoder is not None:
        generator.load_state_dict(torch.load(vocoder, weights_only=True)["model"])
    round_weights(voice)
    round_weights(generator)
    return voice, generator


def reference_activations(voice: AcousticModel, vocoder: Vocoder) -> dict[str, np.ndarray]:
    """Inputs and outputs of all three models for one short utterance, as a host would lay them out.

    Inputs are float16, which holds them exactly; outputs are float32 rounded to float16.
    """
    prompt_ids, text_ids = encode("ðɪs ɪz ɐ tˈɛst."), encode("hɛlˈoʊ ðˈɛɹ.")
    count = len(prompt_ids) + len(text_ids)
    tokens = np.zeros((1, MAX_TOKENS), np.int32)
    tokens[0, :count] = prompt_ids + text_ids
    token_padding = np.zeros((1, MAX_TOKENS), np.float16)
    token_padding[0, count:] = 1.0
    rng = np.random.default_rng(0)
    decoder = voice.fm_decoder
    prompt_frames = 6 * len(prompt_ids)
    frames = prompt_frames + 6 * len(text_ids)
    bucket = FRAME_BUCKETS[0]
    index = np.minimum(np.arange(frames) // (frames // count), count)
    feature_shape = (1, bucket, N_MELS)
    x, text, speech = (np.zeros(feature_shape, np.float16) for _ in range(3))
    x[0, :frames] = rng.standard_normal((frames, N_MELS))
    wobble = rng.standard_normal((prompt_frames, 1)) * np.ones(N_MELS)
    speech[0, :prompt_frames] = decoder.mel_mean.numpy() + 0.5 * decoder.mel_std.numpy() * wobble
    padding = np.zeros((1, bucket), np.float16)
    padding[0, frames:] = 1.0

    def run(model: nn.Module, *inputs: np.ndarray) -> np.ndarray:
        exact = [
            torch.from_numpy(v if v.dtype == np.int32 else v.astype(np.float32)) for v in inputs
        ]
        with torch.no_grad():
            return model(*exact).numpy().astype(np.float16)

    embeds = run(voice.text_encoder, tokens, token_padding)
    text[0, :frames] = embeds[0, index]
    t, guidance = np.array([1 / 3], np.float16), np.array([3.0], np.float16)
    velocity = run(decoder, x, text, speech, t, guidance, padding)
    mel = np.full((1, N_MELS, VOCODER_BUCKETS[0]), LOG_FLOOR, np.float16)
    generated = min(frames - prompt_frames, VOCODER_BUCKETS[0])
    finished = (x + (1.0 - t) * velocity)[0, prompt_frames : prompt_frames + generated]
    mel[0, :, :generated] = finished.T / 0.1
    return {
        "tokens": tokens,
        "token_padding_mask": token_padding,
        "token_embeds": embeds,
        "x": x,
        "text_condition": text,
        "speech_condition": speech,
        "t": t,
        "guidance_scale": guidance,
        "padding_mask": padding,
        "v": velocity,
        "mel": mel,
        "audio": run(vocoder, mel),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--acoustic", type=Path, help="checkpoint; random weights without it")
    parser.add_argument("--vocoder", type=Path, help="checkpoint; random weights without it")
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--out", type=Path, default=root / "src/twinvox/data/embedded")
    parser.add_argument("--reference", type=Path, help="npz of reference activations to write")
    options = parser.parse_args()
    torch.set_num_threads(1)
    voice, vocoder = load_models(options.acoustic, options.vocoder)
    for folder in ("gpu", "vocoder"):
        (options.out / folder).mkdir(parents=True, exist_ok=True)
    export_text_encoder(voice.text_encoder, options.out / "gpu/TextEncoder.mlpackage")
    export_fm_decoder(voice.fm_decoder, options.out / "gpu/FmDecoder.mlpackage")
    export_vocoder(vocoder, options.out / "vocoder/Vocoder.mlpackage")
    config = {"frame_buckets": FRAME_BUCKETS, "vocoder_buckets": VOCODER_BUCKETS}
    (options.out / "config.json").write_text(json.dumps(config) + "\n", encoding="utf-8")
    write_table(options.out / "tokens.txt")
    if options.reference is not None:
        np.savez_compressed(options.reference, **reference_activations(voice, vocoder))


if __name__ == "__main__":
    main()
