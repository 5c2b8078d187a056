"""Sizes of contexts that are planned and not allocated, against the cache that the header of the file specifies."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import Model
from pytest_puma.engine.native.text import context_bytes
from pytest_puma.models.resolve import inspect_model, resolve_models
from tests.tiny_gguf import SHAPES, Shape, write_gguf


@pytest.fixture(params=SHAPES, ids=lambda shape: shape.name)
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Model:
    shape: Shape = request.param
    return resolve_models([str(write_gguf(tmp_path / "tiny.gguf", shape))], directories=())[0]


@pytest.mark.parametrize("streams", [0, 4])
def test_a_larger_context_takes_the_cache_of_its_slots_in_addition(model: Model, streams: int) -> None:
    small, large = (context_bytes(model, (slots, streams), sequences=8) for slots in (2048, 8192))
    slot = inspect_model(model.path).kv_slot_bytes
    # The state of a recurrent model has one size.
    assert 0 < small <= large
    if slot is not None:
        assert large - small >= 0.99 * slot * (8192 - 2048)


def test_no_context_takes_nothing(model: Model) -> None:
    assert context_bytes(model, (0, 0), sequences=8) == 0
