"""Flips and their gaps, counted on a backend whose answers depend on their company."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_puma.core import Cell, Determinism, Model, Step
from pytest_puma.engine.engine import Engine
from pytest_puma.run.evaluate import evaluate
from pytest_puma.scenarios import BUILTIN
from pytest_puma.testing import ScriptedBackend

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_puma.core.backend import Logits


class Sociable(ScriptedBackend):
    """Says `Major` alone, where `j` leads by a quarter; in company `b` leads, and it says `Mab`."""

    def __init__(self, *, weight: float = 0.25) -> None:
        super().__init__({}, default="Major", confidence=40.0)
        self._weight = weight

    def decode(self, steps: Sequence[Step]) -> Logits:
        logits = super().decode(steps)
        at = logits[:, ord("j")] > 0
        logits[at, ord("b")] = 40.0 + (self._weight if len(steps) > 1 else -self._weight)
        return logits


def checked(tmp_path: Path, strategy: str, *, asked: int, weight: float = 0.25) -> Determinism | None:
    """What a cell of four samples says."""
    model = Model(name="sociable", path=tmp_path)
    cell = Cell(scenario=BUILTIN["triage_jira"](), strategy=strategy, model=model, samples=4)
    return evaluate(cell, Engine(Sociable(weight=weight)), determinism=asked).determinism


@pytest.mark.parametrize(("asked", "found"), [(3, 3), (4, 4), (9, 4)])
def test_every_flip_has_its_gap(tmp_path: Path, asked: int, found: int) -> None:
    assert checked(tmp_path, "zero_shot", asked=asked) == Determinism(
        samples=found, texts=found, answers=found, gaps=(0.25,) * found
    )


def test_without_flips_there_are_no_gaps(tmp_path: Path) -> None:
    assert checked(tmp_path, "zero_shot", asked=4, weight=0.0) == Determinism(samples=4, texts=0, answers=0)


def test_a_second_turn_is_found_behind_the_first(tmp_path: Path) -> None:
    assert checked(tmp_path, "egi", asked=2) == Determinism(samples=2, texts=2, answers=2, gaps=(0.25, 0.25))


def test_behind_sampled_tokens_a_flip_has_no_gap(tmp_path: Path) -> None:
    found = checked(tmp_path, "self_consistency_3", asked=4)
    assert found is not None
    assert len(found.gaps) <= found.texts <= 4


def test_scored_labels_do_not_flip_with_the_texts(tmp_path: Path) -> None:
    assert checked(tmp_path, "option_scoring", asked=4) == Determinism(samples=4, texts=0, answers=0)


def test_it_is_not_asked_for_by_default(tmp_path: Path) -> None:
    assert checked(tmp_path, "zero_shot", asked=0) is None
