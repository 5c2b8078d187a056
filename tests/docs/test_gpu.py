"""The memory table of docs/gpu.md, by the arithmetic that places a model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_puma.core import Model, ModelOptions
from pytest_puma.engine.fit import Fit
from pytest_puma.engine.machine import Gpu
from pytest_puma.models.header import bytes_of
from pytest_puma.models.layers import ModelLayers
from tests.docs.reference import ROOT

PAGE = (ROOT / "docs" / "gpu.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| Qwen2\.5-(\S+) (\S+) \| (.*) \|$", re.MULTILINE)
GB = 2**30
#: Layers, width, width of the feed-forward, KV heads, tokens; the output of the first two is their embedding.
SHAPES = {
    "0.5B": (24, 896, 4864, 2, 64, 151936),
    "3B": (36, 2048, 11008, 2, 128, 151936),
    "7B": (28, 3584, 18944, 4, 128, 152064),
    "14B": (48, 5120, 13824, 8, 128, 152064),
    "32B": (64, 5120, 27648, 8, 128, 152064),
}


def layers_of(size: str, type_name: str) -> ModelLayers:
    """A model whose matrices all have one type."""
    layers, width, feed_forward, kv_heads, head, tokens = SHAPES[size]
    weights = 2 * width * width + 2 * width * kv_heads * head + 3 * width * feed_forward
    return ModelLayers(
        dense=(round(weights * bytes_of(type_name)),) * layers,
        experts=(0,) * layers,
        kv=(2 * kv_heads * head * 2,) * layers,
        output=round(tokens * width * bytes_of(type_name)),
    )


@pytest.mark.parametrize("row", ROW.findall(PAGE), ids=lambda row: "-".join(row[:2]))
def test_a_row_is_what_the_arithmetic_gives(row: tuple[str, str, str]) -> None:
    size, type_name, text = row
    layers = layers_of(size, type_name)
    cells = [f"{(sum(layers.dense) + layers.output) / GB:.1f}", f"{sum(layers.kv) * 8192 / GB:.1f}"]
    for n_ctx in (8192, None):
        model = Model(name="q", path=Path("q.gguf"), options=ModelOptions(n_ctx=n_ctx))
        cells.append(f"{Fit.on(model, layers, [Gpu('A', GB)]).needed / GB:.1f}")
    model = Model(name="q", path=Path("q.gguf"), options=ModelOptions(n_ctx=8192))
    fits = [Fit.on(model, layers, [Gpu("A", free * GB)]) for free in (7, 15, 23, 78)]
    cells += ["all" if fit.whole else f"{fit.layers} of {fit.of}" for fit in fits]
    assert text.split(" | ") == cells


def test_the_table_has_every_shape_in_both_types() -> None:
    assert [row[:2] for row in ROW.findall(PAGE)] == [(size, name) for size in SHAPES for name in ("Q8_0", "Q4_K")]
