#!/bin/sh
# Acoustic half of the embedded voice, from nothing: sh tools/embedded_voice/build_acoustic.sh DIR
# About 75 minutes on one core: 20 of synthesis, 51 of training.
set -eu
work=$1
run() { python -m "tools.embedded_voice.$@"; }
read_texts() { run synthesize --data "$work/data" --speaker "$1" --first "$2" --count "$3"; }

mkdir -p "$work/data"
read_texts heart 0 300
read_texts heart 300 3300
read_texts heart_f050_w084 4000 1552
read_texts joe 6000 1000
read_texts kumo 7000 90
read_texts heart_f056_w088 8000 160
read_texts heart_f064_w090 8160 160
read_texts heart_f074_w093 8320 50
read_texts heart_f085_w096 8480 110
read_texts heart_f125_w106 8640 110
read_texts heart_f140_w110 8750 110
read_texts heart_f112_w103 8860 110
read_texts heart_f090_w095 9080 90

train() { run train_acoustic --data "$work/data" --threads 1 "$@"; }
train --out "$work/acoustic_500.pt" --steps 500 --rate 2e-3
train --start "$work/acoustic_500.pt" --out "$work/acoustic_2500.pt" --steps 2000 --rate 1.5e-3
train --start "$work/acoustic_2500.pt" --out "$work/acoustic.pt" --steps 3400 --rate 1.5e-3
run record_prompts "$work/prompts"
