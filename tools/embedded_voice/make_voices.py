"""Make the shipped voices from prompt recordings.

    python -m tools.embedded_voice.make_voices PROMPTS src/twinvox/data/voices

PROMPTS holds female.wav, female.txt (the transcript), male.wav and male.txt.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from twinvox.backends.luxtts.prompt import make_voice

ORIGIN = {
    "female": "synthetic: hibari-tts 0.2.1 (Apache-2.0)",
    "male": "synthetic: hibari-tts 0.2.1 (Apache-2.0), F0 x 0.50 and formants x 0.84 with WORLD",
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the shipped voices.")
    parser.add_argument("prompts", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, origin in ORIGIN.items():
        text = (arguments.prompts / f"{name}.txt").read_text(encoding="utf-8").strip()
        voice = make_voice(arguments.prompts / f"{name}.wav", text)
        info = {"origin": origin, "licence": "Apache-2.0"}
        replace(voice, info=info).save(arguments.out / f"{name}.safetensors")


if __name__ == "__main__":
    main()
