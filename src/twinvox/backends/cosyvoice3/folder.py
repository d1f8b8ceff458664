"""The published folder layout of CosyVoice3 models.

    LLM-Prefill-T256-M768-fp16 LLM-Decode-M768-fp16 Flow-N250-fp16 (or -fp32) HiFT-T500-fp16
    embeddings/speech_embedding-fp16.safetensors
    embeddings/embeddings-runtime-fp32.safetensors
    tokenizer/{vocab.json,merges.txt,special_tokens.json}
    voices/<id>.safetensors with <id>.json

Each model is an .mlmodelc or .mlpackage, at the top or in a folder of its own.
"""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from twinvox.errors import ModelNotFoundError
from twinvox.runtime.base import MODEL_SUFFIXES

DEFAULT_VOICE = "cosyvoice3-default-zh"

_FilePath = str | PathLike[str] | None


@dataclass(frozen=True, slots=True)
class _Stage:
    stems: tuple[str, ...]
    folder: str

    def find(self, root: Path) -> Path | None:
        paths = (
            folder / f"{stem}{suffix}"
            for folder in (root, root / self.folder)
            for stem in self.stems
            for suffix in MODEL_SUFFIXES
        )
        return next((path for path in paths if path.exists()), None)

    def __str__(self) -> str:
        return (
            f"{' or '.join(self.stems)} ({' or '.join(MODEL_SUFFIXES)}, here or in {self.folder}/)"
        )


_STAGES = {
    "llm_prefill": _Stage(("LLM-Prefill-T256-M768-fp16",), "llm-fp16"),
    "llm_decode": _Stage(("LLM-Decode-M768-fp16",), "llm-fp16-decode"),
    "flow": _Stage(("Flow-N250-fp16", "Flow-N250-fp32"), "flow-fp16-n250"),
    "hift": _Stage(("HiFT-T500-fp16",), "hift-fp16-t500"),
}


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """Where each file is. ``embeddings`` holds the tables of text and speech."""

    llm_prefill: Path
    llm_decode: Path
    flow: Path
    hift: Path
    speech_embedding: Path
    embeddings: Path
    tokenizer_dir: Path
    special_tokens: Path
    voices: Path

    @property
    def stages(self) -> dict[Path, str]:
        """The stage of each model, by the names that timings and compute units use."""
        return {
            self.llm_prefill: "prefill",
            self.llm_decode: "decode",
            self.flow: "flow",
            self.hift: "hift",
        }


def published_files() -> tuple[str, ...]:
    """Patterns of the paths in the published repository: models, tables and the default voice."""
    return (
        *(f"{stage.stems[0]}.mlmodelc/*" for stage in _STAGES.values()),
        "embeddings/speech_embedding-fp16.safetensors",
        "embeddings/embeddings-runtime-fp32.safetensors",
        "tokenizer/vocab.json",
        "tokenizer/merges.txt",
        "tokenizer/special_tokens.json",
        *published_voice(DEFAULT_VOICE),
    )


def published_voice(voice_id: str) -> tuple[str, ...]:
    """Patterns of the paths of one published voice."""
    return (f"voices/{voice_id}.safetensors", f"voices/{voice_id}.json")


def is_model_folder(root: Path) -> bool:
    """Whether any CosyVoice3 model is there."""
    return any(stage.find(root) for stage in _STAGES.values())


def open_folder(
    root: Path,
    *,
    tokenizer_dir: _FilePath = None,
    embeddings_file: _FilePath = None,
    special_tokens_file: _FilePath = None,
) -> ModelFolder:
    """Find every file; the arguments replace what the folder would hold.

    ModelNotFoundError names all that are missing together.
    """
    if not root.is_dir():
        raise ModelNotFoundError(f"no CosyVoice3 model folder at {root}")
    models = {name: stage.find(root) for name, stage in _STAGES.items()}
    tokenizer = Path(tokenizer_dir or root / "tokenizer")
    speech = root / "embeddings" / "speech_embedding-fp16.safetensors"
    runtime = Path(embeddings_file or root / "embeddings" / "embeddings-runtime-fp32.safetensors")
    specials = Path(special_tokens_file or tokenizer / "special_tokens.json")
    files = [speech, runtime, specials]
    if not any(tokenizer.glob("*.tiktoken")):
        files += [tokenizer / "vocab.json", tokenizer / "merges.txt"]
    found = {name: path for name, path in models.items() if path is not None}
    missing = [str(stage) for name, stage in _STAGES.items() if name not in found]
    missing += [_relative(path, root) for path in files if not path.is_file()]
    if missing:
        raise ModelNotFoundError(
            f"the CosyVoice3 model folder {root} lacks {'; '.join(missing)}. Copy the whole "
            "published folder (FluidInference/CosyVoice3-0.5B-coreml, about 5.8 GB)"
        )
    return ModelFolder(
        **found,
        speech_embedding=speech,
        embeddings=runtime,
        tokenizer_dir=tokenizer,
        special_tokens=specials,
        voices=root / "voices",
    )


def _relative(path: Path, root: Path) -> str:
    return str(path.relative_to(root) if path.is_relative_to(root) else path)
