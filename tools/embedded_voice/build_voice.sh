#!/bin/sh
# The embedded voice from nothing to src/twinvox/data: sh tools/embedded_voice/build_voice.sh DIR
# The acoustic half as in build_acoustic.sh, then about 45 minutes on one core for the vocoder.
set -eu
work=$1
here=$(dirname "$0")
run() { python -m "tools.embedded_voice.$@"; }

sh "$here/build_acoustic.sh" "$work"

train() { run train_vocoder --data "$work/data" "$@"; }
train --out "$work/vocoder_real.pt" --steps 2500 --minutes 8 --rate 1.2e-3 --seed 2
train --init "$work/vocoder_real.pt" --acoustic "$work/acoustic.pt" --out "$work/vocoder.pt" \
    --steps 5500 --minutes 6 --rate 1e-3 --seed 3
run adapt_speaker --data "$work/data" --start "$work/acoustic.pt" --out "$work/acoustic_any.pt"
run export --acoustic "$work/acoustic_any.pt" --vocoder "$work/vocoder.pt" \
    --reference tests/backends/data/embedded_reference.npz
