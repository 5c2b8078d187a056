"""Bars by label: F1 of each cell, from the measures of the run."""

from __future__ import annotations

from dataclasses import replace

from pytest_puma.core import TaskInfo
from pytest_puma.report.page.labels import Bar, label_table
from pytest_puma.report.rows import number
from tests.factories import measure, outcome, unmeasured
from tests.report.page.page import Page
from tests.report.page.scripted import Recorded

TASK = TaskInfo(type="classification", labels=("A", "B"), primary="accuracy", better="high")


def test_the_page_has_f1_of_each_label_of_each_unperturbed_cell(run: Recorded, page: Page) -> None:
    (table,) = (table for table in page.tables if table[0][:2] == ["strategy", "model"] and "metric" not in table[0])
    outcomes = [outcome for outcome in run.run.outcomes if outcome.name.scenario == "triage_jira"]
    plain = [outcome for outcome in outcomes if outcome.name.perturbation is None]
    labels = plain[0].task.labels
    assert table[0][2:] == list(labels)
    assert table[1:] == [
        [each.name.shown, each.name.model, *(number(each[f"per_class.{label}.f1"]) for label in labels)]
        for each in plain
    ]


def test_a_bar_is_as_long_as_its_value_and_missing_without_one() -> None:
    measures = {"per_class.A.f1": measure(value=0.5), "per_class.B.f1": unmeasured("per_class.B.f1")}
    made = outcome("t-a@q", measures=measures)
    table = label_table(TASK, [made, outcome("t-a@q+loud-1", measures=measures), outcome("t-b@q")])
    assert table is not None
    assert table.rows == ((made, (Bar("0.5", 0.5), None)),)


def test_other_tasks_and_many_labels_have_no_table() -> None:
    measures = {f"per_class.{label}.f1": measure(value=0.5) for label in range(20)}
    many = replace(TASK, labels=tuple(map(str, range(20))))
    assert label_table(many, [outcome("t-a@q", measures=measures)]) is None
    assert label_table(TaskInfo(type="regression"), [outcome("t-a@q")]) is None
