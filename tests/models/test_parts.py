from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import Model, ModelError
from pytest_puma.models import stamps_of


@pytest.mark.parametrize(
    ("names", "size"),
    [(["q.gguf"], 10), (["q-00001-of-00003.gguf", "q-00002-of-00003.gguf", "q-00003-of-00003.gguf"], 60)],
)
def test_a_model_is_as_large_as_all_its_parts(names: list[str], size: int, tmp_path: Path) -> None:
    for number, name in enumerate(names, start=1):
        (tmp_path / name).write_bytes(bytes(10 * number))
    (tmp_path / "other.gguf").write_bytes(bytes(500))
    path = tmp_path / names[0]
    assert Model(name="q", path=path, stamps=stamps_of(path)).size == size


def test_the_stamps_of_missing_files_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"q\.gguf: the weights cannot be read: .*No such file"):
        stamps_of(tmp_path / "q.gguf")
