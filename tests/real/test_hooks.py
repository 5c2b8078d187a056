"""Hooks on real models: llama.cpp's names of nodes, each ready hook, and what is left when it is taken off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from pytest_puma.core import Model
from pytest_puma.core.variant import ControlKind
from pytest_puma.engine.native import NativeBackend
from pytest_puma.models.base import BaseModel
from tests.engine.controls.test_variants import control, logits, variant
from tests.real.conftest import THREADS
from tests.tiny_controls import write_vector


@pytest.fixture(scope="module")
def backend(model: Model) -> Iterator[NativeBackend]:
    with closing(NativeBackend(model, threads=THREADS)) as backend:
        yield backend


@pytest.mark.parametrize(("kind", "strength"), [("ablate", 1.0), ("rotate", 20.0), ("heads", 1.0)])
def test_a_hook_changes_logits_and_leaves_no_trace(
    model: Model, backend: NativeBackend, tmp_path: Path, kind: ControlKind, strength: float
) -> None:
    base = BaseModel.of(model)
    vector = write_vector(tmp_path / "v.gguf", (4, 5), width=base.heads if kind == "heads" else base.width)
    plain = logits(backend, None)
    changed = logits(backend, variant(control(kind, vector, strength)))
    assert np.abs(changed - plain).max() > 0.1
    assert np.array_equal(logits(backend, None), plain)


def test_the_nodes_of_hooks_exist_in_all_layers(model: Model, backend: NativeBackend, tmp_path: Path) -> None:
    """Names are llama.cpp's own: a release may change them."""
    base = BaseModel.of(model)
    logits(backend, variant(control("ablate", write_vector(tmp_path / "v.gguf", (1,), width=base.width))))
    assert backend.hooks is not None
    nodes = {f"{node}-{layer}".encode() for node in ("l_out", "kqv_out") for layer in range(base.layers)}
    assert nodes <= set(backend.hooks.nodes)
