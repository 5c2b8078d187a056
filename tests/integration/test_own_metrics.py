"""Metrics as a user writes them: measured, gated, compared, sliced, stopped early and reported without more code."""

from __future__ import annotations

import csv
import json

from tests.integration.conftest import ONE_PROCESS, Project

MAIL = """
import pandas as pd
import pytest

from pytest_puma import Pool, Scenario, metric


@metric
def names_it(sample, prediction):
    return float(sample.gold in prediction.text)


@metric(better="low")
def distance(sample, prediction):
    order = ["low", "medium", "high"]
    return abs(order.index(prediction.answer) - order.index(sample.gold)) / 2 if prediction.answer else 1.0


@metric(better="low", unit="characters", bounds=None)
def extra_characters(sample, prediction):
    return len(prediction.text) - len(sample.gold)


@metric(pool=Pool(3, lambda sums: 2 * sums[:, 0] / (sums[:, 1] + sums[:, 2])))
def letter_f1(sample, prediction):
    found, right = set(prediction.text), set(sample.gold)
    return len(found & right), len(found), len(right)


@metric(per="sample")
def all_agree(sample, predictions):
    return float(len({each.answer for each in predictions}) == 1)


FIVE = (names_it, distance, extra_characters, letter_f1, all_agree)


class Mail(Scenario):
    name = "mail"
    task_type = "classification"
    text_fields = ("text",)
    group_columns = ("subject",)
    scores = FIVE

    def sample(self, n, seed=42):
        labels = self.valid_labels()
        rows = [
            {"text": f"mail {row} of {subject}", "urgency": labels[row % 3], "subject": subject}
            for row in range(80)
            for subject in ("law", "art")
        ]
        return pd.DataFrame(rows[:n])

    def gold_label(self, instance):
        return instance["urgency"]

    def parse_response(self, response):
        return next((label for label in self.valid_labels() if label in response), None)

    def valid_labels(self):
        return ["low", "medium", "high"]
"""
TEST = """

@pytest.mark.puma(
    Mail,
    strategies=["zero_shot"],
    samples={samples},
    metrics=[each.name for each in FIVE],
    gates={gates},
    {more}
)
def test_mail(puma):
    pass
"""
#: Right for three of four mails; `worse` makes it two of four.
MODEL = """
import re
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    def answer(prompt):
        number = int(re.search(r"mail (\\d+) of", prompt)[1])
        right = number % 4 < {right}
        return ["low", "medium", "high"][number % 3 if right else (number + 1) % 3]
    return ScriptedBackend(answer)
"""
NAMES = ("names_it", "distance", "extra_characters", "letter_f1", "all_agree")
KEPT = ["names_it >= 0.5", "distance <= 0.5", "extra_characters <= 9", "letter_f1 >= 0.5", "all_agree >= 0.9"]
BASELINE = [
    "names_it >= baseline - 0.01",
    "distance <= baseline + 0.01",
    "letter_f1 >= baseline - 0.01",
    "extra_characters <= baseline + 9",
    "all_agree >= baseline - 0.2",
]


def _write(project: Project, gates: list[str], *, right: int = 3, samples: int = 80, more: str = "") -> None:
    project.write(
        conftest=MODEL.format(right=right), test_mail=MAIL + TEST.format(samples=samples, gates=gates, more=more)
    )
    folder = project.pytester.path / "prompts" / "mail"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "zero_shot.jinja").write_text("{{ text }}: low, medium or high?", encoding="utf-8")


def test_they_are_measured_gated_sliced_and_in_all_reports(project: Project) -> None:
    slices = ["names_it[mean subject] >= 0.5", "distance[subject=law] <= 0.5", "letter_f1[min subject] >= 0.3"]
    _write(project, [*KEPT, *slices])
    reports = ("--puma-report=csv:r.csv", "--puma-report=md:r.md", "--puma-report=junit-props", "--junitxml=j.xml")
    result = project.run(*reports)
    result.assert_outcomes(passed=1)
    (outcome,) = project.record()["outcomes"]
    assert [verdict["status"] for verdict in outcome["verdicts"]] == ["PASS"] * 8
    assert (outcome["measures"]["extra_characters"]["better"], outcome["measures"]["extra_characters"]["n"]) == (
        "low",
        80,
    )
    files = [(project.pytester.path / name).read_text(encoding="utf-8") for name in ("r.csv", "r.md", "j.xml")]
    for name in NAMES:
        result.stdout.fnmatch_lines([f"* {name} *"])
        assert all(name in text for text in files)
    assert {row["metric"] for row in csv.DictReader(files[0].splitlines())} >= {*NAMES, "names_it[mean subject]"}
    predictions = project.predictions()
    assert len(predictions) == 80
    assert all(set(NAMES) < set(line["scores"]) for line in predictions)


