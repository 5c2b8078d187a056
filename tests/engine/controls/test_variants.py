"""LoRA adapters and control vectors on the bundled model: what llama.cpp computes with them, and what it refuses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import llama_cpp
import numpy as np
import pytest

from pytest_puma.core import Control, EngineError, Model, ModelError, ModelOptions, Step, Variant
from pytest_puma.core.variant import ControlKind, Layers
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend, smoke_test
from pytest_puma.engine.native.build import build_id
from pytest_puma.models.control_vector import ControlVector
from pytest_puma.models.weights import recall, stamps_of, weights_digest
from pytest_puma.platform.bundled import bundled_folder
from tests.engine.ask import generate
from tests.models.test_adapter import embedding
from tests.tiny_controls import write_lora, write_vector

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits

PATH = bundled_folder("models") / "puma-tiny.gguf"
TOKENS = tuple(range(300, 340))


def control(kind: ControlKind, path: Path, strength: float = 1.0, layers: Layers | None = None) -> Control:
    return Control(kind=kind, name=path.stem, path=path, sha256=weights_digest(path), strength=strength, layers=layers)


def variant(*controls: Control) -> Variant:
    return Variant(controls=controls)


def opened(*, threads: int = 1, strict: bool = False, path: Path = PATH) -> NativeBackend:
    options = ModelOptions(strict=strict, gpu_layers=0)
    return NativeBackend(Model(name="q", path=path, options=options), threads=threads)


def careful() -> NativeBackend:
    """As in a run: adapters are used in a process of their own first."""
    model = Model(name="q", path=PATH)
    return NativeBackend(model, threads=1, try_first=partial(smoke_test, model))


def logits(backend: NativeBackend, variant: Variant | None, *, streams: int = 0) -> Logits:
    """The logits of a variant behind each token, in a new cache."""
    backend.vary(variant)
    backend.open(1024, streams)
    return backend.decode([Step(sequence=0, start=0, tokens=TOKENS, rows_from=0)]).copy()


@pytest.fixture
def variants(tmp_path: Path) -> list[Variant | None]:
    """The plain model, vectors on all layers and on one, one adapter, two, an adapter with a vector, hooks."""
    polite, rude = (write_vector(tmp_path / f"{name}.gguf", seed=seed) for seed, name in enumerate(("polite", "rude")))
    first, second = (write_lora(tmp_path / f"{name}.gguf", seed=seed) for seed, name in enumerate(("a", "b")))
    return [
        None,
        variant(control("steer", polite)),
        variant(control("steer", polite, 2.0, (1, 1))),
        variant(control("steer", polite, -0.5), control("steer", rude, 1.5, (2, 2))),
        variant(control("lora", first)),
        variant(control("lora", first, 0.25), control("lora", second, -1.0)),
        variant(control("lora", second), control("steer", rude)),
        variant(control("ablate", rude, layers=(1, 1)), control("steer", polite)),
        variant(control("rotate", rude, 20.0)),
    ]


@pytest.mark.parametrize("streams", [0, 4])
def test_each_variant_alone_is_equal_to_the_last_bit_after_any_other(
    variants: list[Variant | None], streams: int
) -> None:
    alone = []
    for each in variants:
        with closing(opened()) as backend:
            alone.append(logits(backend, each, streams=streams))
    with closing(opened()) as backend:
        for order in range(len(variants)), range(len(variants) - 1, -1, -1), (2, 1, 2, 0, 5, 7, 8, 4, 0):
            for index in order:
                assert np.array_equal(logits(backend, variants[index], streams=streams), alone[index]), order
    assert min(float(np.abs(one - other).max()) for one, other in combinations(alone, 2)) > 0.1


def test_the_number_of_threads_changes_no_bit_of_a_strict_variant(variants: list[Variant | None]) -> None:
    with closing(opened(strict=True)) as one, closing(opened(strict=True, threads=2)) as two:
        for each in variants:
            assert np.array_equal(strict_logits(one, each), strict_logits(two, each))


def strict_logits(backend: NativeBackend, variant: Variant | None) -> Logits:
    """As `logits`, of the last two tokens: a strict model computes no more rows at once."""
    backend.vary(variant)
    backend.open(1024)
    return backend.decode([Step(sequence=0, start=0, tokens=TOKENS, rows_from=len(TOKENS) - 2)]).copy()


def test_several_vectors_are_one_sum(backend: NativeBackend, tmp_path: Path) -> None:
    paths = [write_vector(tmp_path / f"{seed}.gguf", seed=seed) for seed in range(2)]
    one, other = map(ControlVector.load, paths)
    (0.5 * one + 2 * other).save(tmp_path / "sum.gguf")
    both = variant(control("steer", paths[0], 0.5), control("steer", paths[1], 2.0))
    assert np.array_equal(logits(backend, both), logits(backend, variant(control("steer", tmp_path / "sum.gguf"))))


def test_chosen_layers_are_a_vector_without_the_others(backend: NativeBackend, tmp_path: Path) -> None:
    path = write_vector(tmp_path / "v.gguf")
    ControlVector({2: ControlVector.load(path).directions[2]}).save(tmp_path / "second.gguf")
    chosen = logits(backend, variant(control("steer", path, layers=(2, 2))))
    assert np.array_equal(chosen, logits(backend, variant(control("steer", tmp_path / "second.gguf"))))


def test_an_adapter_that_is_given_twice_has_the_sum_of_its_strengths(backend: NativeBackend, tmp_path: Path) -> None:
    path = write_lora(tmp_path / "a.gguf")
    twice = variant(control("lora", path, 0.5), control("lora", path, 0.25))
    assert np.array_equal(logits(backend, twice), logits(backend, variant(control("lora", path, 0.75))))


def test_a_variant_is_part_of_the_signature(backend: NativeBackend, tmp_path: Path) -> None:
    plain = dict(backend.signature)
    steered = variant(control("steer", write_vector(tmp_path / "v.gguf"), 0.5, (1, 1)))
    backend.vary(steered)
    assert backend.signature == {**plain, "variant": steered.signature}
    backend.vary(None)
    assert backend.signature == plain


@pytest.mark.parametrize("kind", ["lora", "steer"])
def test_a_control_that_is_too_strong_for_finite_numbers_is_an_error(
    backend: NativeBackend, tmp_path: Path, kind: ControlKind
) -> None:
    write = write_lora if kind == "lora" else write_vector
    backend.vary(variant(control(kind, write(tmp_path / "a.gguf"), 3e38)))
    with pytest.raises(EngineError, match="an adapter or a control vector on them is too strong"):
        Engine(backend).run([generate("Which priority?", 4)])


def cut(path: Path) -> Path:
    """The first half of a file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return path


