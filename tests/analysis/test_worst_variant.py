"""Limits on the worst variant, where some variants have no distance from the plain model."""

from __future__ import annotations

import pytest

from pytest_puma.analysis.cross_cell import verdicts
from pytest_puma.core import Outcome, Policy
from pytest_puma.gates.grammar import parse_gate
from tests import factories
from tests.analysis.test_cross_cell import steady
from tests.factories import measure


def cell(model: str, gate: str, *, kl: float | None) -> Outcome:
    return factories.outcome(
        f"triage-egi@{model}",
        measures={} if kl is None else {"kl": measure("kl", kl, kl / 2, 2 * kl, better="low")},
        replicates={} if kl is None else {"kl": steady(kl)},
        cross_cell_gates=(parse_gate(gate),),
    )


@pytest.mark.parametrize(("doubt", "fails"), [("", False), (" !fail", True)])
def test_a_variant_that_was_not_measured_may_be_the_worst(doubt: str, fails: bool) -> None:  # noqa: FBT001
    gate = f"max(kl over variant) <= 0.05{doubt}"
    cells = [cell("q", gate, kl=None), cell("q+Q8_0", gate, kl=0.001), cell("q+Q2_K", gate, kl=None)]
    (verdict,) = verdicts(cells, Policy())
    assert (verdict.status, verdict.fails) == ("NOT RUN", fails)
    assert verdict.reason.endswith("was not judged: triage-egi@q+Q2_K has no kl")


def test_a_plain_model_has_no_distance_to_lack() -> None:
    gate = "max(kl over variant) <= 0.05"
    cells = [cell("q", gate, kl=None), cell("q+Q8_0", gate, kl=0.001), cell("q+Q2_K", gate, kl=0.5)]
    (verdict,) = verdicts(cells, Policy())
    assert verdict.status == "FAIL"


def test_the_best_needs_not_all() -> None:
    gate = "min(kl over variant) <= 0.05"
    cells = [cell("q", gate, kl=None), cell("q+Q8_0", gate, kl=0.001), cell("q+Q2_K", gate, kl=None)]
    (verdict,) = verdicts(cells, Policy())
    assert verdict.status == "PASS"
