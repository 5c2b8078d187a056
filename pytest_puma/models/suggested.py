"""A small model that follows instructions, for a user who has none yet: `pytest-puma init` and `doctor` name it."""

from __future__ import annotations

import shlex

REPOSITORY = "Qwen/Qwen2.5-1.5B-Instruct-GGUF"
FILE = "qwen2.5-1.5b-instruct-q4_k_m.gguf"
SIZE = "1.1 GB"


def download(folder: str) -> str:
    """Return the command that downloads it into a folder."""
    target = shlex.quote(f"{folder}/{FILE}")
    url = f"https://huggingface.co/{REPOSITORY}/resolve/main/{FILE}"
    return f"curl --fail --location --create-dirs --output {target} {url}"
