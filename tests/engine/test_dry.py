"""A model without its weights stands for the one with them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.core import Model, ModelOptions
from pytest_puma.engine.native import DryBackend, NativeBackend
from pytest_puma.models.resolve import inspect_model


@pytest.mark.parametrize(
    "options",
    [
        ModelOptions(),
        ModelOptions(strict=True, gpu_layers=0),
        ModelOptions(parallel=3, n_ctx=512, threads=1, chat=False),
    ],
)
def test_its_signature_and_limits_are_those_of_the_model_with_its_weights(gguf: Path, options: ModelOptions) -> None:
    model = replace(Model(name="tiny", path=gguf), options=options)
    limit = inspect_model(gguf).context_length or 0
    with (
        closing(DryBackend(model, context_limit=limit, digest="5a", threads=2)) as dry,
        closing(NativeBackend(model, threads=2, digest="5a")) as native,
    ):
        assert dry.signature == native.signature
        for name in ("context_limit", "parallel", "parallel_streams", "sequences", "kv_slots", "good_kv_slots"):
            assert getattr(dry, name) == getattr(native, name), name
    with closing(DryBackend(model, context_limit=limit)) as dry:
        assert dry.signature == {}
