"""The contents of files of weights, as the gguf package reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from gguf import GGUFReader

from pytest_puma.core import Model
from pytest_puma.models.contents import contents, weights_of
from pytest_puma.platform.bundled import bundled_folder
from tests.tiny_gguf import MIXTRAL, write_gguf


@pytest.mark.parametrize("name", ["bundled", "tiny"])
def test_bits_size_and_types_are_those_of_the_tensors(name: str, tmp_path: Path) -> None:
    path = bundled_folder("models") / "puma-tiny.gguf" if name == "bundled" else write_gguf(tmp_path / "q", MIXTRAL)
    tensors = GGUFReader(path).tensors
    count = sum(int(tensor.n_elements) for tensor in tensors)
    weights = contents(path)
    assert weights.size == path.stat().st_size
    assert weights.bits == 8 * sum(int(tensor.n_bytes) for tensor in tensors) / count
    assert set(weights.types) == {tensor.tensor_type.name for tensor in tensors}
    assert sum(weights.types.values()) == pytest.approx(1)
    assert list(weights.types.values()) == sorted(weights.types.values(), reverse=True)


def test_a_file_that_is_gone_is_left_out(tmp_path: Path) -> None:
    models = [Model(name=name, path=write_gguf(tmp_path / name, MIXTRAL)) for name in ("a", "b")]
    models[1].path.unlink()
    assert set(weights_of(models)) == {"a"}