@ONE_PROCESS
def test_they_are_compared_with_a_baseline(project: Project) -> None:
    _write(project, BASELINE)
    project.run("--puma-update-baseline").assert_outcomes(passed=1)
    project.run("--puma-flips").assert_outcomes(passed=1)
    for folder in (project.pytester.path / ".puma" / "runs").iterdir():
        (folder / "run.json").unlink()
        (folder / "predictions.jsonl").unlink()
        folder.rmdir()
    _write(project, BASELINE, right=1)
    result = project.run("--puma-flips", "--puma-compare=baseline")
    result.assert_outcomes(failed=1)
    (outcome,) = project.record()["outcomes"]
    status = {verdict["gate"]["metric"]: verdict["status"] for verdict in outcome["verdicts"]}
    assert {name for name, each in status.items() if each == "FAIL"} == {"names_it", "distance", "letter_f1"}
    contrasts = project.record()["contrasts"]
    changes = {each["change"]["metric"]: each["change"] for each in contrasts}
    assert (changes["names_it"]["worse"], changes["names_it"]["better"], changes["names_it"]["n"]) == (40, 0, 80)
    assert {each["test"] for each in contrasts if each["change"]["metric"] in NAMES} == {
        "mcnemar",
        "permutation",
        "bootstrap",
    }


@ONE_PROCESS
def test_they_can_end_a_cell_early(project: Project) -> None:
    _write(project, ["names_it >= 0.2", "distance <= 0.9"], samples=160)
    project.run("--puma-stop-early").assert_outcomes(passed=1)
    (outcome,) = project.record()["outcomes"]
    assert outcome["left_out"] > 0


def test_a_hook_makes_a_metric_known_to_scenarios_that_list_nothing(alone: Project) -> None:
    hook = """
from pytest_puma import metric

@metric(better="low", bounds=None)
def reply_length(sample, prediction):
    return len(prediction.text)

def pytest_puma_metrics():
    return [reply_length]
"""
    test = """
import pytest

@pytest.mark.puma('triage_jira', strategies=['zero_shot'], samples=8, metrics=['reply_length'])
def test_triage(puma):
    assert puma['reply_length'] == 5
"""
    alone.write(conftest=(alone.pytester.path / "conftest.py").read_text(encoding="utf-8") + hook, test_triage=test)
    result = alone.run("--puma-gate=reply_length <= 6", "--puma-gate=triage_jira: reply_lenght <= 6")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*triage_jira has no metric 'reply_lenght'; did you mean 'reply_length'*"])
    alone.run("--puma-gate=reply_length <= 6").assert_outcomes(passed=1)


def test_a_metric_that_raises_is_an_error_that_keeps_the_predictions(project: Project) -> None:
    _write(project, [])
    file = project.pytester.path / "test_mail.py"
    file.write_text(
        file.read_text(encoding="utf-8").replace("return float(sample.gold in", "return float(sample.gld in")
    )
    result = project.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*metric 'names_it' raised AttributeError on sample '*': *no attribute 'gld' (test_mail.py:*)*"]
    )
    assert len(project.predictions()) == 80
    (fault,) = project.record()["faults"]
    assert "names_it" in fault["message"]


def test_a_metric_of_a_whole_cell_that_raises_is_an_error_that_keeps_the_predictions(alone: Project) -> None:
    _write(alone, [])
    file = alone.pytester.path / "test_mail.py"
    own = '    def metrics(self):\n        return {"of_all": lambda rows: {}["x"]}\n\n    def valid_labels'
    file.write_text(file.read_text(encoding="utf-8").replace("    def valid_labels", own))
    result = alone.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*metric 'of_all' raised KeyError: 'x' (test_mail.py:*)*"])
    assert len(alone.predictions()) == 80


def test_a_slice_of_an_unknown_column_is_an_error_at_collection(alone: Project) -> None:
    _write(alone, ["names_it[mean topic] >= 0.5"])
    result = alone.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*mail has no group column 'topic'; there are: subject*"])


def test_numbers_are_the_same_alone_and_with_workers(alone: Project) -> None:
    _write(alone, KEPT)
    measures = []
    for arguments in ((), ("-n2",)):
        alone.pytester.runpytest_subprocess("-p", "xdist", *arguments, f"--puma-model={alone.model}")
        newest = max((alone.pytester.path / ".puma" / "runs").iterdir(), key=lambda each: each.stat().st_mtime_ns)
        (outcome,) = json.loads((newest / "run.json").read_text(encoding="utf-8"))["outcomes"]
        measures.append({name: outcome["measures"][name] for name in NAMES})
    assert measures[0] == measures[1]
