"""The commands for a failed cell."""

from __future__ import annotations

import pytest

from pytest_puma.report.commands import commands_of, steps
from tests.factories import fault, outcome, run, verdict

ACCEPT = "accept: change the gate where it is written (marker, run-spec, --puma-gate or ini file)"


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


def test_a_gate_on_a_number_or_a_naive_baseline_is_changed_where_it_is_written() -> None:
    verdicts = (verdict("accuracy >= 0.9", "FAIL", "no"), verdict("accuracy > naive.tfidf", "FAIL", "no"))
    assert steps(run(outcome(verdicts=verdicts, node_id="t.py::t[a]"))) == [
        "reproduce: pytest 't.py::t[a]'",
        f"{ACCEPT}: accuracy >= 0.9, accuracy > naive.tfidf",
    ]


def test_a_baseline_is_accepted_by_a_command_alone() -> None:
    assert steps(run(outcome(verdicts=(verdict("no_regression", "FAIL", "no"),), node_id="t.py::t[a]"))) == [
        "reproduce: pytest 't.py::t[a]'",
        "accept: pytest 't.py::t[a]' --puma-update-baseline",
    ]
    assert steps(run(outcome(verdicts=(verdict("no_regression", "PASS", ""),), node_id="t.py::t[a]"))) == []


def test_of_many_failed_cells_the_first_three_have_commands() -> None:
    failed = [outcome(verdicts=(verdict("accuracy >= 0.9", "FAIL", "no"),), node_id=f"t.py::t[{n}]") for n in range(5)]
    assert steps(run(*failed)) == [
        *(f"reproduce: pytest 't.py::t[{n}]'" for n in range(3)),
        "reproduce: 2 more cells missed a gate; the lines FAILED have their ids",
        f"{ACCEPT}: accuracy >= 0.9",
    ]