@dataclass(frozen=True)
class Misfit:
    """A file that does not fit, and its error."""

    kind: ControlKind
    make: Callable[[Path], Path]
    error: type[Exception]
    reason: str


MISFITS = [
    Misfit(
        "steer", lambda path: write_vector(path, width=64), ModelError, "a.gguf has directions of 64 numbers, q has"
    ),
    Misfit("steer", lambda path: write_vector(path, (1, 3)), ModelError, "up to layer 3, q has layers 1 to 2"),
    Misfit("steer", lambda path: cut(write_vector(path)), ModelError, "it is cut off; download it again"),
    Misfit("lora", lambda path: cut(write_lora(path)), EngineError, "q: llama.cpp cannot load the LoRA adapter"),
    Misfit(
        "lora", lambda path: write_lora(path, architecture="llama"), EngineError, "model arch and LoRA arch mismatch"
    ),
    Misfit("lora", lambda path: write_lora(path, {"blk.0.attn_q.weight": (64, 192)}), EngineError, "incorrect shape"),
]


@pytest.mark.parametrize("misfit", MISFITS, ids=lambda misfit: misfit.reason)
def test_a_file_that_does_not_fit_is_an_error_and_leaves_the_model_usable(
    backend: NativeBackend, tmp_path: Path, misfit: Misfit
) -> None:
    before = logits(backend, None)
    logits(backend, variant(control("steer", write_vector(tmp_path / "v.gguf"))))
    with pytest.raises(misfit.error) as caught:
        logits(backend, variant(control(misfit.kind, misfit.make(tmp_path / "a.gguf"))))
    assert misfit.reason in str(caught.value)
    assert np.array_equal(logits(backend, None), before)


@pytest.mark.parametrize("kind", ["lora", "steer"])
def test_a_file_that_changed_since_it_was_checked_is_an_error(
    backend: NativeBackend, tmp_path: Path, kind: ControlKind
) -> None:
    write = write_lora if kind == "lora" else write_vector
    checked = variant(control(kind, write(tmp_path / "a.gguf")))
    write(tmp_path / "a.gguf", seed=1)
    for _ in range(2):  # a run goes on with the next cell of the file
        with pytest.raises(
            ModelError, match=r"a\.gguf changed since it was checked; leave it alone until the run ends"
        ):
            logits(backend, checked)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems report other signals")
def test_an_adapter_that_ends_its_process_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(embedding())
    with closing(careful()) as backend:
        backend.vary(variant(control("lora", path)))
        with pytest.raises(
            EngineError, match=r"q: llama\.cpp ended its process \(SIGABRT: .*a\.gguf; expected an adapter"
        ):
            backend.open(256)
        assert logits(backend, None).any()


def test_an_adapter_that_did_not_is_remembered(tmp_path: Path) -> None:
    path = write_lora(tmp_path / "a.gguf")
    sound = variant(control("lora", path))
    with closing(careful()) as backend:
        expected = logits(backend, sound)
    with closing(opened()) as backend:
        assert np.array_equal(logits(backend, sound), expected)
    assert recall(path, stamps_of(path), "tried") == f"{build_id()} {weights_digest(PATH)}"


def test_a_binding_without_these_functions_is_an_error_of_variants_alone(
    backend: NativeBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(llama_cpp, "llama_set_adapters_lora")
    assert logits(backend, None).any()
    with pytest.raises(EngineError, match=r"lacks llama_set_adapters_lora; expected a version from 0\.3\.36 up to"):
        logits(backend, variant(control("lora", write_lora(tmp_path / "a.gguf"))))


def test_numbers_that_are_not_finite_stay_in_the_cell_that_computed_them(
    backend: NativeBackend, tmp_path: Path
) -> None:
    def last(tokens: int, *controls: Control) -> Logits:
        backend.vary(variant(*controls) if controls else None)
        backend.open(1024)
        return backend.decode([Step(sequence=0, start=0, tokens=TOKENS[:1] * tokens, rows_from=tokens - 1)]).copy()

    plain = last(300)
    assert not np.isfinite(last(600, control("lora", write_lora(tmp_path / "a.gguf"), 3e38))).all()
    # Of fewer tokens, so that the cache still has numbers of the cell before.
    assert np.array_equal(last(300), plain)
