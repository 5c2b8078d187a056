"""Quantised weights, made by llama.cpp in a process of its own."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader

from pytest_puma.core import Control, EngineError, Model, ModelError, ModelOptions, Variant
from pytest_puma.core.variant import ControlKind
from pytest_puma.engine.native import NativeBackend, with_weights
from pytest_puma.engine.native.made_weights import planned_size
from pytest_puma.models.contents import contents
from pytest_puma.models.quantised import TYPES, at_hand, check_source, made_path
from pytest_puma.models.weights import stamps_of, weights_digest
from pytest_puma.platform.locks import locked
from tests.engine.controls.test_variants import PATH, logits, opened, strict_logits
from tests.tiny_gguf import QWEN2, write_gguf


def of(kind: ControlKind, name: str) -> Variant:
    return Variant(controls=(Control(kind=kind, name=name),))


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    """A model in single precision, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = write_gguf(tmp_path / "q.gguf", QWEN2)
    return Model(name="q", path=path, stamps=stamps_of(path))


def quantised(model: Model, type_name: str) -> Model:
    return replace(model, name=f"{model.name}+{type_name}", variant=of("quant", type_name))


def test_the_size_is_known_before_the_file_is_made(source: Model) -> None:
    model = quantised(source, "Q4_0")
    expected = planned_size(model)
    assert at_hand(model) == source
    path = with_weights(model, threads=1).path
    assert abs(path.stat().st_size - expected) < 100_000
    assert expected < source.size / 4
    assert at_hand(model).path == path


def test_another_file_that_changed_is_refused(source: Model, tmp_path: Path) -> None:
    other = write_gguf(tmp_path / "other.gguf", replace(QWEN2, seed=1))
    weights = Control(kind="quant", name="other", path=other, sha256=weights_digest(other))
    model = replace(source, name="q+other", variant=Variant(controls=(weights,)))
    assert with_weights(model, threads=1).path == other
    write_gguf(other, replace(QWEN2, seed=2))
    with pytest.raises(ModelError, match=r"q\+other: .*other.gguf changed since it was checked"):
        with_weights(model, threads=1)


def test_a_process_waits_for_another_that_makes_the_file_and_takes_it(source: Model) -> None:
    model = quantised(source, "Q8_0")
    path = made_path(source.path, "Q8_0", weights_digest(source.path))
    path.parent.mkdir(parents=True)
    with ThreadPoolExecutor(1) as pool:
        with locked(path.parent):
            waiting = pool.submit(with_weights, model, threads=1)
            shutil.copy(source.path, path)
        assert waiting.result().path == path
    assert path.read_bytes() == source.path.read_bytes()


def test_a_failure_leaves_no_file(source: Model) -> None:
    source.path.write_bytes(source.path.read_bytes()[:200_000])
    with pytest.raises(EngineError, match=r"q\+Q8_0: llama.cpp cannot make Q8_0 of .*q.gguf \(exit status 1: .*\)"):
        with_weights(quantised(source, "Q8_0"), threads=1)
    assert not list(made_path(source.path, "Q8_0", "").parent.iterdir())


def test_weights_that_are_not_finite_are_an_error_with_the_tensor(source: Model) -> None:
    reader = GGUFReader(source.path, "r+")
    next(tensor for tensor in reader.tensors if tensor.name == "blk.0.attn_q.weight").data[0] = np.nan
    reader.data.flush()
    with pytest.raises(EngineError, match=r"cannot make Q4_0 .* tensor 'blk.0.attn_q.weight' has invalid data"):
        with_weights(quantised(source, "Q4_0"), threads=1)


def test_each_type_is_made_of_a_model_whose_rows_all_blocks_fit(source: Model) -> None:
    write_gguf(source.path, replace(QWEN2, width=256, layers=1))
    for name in TYPES:
        types = contents(with_weights(quantised(source, name), threads=1).path).types
        assert {found.partition("_")[0] for found in types} > {"F32"}, name


def test_a_quantised_file_is_no_source(source: Model) -> None:
    made = with_weights(quantised(source, "Q4_0"), threads=1)
    with pytest.raises(ModelError, match=r"^p is Q4_0: give an F16 or Q8_0 file"):
        check_source(replace(source, name="p", path=made.path))
    check_source(replace(source, path=with_weights(quantised(source, "Q8_0"), threads=1).path))


def test_an_option_of_the_engine_changes_logits_until_it_is_taken_off() -> None:
    with closing(opened()) as backend:
        plain = logits(backend, None)
        for variant in of("kv", "q8_0"), of("kv", "q4_0"), of("flash", "off"):
            assert not np.array_equal(logits(backend, variant), plain), variant.name
            assert backend.signature["variant"] == variant.signature
            assert np.array_equal(logits(backend, None), plain)
        assert "variant" not in backend.signature


def test_strict_refuses_flash_attention_on_a_cpu() -> None:
    with closing(opened(strict=True)) as backend:
        for variant in of("kv", "q8_0"), of("flash", "on"):
            with pytest.raises(EngineError, match="strict uses no flash attention on a CPU; expected neither"):
                strict_logits(backend, variant)
        assert strict_logits(backend, of("flash", "off")).any()


def test_a_type_that_the_heads_do_not_fit_is_an_error_with_the_reason(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "q.gguf", replace(QWEN2, width=48, heads=3, kv_heads=3))
    model = Model(name="q", path=path, options=ModelOptions(gpu_layers=0))
    with closing(NativeBackend(model, threads=1)) as backend, pytest.raises(EngineError, match=r"llama.cpp: .*q8_0"):
        logits(backend, of("kv", "q8_0"))


def test_the_bundled_model_is_a_source() -> None:
    check_source(Model(name="puma-tiny", path=PATH))
