"""Controls that are made in Python."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_puma import ControlVector, Variant, hook, lora, quant, steer
from pytest_puma.core import Control, Model, ModelError, SettingsError
from pytest_puma.engine.hook import States
from pytest_puma.models.fit import check_functions
from tests.tiny_controls import WIDTH, write_lora

ONES = ControlVector({1: np.ones(WIDTH, dtype=np.float32)})


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("cache")
def test_a_hook_on_some_tokens_is_made_like_a_vector() -> None:
    rotated = steer(ONES, kind="rotate", strength=15, layers=1, scope="reply", name="tone")
    assert rotated.part == "tone-rotate-reply-15-L1"
    assert rotated.signature == f"rotate {rotated.sha256} 15 1-1 reply"
    assert rotated.hooked
    assert not steer(ONES).hooked


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"kind": "rotation"}, "found kind 'rotation'; did you mean 'rotate'? there are: steer, ablate, rotate, heads"),
        ({"kind": "ablation"}, "found kind 'ablation'; did you mean 'ablate'?"),
        ({"kind": "lora"}, "found kind 'lora'; there are: steer, ablate"),
        ({"scope": "tail"}, "found scope 'tail'; there are: all, prompt, reply, last"),
        ({"kind": "when", "scope": "reply"}, "found scope 'reply'; there are: all"),
        ({"strength": float("nan")}, "found strength nan; expected a finite number"),
        ({"strength": float("-inf")}, "found strength -inf; expected a finite number"),
        ({"strength": "1"}, "found strength '1'; expected a finite number"),
        ({"strength": True}, "found strength True; expected a finite number"),
        ({"layers": [1, 2]}, "found layers [1, 2]; expected one from 1 on, or a tuple of the first and the last"),
        ({"layers": (2, 1)}, "found layers (2, 1); expected one from 1 on"),
        ({"layers": (1, 2, 3)}, "found layers (1, 2, 3); expected one from 1 on"),
        ({"layers": 0}, "found layers 0; expected one from 1 on"),
        ({"layers": 1.5}, "found layers 1.5; expected one from 1 on"),
    ],
)
def test_a_value_that_no_argument_takes_is_refused_when_the_control_is_made(
    cache: Path, given: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(SettingsError, match=rf"^steer 'tone': {re.escape(sentence)}"):
        steer(ONES, name="tone", **given)
    shared = {key: value for key, value in given.items() if key in {"scope", "layers"} and "kind" not in given}
    if shared:
        with pytest.raises(SettingsError, match=rf"^hook 'halve': {re.escape(sentence)}"):
            hook(halve, version="1", **{"layers": 1, **shared})
    if "strength" in given:
        adapter = write_lora(cache / "tone.gguf")
        with pytest.raises(SettingsError, match=rf"^lora 'tone': {re.escape(sentence)}"):
            lora(adapter, **given)


@pytest.mark.usefixtures("cache")
def test_numbers_of_numpy_are_as_in_an_argument() -> None:
    layer: Any = np.int64(1)
    first, second = (steer(ONES, strength=strength, layers=layer) for strength in np.linspace(0.25, 0.5, 2))
    assert (first.part, second.part) == ("vector-0.25-L1", "vector-0.5-L1")
    assert first.signature == steer(ONES, strength=0.25, layers=1).signature


def test_a_condition_is_left_out_with_its_vector_and_refused_without_any(cache: Path) -> None:
    condition, adapter = steer(ONES, kind="when", strength=0, layers=1), lora(write_lora(cache / "tone.gguf"))
    assert Variant.of(steer(ONES, strength=0), adapter, condition) == Variant(controls=(adapter,))
    assert len(Variant.of(hook(halve, version="1", layers=1), condition).controls) == 2
    with pytest.raises(SettingsError, match="variant 'w' has a condition without a vector that acts under it"):
        Variant.of(adapter, condition, name="w")


def halve(states: States, _where: object) -> States:
    return np.float32(0.5) * states


def test_the_version_of_a_function_and_its_place_identify_it() -> None:
    first = hook(halve, version="1", layers=1)
    assert first.part == "halve-hook-1-L1"
    assert first.hooked
    assert first == hook(lambda states, _where: states, version="1", layers=(1, 1), name="halve")
    others = (
        hook(halve, version="2", layers=1),
        hook(halve, version="1", layers=2),
        hook(halve, version="1", layers=1, scope="reply"),
        hook(halve, version="1", layers=1, node="ffn_out"),
        hook(halve, version="1", layers=1, name="other"),
    )
    assert len({first.signature, *(other.signature for other in others)}) == 1 + len(others)


@pytest.mark.parametrize("version", ["", " ", 1])
def test_a_function_needs_a_version(version: Any) -> None:
    with pytest.raises(SettingsError, match=f"hook 'halve': found version {version!r}; expected a function of"):
        hook(halve, layers=1, version=version)


@pytest.mark.parametrize("other", ["halve", lambda _module, _input, output: output, len, None])
def test_only_functions_of_states_and_rows_are_hooks(other: Any) -> None:
    # The second one is a hook of PyTorch.
    with pytest.raises(SettingsError, match=r"hook 'it': found .*; expected a function of states and rows, "):
        hook(other, version="1", layers=1, name="it")


def test_weights_stand_beside_other_controls() -> None:
    mix = Variant.of(quant("q4_k_m"), hook(halve, version="1", layers=1))
    assert mix.name == "Q4_K_M+halve-hook-1-L1"
    assert mix.weights == Variant(controls=(quant("Q4_K_M"),))
    assert mix.signature == mix.controls[1].signature


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ("none", "expected one type or file; the plain model is no variant"),
        ("Q8_0/Q4_0", "expected one type or file"),
        ("IQ2_XS", "needs an importance matrix"),
        ("nowhere.gguf", "quant=nowhere.gguf is none of the types .*, and no file"),
    ],
)
def test_what_is_no_weights_is_an_error(weights: str, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        quant(weights)


class Probe:
    def act(self, states: States, _where: object) -> States:
        return states


def test_one_function_is_in_several_variants_and_two_of_one_version_are_refused() -> None:
    def models(*controls: Control) -> list[Model]:
        plain = Model(name="q", path=Path("q.gguf"))
        return [replace(plain, name=f"q+{n}", variant=Variant.of(each)) for n, each in enumerate(controls)]

    probe = Probe()
    check_functions(models(*(hook(halve, version="1", layers=layer) for layer in (1, 2)), quant("Q8_0")))
    check_functions(models(*(hook(probe.act, version="1", layers=layer) for layer in (1, 2))))
    check_functions(models(*(hook(Probe().act, version=f"1-{k}", layers=1) for k in (1, 2))))
    with pytest.raises(ModelError, match=r"^q\+0 and q\+1: found two functions 'act' with one version"):
        check_functions(models(*(hook(Probe().act, version="1", layers=layer) for layer in (1, 2))))
