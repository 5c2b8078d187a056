"""The commands for a failed cell."""

from __future__ import annotations

import pytest

from pytest_puma.report.commands import commands_of
from tests.factories import fault, outcome, run, verdict


@pytest.mark.parametrize(
    ("gate", "named"),
    [
        ("accuracy >= 0.9", ["reproduce"]),
        ("accuracy > naive.majority", ["reproduce"]),
        ("accuracy >= baseline", ["reproduce", "accept"]),
        ("no_regression", ["reproduce", "accept"]),
    ],
)
def test_answers_are_accepted_where_a_gate_on_the_baseline_fails(gate: str, named: list[str]) -> None:
    cells = run(outcome(verdicts=(verdict(gate, "FAIL", "no"),), node_id="t.py::t[a]"))
    assert list(commands_of(cells, "triage-zero_shot@m")) == named


def test_nothing_is_accepted_for_a_gate_that_passes() -> None:
    verdicts = (verdict("no_regression", "PASS", ""), verdict("accuracy >= 0.9", "FAIL", "no"))
    cells = run(outcome(verdicts=verdicts, node_id="t.py::t[a]"))
    assert list(commands_of(cells, "triage-zero_shot@m")) == ["reproduce"]


def test_a_cell_that_ended_in_an_error_is_measured_again_and_an_unknown_one_has_no_command() -> None:
    cells = run(faults=(fault("c@m"),))
    assert commands_of(cells, "c@m") == {"reproduce": "pytest t.py::c"}
    assert commands_of(cells, "other@m") == {}
