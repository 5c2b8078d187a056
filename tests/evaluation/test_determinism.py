"""Flips and their gaps, counted on a backend whose answers depend on their company."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_puma.core import Determinism, Step
from pytest_puma.testing import ScriptedBackend
from tests.factories import cell, evaluated

if TYPE_CHECKING:
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


def checked(strategy: str, *, requested: int, weight: float = 0.25) -> Determinism | None:
    """The check on a cell of four samples."""
    return evaluated(
        cell(strategy=strategy, samples=4), Sociable(weight=weight), determinism=requested
    ).execution.determinism


@pytest.mark.parametrize(("requested", "checked_samples"), [(3, 3), (4, 4), (9, 4)])
def test_every_flip_has_its_gap(requested: int, checked_samples: int) -> None:
    assert checked("zero_shot", requested=requested) == Determinism(
        samples=checked_samples, texts=checked_samples, answers=checked_samples, gaps=(0.25,) * checked_samples
    )


def test_without_flips_there_are_no_gaps() -> None:
    assert checked("zero_shot", requested=4, weight=0.0) == Determinism(samples=4, texts=0, answers=0)


def test_a_flip_in_the_second_turn_is_found() -> None:
    assert checked("egi", requested=2) == Determinism(samples=2, texts=2, answers=2, gaps=(0.25, 0.25))


def test_behind_sampled_tokens_a_flip_has_no_gap() -> None:
    determinism = checked("self_consistency_3", requested=4)
    assert determinism is not None
    assert len(determinism.gaps) <= determinism.texts <= 4


def test_scored_labels_do_not_flip_with_the_texts() -> None:
    assert checked("option_scoring", requested=4) == Determinism(samples=4, texts=0, answers=0)


def test_without_a_request_there_is_no_check() -> None:
    assert checked("zero_shot", requested=0) is None
