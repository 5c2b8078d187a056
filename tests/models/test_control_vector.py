"""Control vectors: their arithmetic, their file, and the models that they fit."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from random import Random

import gguf
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike

from pytest_puma.core import ModelError
from pytest_puma.models.base import BaseModel
from pytest_puma.models.control_vector import ControlVector
from tests.models.raw_gguf import Tensor, Value, raw_gguf

Q = BaseModel(name="q", architecture="llama", layers=30, width=4, shapes={})


def vector(directions: Mapping[int, ArrayLike]) -> ControlVector:
    return ControlVector({layer: np.array(numbers, dtype=np.float32) for layer, numbers in directions.items()})


ONE = vector({1: [1, 2, 3, 4], 10: [0.5, 0, 0, -0.5]})


def written_by_the_gguf_package(path: Path, directions: Mapping[int, ArrayLike]) -> Path:
    """The file that repeng writes, by the package that repeng uses."""
    writer = gguf.GGUFWriter(path, "controlvector")
    writer.add_string("controlvector.model_hint", "qwen2")
    writer.add_uint32("controlvector.layer_count", len(directions))
    for layer, numbers in directions.items():
        writer.add_tensor(f"direction.{layer}", np.array(numbers, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@settings(max_examples=25)
@given(
    width=st.integers(1, 40),
    layers=st.sets(st.integers(1, 64), min_size=1, max_size=4),
    data=st.data(),
)
def test_our_file_is_that_of_the_gguf_package_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory, width: int, layers: set[int], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("vectors")
    numbers = arrays(np.float32, width, elements=st.floats(width=32, allow_nan=False, allow_infinity=False))
    directions = {layer: data.draw(numbers) for layer in sorted(layers)}
    theirs = written_by_the_gguf_package(folder / "theirs.gguf", directions)
    loaded = ControlVector.load(theirs)
    loaded.save(folder / "ours.gguf")
    assert (folder / "ours.gguf").read_bytes() == theirs.read_bytes()
    assert (loaded.hint, loaded.layers, loaded.width) == ("qwen2", tuple(sorted(layers)), width)
    assert all(np.array_equal(loaded.directions[layer], directions[layer]) for layer in layers)
    assert ControlVector.load(folder / "ours.gguf").sha256 == loaded.sha256 == ControlVector(directions).sha256


def test_vectors_are_added_subtracted_negated_and_scaled() -> None:
    other = vector({10: [1, 1, 1, 1], 20: [2, 0, 0, 0]})
    mixed = ONE - 0.5 * other
    assert mixed.layers == (1, 10, 20)
    assert [list(numbers) for numbers in mixed.directions.values()] == [
        [1, 2, 3, 4],
        [0, -0.5, -0.5, -1],
        [-1, 0, 0, 0],
    ]
    assert (-ONE + ONE).rows(11).any() == np.False_
    assert (ONE * 2).sha256 == (ONE + ONE).sha256 == (np.float64(2) * ONE).sha256 != ONE.sha256


def test_the_digest_is_that_of_the_layers_and_their_numbers() -> None:
    assert vector({1: [1, 2]}).sha256 == ControlVector({1: np.array([1.0, 2.0], dtype=np.float32)}, "llama").sha256
    assert len({vector({1: [1, 2]}).sha256, vector({2: [1, 2]}).sha256, vector({1: [2, 1]}).sha256}) == 3


def test_the_rows_of_a_model_start_at_layer_one_and_are_zeros_outside_the_chosen_layers() -> None:
    rows = ONE.rows(12)
    assert rows.shape == (11, 4)
    assert list(np.flatnonzero(rows.any(axis=1))) == [0, 9]
    assert list(rows[9]) == [0.5, 0, 0, -0.5]
    assert list(np.flatnonzero(ONE.rows(12, (2, 11)).any(axis=1))) == [9]


def test_the_numbers_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        ONE.directions[1][0] = 7


@pytest.mark.parametrize(
    ("directions", "reason"),
    [
        ({}, "a control vector has directions of the shapes []; expected one width for all layers"),
        ({1: [1, 2], 2: [1]}, "of the shapes [(1,), (2,)]; expected one width for all layers"),
        ({1: [[1, 2]]}, "of the shapes [(1, 2)]; expected one width for all layers"),
        ({0: [1]}, "direction.0 cannot be applied: llama.cpp steers the layers from 1 on"),
        ({3: [1, float("nan")]}, "direction.3 has a value that is not a finite number: make the control vector again"),
        ({3: [float("-inf")]}, "direction.3 has a value that is not a finite number: make the control vector again"),
    ],
)
def test_other_numbers_are_refused(directions: Mapping[int, ArrayLike], reason: str) -> None:
    with pytest.raises(ModelError) as error:
        vector(directions)
    assert reason in str(error.value)


def test_what_is_no_sum_and_no_multiple_is_refused() -> None:
    with pytest.raises(ModelError, match=r"of width 4 and one of 1 cannot be added: their models differ"):
        ONE + vector({1: [1]})
    with pytest.raises(ModelError, match=r"direction\.1 has a value that is not a finite number"):
        ONE * 1e39
    for factor in ("2", ONE):
        with pytest.raises(TypeError):
            ONE * factor  # type: ignore[operator]
    with pytest.raises(TypeError):
        ONE + 1  # type: ignore[operator]


@pytest.mark.parametrize(
    ("changes", "chosen", "reason"),
    [
        ({"width": 576}, None, "p.gguf has directions of 4 numbers, q has 576: it was made for another model"),
        (
            {"layers": 10},
            None,
            "p.gguf has directions up to layer 10, q has layers 1 to 9: it was made for another model",
        ),
        ({}, (40, 40), "@40: q has layers 1 to 29"),
        ({}, (0, 10), "@0-10: q has layers 1 to 29"),
        ({}, (2, 9), "@2-9: p.gguf has no direction there; it has some for the layers 1 to 10"),
    ],
)
def test_a_vector_of_another_model_and_layers_without_effect_are_refused(
    changes: dict[str, int], chosen: tuple[int, int] | None, reason: str
) -> None:
    model = BaseModel(
        name="q", architecture="llama", layers=changes.get("layers", 30), width=changes.get("width", 4), shapes={}
    )
    with pytest.raises(ModelError) as error:
        ONE.check_fits(model, name="p.gguf", chosen=chosen)
    assert str(error.value) == reason


@pytest.mark.parametrize("chosen", [None, (10, 10), (1, 29)])
def test_a_vector_of_the_model_fits(chosen: tuple[int, int] | None) -> None:
    ONE.check_fits(Q, name="p.gguf", chosen=chosen)


HEADER: dict[str, Value] = {"general.architecture": "controlvector", "controlvector.model_hint": "llama"}
DIRECTION: Tensor = ("direction.1", (4,), 0, 0)


@pytest.mark.parametrize(
    ("header", "tensors", "reason"),
    [
        ({"general.architecture": "llama"}, [DIRECTION], "a file for llama, and no control vector"),
        (
            {"general.architecture": "llama", "general.type": "adapter"},
            [DIRECTION],
            "a LoRA adapter, and no control vector",
        ),
        (HEADER, [], "without directions; expected a file of repeng, or of ControlVector.save"),
        (HEADER, [("direction.1", (4,), 1, 0)], "a tensor 'direction.1'; expected one direction.N for a layer"),
        (HEADER, [("direction.1", (2, 2), 0, 0)], "a tensor 'direction.1'; expected one direction.N for a layer"),
        (HEADER, [("direction.x", (4,), 0, 0)], "a tensor 'direction.x'; expected one direction.N for a layer"),
        (HEADER, [DIRECTION, DIRECTION], "a tensor 'direction.1'; expected one direction.N for a layer"),
        (HEADER, [(f"direction.{'9' * 5000}", (4,), 0, 0)], "expected one direction.N for a layer"),
        (HEADER, [("direction.0", (4,), 0, 0)], "direction.0 cannot be applied"),
    ],
)
def test_a_file_of_something_else_is_refused(
    tmp_path: Path, header: Mapping[str, Value], tensors: list[Tensor], reason: str
) -> None:
    path = tmp_path / "p.gguf"
    path.write_bytes(raw_gguf(header, tensors))
    with pytest.raises(ModelError) as error:
        ControlVector.load(path)
    assert str(path) in str(error.value)
    assert reason in str(error.value)


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.gguf"
    ONE.save(path)
    content, refused = path.read_bytes(), 0
    for seed in range(200):
        random = Random(seed)  # noqa: S311 - no secret
        damaged = bytearray(content)
        for _ in range(random.randint(1, 4)):
            damaged[random.randrange(len(content) - 32)] = random.choice((0, 1, 255, random.randrange(256)))
        path.write_bytes(damaged[: random.choice((len(content), random.randrange(len(content))))])
        with suppress(ModelError):
            ControlVector.load(path)
            continue
        refused += 1
    assert refused > 100


def test_safetensors_are_refused_with_the_way_to_a_gguf_file(tmp_path: Path) -> None:
    path = tmp_path / "p.safetensors"
    path.write_bytes(b"\x28" + bytes(7) + b'{"direction":{}}')
    with pytest.raises(ModelError, match=r"it looks like safetensors; convert it with repeng's export_gguf"):
        ControlVector.load(path)
