#!/usr/bin/env bash
# Check the recipe of the bundled model: types, tests, and every step once with a model of no use. Three minutes on two quiet cores.
# Needs the `training` extra. Run it from its environment, before and after the model is made: it uses the `python` that is found first.
set -euo pipefail
cd "$(dirname "$0")/../.."

python -c 'import torch' || { echo "$0: PyTorch is not installed: pip install -e '.[dev,training]'" >&2; exit 1; }
python -m mypy tools/training/*.py tests/tools/training/*.py
python -m pytest tests/tools/training
