"""The variants that a test selects by patterns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.core import Control, Model, ModelError, Variant
from pytest_puma.planning.matrix import expand
from pytest_puma.planning.settings import RunOptions
from tests.factories import model
from tests.planning.specs import settings, spec


def _sweep() -> tuple[Model, ...]:
    """A model with three variants, and another one."""
    controls = [Control(kind="steer", name="a", path=Path("a.gguf"), sha256="5a", strength=each) for each in (1, 2)]
    variants = [Variant(controls=(controls[0],)), Variant(controls=(controls[1],)), Variant(controls=tuple(controls))]
    q = model("q-3b")
    return (q, *(replace(q, name=f"q-3b+{it.name}", variant=it) for it in variants), model("other"))


@pytest.mark.parametrize(
    ("names", "patterns", "expected"),
    [
        (None, None, ["q-3b", "q-3b+a-1", "q-3b+a-2", "q-3b+a-1+a-2", "other"]),
        (None, ("plain",), ["q-3b", "other"]),
        (None, ("a-2", "plain", "*-2"), ["q-3b", "q-3b+a-2", "q-3b+a-1+a-2", "other"]),
        (("Q:3B",), None, ["q-3b", "q-3b+a-1", "q-3b+a-2", "q-3b+a-1+a-2"]),
        (("q", "q-3b+a-1"), ("a-1*",), ["q-3b+a-1", "q-3b+a-1+a-2"]),
        (("q-3b+a-2",), None, ["q-3b+a-2"]),
        (("other",), ("a-7", "nothing"), ["other"]),
    ],
)
def test_a_test_selects_variants_of_its_models(
    names: tuple[str, ...] | None, patterns: tuple[str, ...] | None, expected: list[str]
) -> None:
    asked = spec(models=names, variants=patterns, options=RunOptions(strategies=("egi",)))
    assert [cell.model.name for cell in expand(asked, settings(models=_sweep()))] == expected


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("b-1", "variants: 'b-1' matches no variant of this run; did you mean 'a-1'? there are: a-1, a-2, a-1+a-2"),
        ("", "variants: '' matches no variant of this run; there are: a-1, a-2, a-1+a-2"),
        ("plain", "variants: 'plain' matches no variant of this run; there are: a-1, a-2, a-1+a-2"),
    ],
)
def test_a_pattern_without_a_variant_is_refused(pattern: str, sentence: str) -> None:
    with pytest.raises(ModelError) as caught:
        expand(spec(variants=("a-1", pattern)), settings(models=_sweep()[1:4]))
    assert str(caught.value) == sentence
