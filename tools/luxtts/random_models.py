"""Writes LuxTTS's FmDecoder of full size with random weights, for measurements.

    python -m tools.luxtts.random_models OUT

Name, shapes, types and place are those of the published folder; the same seed makes the same
weights each time.
"""

import argparse
from pathlib import Path

from twinvox.backends.luxtts.contract import CONTRACT, fm_decoder

from ..conversion import convert, seeded
from .fm_decoder import FmDecoder

PACKAGE = "gpu/FmDecoder.mlpackage"
_SEED = 0


def build() -> FmDecoder:
    """The decoder in torch, with the weights that its package has."""
    return seeded(FmDecoder, _SEED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    decoder = build()
    n_operations = convert(decoder, fm_decoder(CONTRACT.frame_buckets[-1]), arguments.out / PACKAGE)
    n_parameters = sum(parameter.numel() for parameter in decoder.parameters())
    print(f"{PACKAGE}: {n_parameters / 1e6:.0f} M parameters, {n_operations} operations")


if __name__ == "__main__":
    main()
