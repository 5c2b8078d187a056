"""Location of the data, the prompts and the model that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

_PACKAGE = Path(__file__).resolve().parents[1]


def bundled_folder(kind: Literal["data", "models", "prompts"]) -> Path:
    """Return a folder of bundled files: in the package if a wheel installed it, else beside it in the repository."""
    installed = _PACKAGE / "bundled" / kind
    return installed if installed.is_dir() else _PACKAGE.parent / kind
