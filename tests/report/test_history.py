"""The list of runs and the trend of a metric, on terminals of any width."""

from __future__ import annotations

import pytest

from pytest_puma.core import Invocation, Measure
from pytest_puma.report.history import runs, trend
from pytest_puma.runs.rows import MeasureRow, RunRow, TrendStep


def _run(number: int) -> RunRow:
    commit = Invocation(branch="main", commit="3f2c1d9a0b1e", dirty=True)
    day = f"2026-11-{number:02}"
    return RunRow(
        name=f"{day.replace('-', '')}T124000-2533", number=number, started=f"{day}T12:40:00+00:00", invocation=commit
    )


def _step(number: int, note: str = "", changed: tuple[str, ...] = ()) -> TrendStep:
    row = MeasureRow(
        run=_run(number),
        measure=Measure(metric="f1_macro", value=0.726, low=0.576, high=0.833, n=200, note=note),
        signature={},
    )
    return TrendStep(row=row, change=-0.1, interval=(-0.187, -0.0123), changed=changed)


STEPS = [_step(1), _step(2, note="n under 30", changed=("engine", "data")), _step(3, note="n under 30")]


def test_a_wide_trend_has_a_row_a_run_and_the_notes_of_its_stars() -> None:
    title, head, _, first, second, _, note = trend("triage_jira-zero_shot@q", "f1_macro", STEPS, 200)
    assert title == "triage_jira-zero_shot@q: f1_macro"
    words = ["#", "when", "(UTC)", "commit", "n", "value", *(interval := ["95", "%", "interval"]), "change", *interval]
    assert head.split() == [*words, "changed", "since"]
    assert " 200   0.726  [0.576, 0.833] " in first
    assert second.endswith("engine, data")
    assert note == "* n under 30 (run 2 and 1 more)"


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_narrow_trend_loses_nothing(width: int) -> None:
    lines = trend("triage_jira-zero_shot@q", "f1_macro", STEPS, width)
    assert max(map(len, lines)) <= max(width, 75)
    text = "\n".join(lines)
    for word in ("200", "main@3f2c1d9", "2026-11-02 12:40", "[-0.187, -0.0123]", "engine, data", "worse"):
        assert word in text, word
    assert text.count("changed since: ") == (0 if width > 110 else 1)


def test_a_narrow_list_of_runs_leaves_out_the_time_that_is_in_their_names() -> None:
    lines = runs([_run(1), _run(2)], 80)
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["#", "run", "commit", "cells", "failed", "kept", "answers"]
