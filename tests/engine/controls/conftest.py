from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pytest_puma.engine.native import NativeBackend
from tests.engine.controls.test_variants import opened
from tests.tiny_controls import write_vector


@pytest.fixture
def backend() -> Iterator[NativeBackend]:
    """The bundled model, without processes of their own for adapters, as these are sound."""
    with closing(opened()) as backend:
        yield backend


@pytest.fixture
def vector(tmp_path: Path) -> Path:
    return write_vector(tmp_path / "v.gguf")
