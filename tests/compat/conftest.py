from __future__ import annotations

from pathlib import Path

import pytest

from tests.compat.geography import write_splits


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Rows of two subjects in two splits."""
    write_splits(tmp_path / "rows")
    return tmp_path / "rows"
