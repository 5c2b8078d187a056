"""Files that others may read while they are written."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Put the text in place at once: whoever reads sees the old file or the new one, never half of it."""
    half = path.with_suffix(f".{os.getpid()}")
    half.write_text(text, encoding="utf-8")
    half.replace(path)
