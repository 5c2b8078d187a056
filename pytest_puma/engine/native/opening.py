"""A model that is ready to compute: its weights are made if need be, tried in a process of their own, and loaded."""

from __future__ import annotations

from functools import partial

from pytest_puma.core import Model
from pytest_puma.engine.native.backend import NativeBackend
from pytest_puma.engine.native.made_weights import with_weights
from pytest_puma.engine.native.smoke_test import smoke_test
from pytest_puma.models.weights import weights_digest


def opened(model: Model, *, threads: int, gpu: int | None = None) -> NativeBackend:
    """Return the backend of a model, on one GPU (`gpu` is its number) or on all GPUs."""
    model = with_weights(model, threads=threads)
    smoke_test(model)
    digest, try_first = weights_digest(model.path), partial(smoke_test, model)
    return NativeBackend(model, threads=threads, gpu=gpu, digest=digest, try_first=try_first)
