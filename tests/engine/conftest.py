from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Protocol

import pytest

from pytest_puma.core import Model, ModelOptions
from tests.engine.cache import RecordedBackend
from tests.tiny_gguf import SHAPES, Shape, write_gguf


class OpenBackend(Protocol):
    """Loads a shape with these model options; the fixture closes the backend."""

    def __call__(
        self, shape: Shape, /, *, n_ctx: int | None = None, parallel: int | None = None
    ) -> RecordedBackend: ...


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Shape], Path]:
    """The file of a shape, written once."""
    folder = tmp_path_factory.mktemp("models")
    numbers = count()

    @cache
    def file(shape: Shape) -> Path:
        return write_gguf(folder / f"{shape.name}-{next(numbers)}.gguf", shape)

    return file


@pytest.fixture
def open_backend(model_file: Callable[[Shape], Path]) -> Iterator[OpenBackend]:
    """Backends with one thread, so that their results depend only on the batches."""
    opened: list[RecordedBackend] = []

    def load(shape: Shape, /, *, n_ctx: int | None = None, parallel: int | None = None) -> RecordedBackend:
        options = ModelOptions(n_ctx=n_ctx, parallel=parallel)
        opened.append(RecordedBackend(Model(name="tiny", path=model_file(shape), options=options), threads=1))
        return opened[-1]

    yield load
    for backend in opened:
        backend.close()


@pytest.fixture(params=SHAPES, ids=lambda shape: shape.name)
def shape(request: pytest.FixtureRequest) -> Shape:
    """Each kind of memory and of tokenizer."""
    each: Shape = request.param
    return each


@pytest.fixture
def backend(shape: Shape, open_backend: OpenBackend) -> RecordedBackend:
    return open_backend(shape)
