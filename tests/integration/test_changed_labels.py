"""A baseline whose answers are labels that the scenario has no more: it cannot be compared with."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from tests.integration.conftest import ONE_PROCESS, Project

TEST = """
import pytest
from pytest_puma import FileScenario

class Teams(FileScenario):
    name = "teams"
    task_type = "classification"
    data = "teams.csv"
    key = "id"
    text_fields = ("text",)
    label_column = "team"

    def valid_labels(self):
        return {labels}

    def parse_response(self, response):
        return response if response in self.valid_labels() else None

@pytest.mark.puma(Teams, strategies=["zero_shot"], samples="all", gates={gates})
def test_teams(puma): pass
"""
OLD, NEW = ("Access", "Hardware"), ("Access", "Devices")


def run(
    project: Project, labels: Sequence[str], *options: str, wrong: int, gates: Sequence[str] = ("no_regression",)
) -> pytest.RunResult:
    """Run 40 rows with recorded answers, the first of them wrong."""
    folder = project.pytester.path
    golds = [labels[row % 2] for row in range(40)]
    answers = [labels[(row + (row < wrong)) % 2] for row in range(40)]
    rows = "".join(f"T{row},text {row},{gold}\n" for row, gold in enumerate(golds))
    (folder / "teams.csv").write_text(f"id,text,team\n{rows}", encoding="utf-8")
    lines = (json.dumps({"id": f"T{row}", "text": answer}) for row, answer in enumerate(answers))
    (folder / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "prompts" / "teams").mkdir(parents=True, exist_ok=True)
    (folder / "prompts" / "teams" / "zero_shot.jinja").write_text("{{ text }}", encoding="utf-8")
    project.write(test_teams=TEST.format(labels=list(labels), gates=list(gates)))
    return project.run("--puma-model=recorded:m=answers.jsonl", *options, model=False)


@ONE_PROCESS
def test_answers_with_a_renamed_label_are_no_baseline(project: Project) -> None:
    run(project, OLD, "--puma-update-baseline", wrong=2).assert_outcomes(passed=1)
    renamed = run(project, NEW, "-o", "puma_missing_baseline=fail", wrong=12)
    why = "the baseline has the answer 'Hardware', which is no label now; --puma-update-baseline makes a new one"
    renamed.assert_outcomes(failed=1)
    renamed.stdout.fnmatch_lines([f"*no_regression: {why}*"])
    run(project, NEW, "--puma-update-baseline", wrong=2).assert_outcomes(passed=1)
    run(project, NEW, wrong=12).stdout.fnmatch_lines(["*a regression (p = *"])


@ONE_PROCESS
def test_a_series_that_began_with_other_labels_starts_again(project: Project) -> None:
    gates = ["no_drift"]
    for labels, wrong in ((OLD, 2), (OLD, 3), (NEW, 4), (NEW, 5)):
        run(project, labels, "--puma-update-baseline", wrong=wrong, gates=gates).assert_outcomes(passed=1)
    (entry,) = json.loads((project.pytester.path / "benchmarks/baselines/teams.json").read_text("utf-8"))[
        "cells"
    ].values()
    assert entry["anchor"]["renewals"] == 1


@ONE_PROCESS
def test_runs_with_other_labels_are_compared_by_their_numbers_alone(project: Project) -> None:
    run(project, OLD, wrong=2)
    result = run(project, NEW, "--puma-compare=last", wrong=12)
    result.stdout.fnmatch_lines(["*no test: *: run 1 has the answer 'Hardware', which is no label any more"])
    result.stdout.no_fnmatch_line("*parse_failure_rate*")
