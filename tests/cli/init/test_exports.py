"""Exports of issue trackers, of which `pytest-puma init` makes a plain file."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.cli import main

_ISSUES = Path("benchmarks", "issues.csv")
#: Headers as the trackers write them, in their order; columns that do not matter here are left out.
_JIRA = (
    "Summary,Issue key,Issue id,Issue Type,Status,Priority,Reporter,Labels,Labels,Description,"
    "Custom field (Story Points),Comment"
)
_GITLAB = "Title,Description,Issue ID,URL,State,Author,Labels,Time Estimate,Time Spent"
_LINEAR = "ID,Team,Title,Description,Status,Estimate,Priority,Creator,Labels,Created"


def _csv(header: str, *rows: Sequence[object]) -> str:
    stream = StringIO()
    csv.writer(stream).writerows([header.split(","), *rows])
    return stream.getvalue()


def _jira(*rows: tuple[str, str, str, str]) -> str:
    """An export of issues with key, priority, points, and text."""
    return _csv(
        _JIRA,
        *(
            (
                text,
                key,
                10_000 + n,
                "Bug",
                "Open",
                priority,
                "ada@example.org",
                "ui",
                "slow",
                f"See\r\n{key}",
                points,
                "x",
            )
            for n, (key, priority, points, text) in enumerate(rows)
        ),
    )


def _github(*labels: Sequence[str], **more: Any) -> str:
    """An export of issues with these labels, as objects."""
    return json.dumps(
        [
            {
                "body": f"What happens in case {n}?",
                "labels": [{"id": f"L{name}", "name": name, "description": "", "color": "d73a4a"} for name in names],
                "number": n,
                "title": f"Case {n}",
                **more,
            }
            for n, names in enumerate(labels, 1)
        ]
    )


def _written(path: Path = _ISSUES) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_priority_is_the_right_answer_of_an_issue_of_jira(output: Callable[..., str]) -> None:
    rows = [(f"P-{n}", ("High", "Low")[n % 2], "", f"Page {n} is slow.") for n in range(8)]
    shown = output(_jira(*rows), name="issues.csv")
    assert "issues.csv: 8 rows of an export of Jira" in shown
    assert "label: Priority (Priority of Jira): classification, High, Low" in shown
    # The people in an export are no data of the benchmark.
    assert _written()[1] == {
        "Issue key": "P-1",
        "Summary": "Page 1 is slow.",
        "Description": "See\nP-1",
        "Priority": "Low",
    }
    assert 'data = "issues.csv"' in Path("benchmarks", "test_issues.py").read_text(encoding="utf-8")


def test_with_one_priority_the_type_is_the_right_answer(output: Callable[..., str]) -> None:
    rows = [(f"Page {n} is slow.", f"P-{n}", n, ("Bug", "Story")[n % 2], "Medium") for n in range(6)]
    # Some exports begin with a byte order mark, and have no column Description.
    content = "\ufeff" + _csv("Summary,Issue key,Issue id,Issue Type,Priority", *rows)
    shown = output(content, name="issues.csv")
    assert "text:  Summary (those of Jira)" in shown
    assert [row["Issue Type"] for row in _written()] == ["Bug", "Story"] * 3


def test_story_points_are_the_right_answers_of_a_regression(output: Callable[..., str]) -> None:
    rows = [(f"P-{n}", "High", f"{n % 7}.0" if n else "", f"Page {n} is slow.") for n in range(20)]
    shown = output(_jira(*rows), "--task=regression", name="issues.csv")
    assert "left out: 1 without a right answer in Custom field (Story Points)" in shown
    assert {row["Custom field (Story Points)"] for row in _written()} == {str(n) for n in range(7)}


@pytest.mark.parametrize("more", [{}, {"pull_request": None, "state": "open", "type": None}], ids=["gh", "REST"])
def test_labels_of_github_that_exclude_each_other_are_the_right_answers(
    output: Callable[..., str], more: dict[str, Any]
) -> None:
    labels = [["bug", "good first issue"], ["enhancement"], ["bug"], ["enhancement", "help wanted"]]
    shown = output(_github(*labels, ["bug", "enhancement"], [], ["help wanted"], **more), name="issues.json")
    assert "label: kind (labels of GitHub: bug, enhancement): classification" in shown
    assert "left out: 1 with several right answers in labels, 2 without a right answer in labels" in shown
    assert [row["kind"] for row in _written()] == ["bug", "enhancement", "bug", "enhancement"]
    assert _written()[0]["body"] == "What happens in case 1?"


def test_pull_requests_are_no_issues(output: Callable[..., str]) -> None:
    issues = json.loads(_github(*[["bug"], ["question"]] * 3))
    issues[0]["pull_request"] = {"url": "https://example.org/pulls/1"}
    assert "left out: 1 pull requests" in output(json.dumps(issues), name="issues.json")
    assert [row["number"] for row in _written()] == ["2", "3", "4", "5", "6"]


@pytest.mark.parametrize("scoped", ["severity::{}", "severity: {}", "severity/{}"])
def test_the_common_beginning_of_labels_is_the_name_of_the_column(output: Callable[..., str], scoped: str) -> None:
    rows = [
        (f"Case {n}", f"What happens in {n}?", n, f"https://example.org/{n}", "Open", "Ada", labels, 0, 0)
        for n, labels in enumerate([f"ui,{scoped.format('high')}", f"{scoped.format('low')}, docs"] * 4)
    ]
    assert "label: severity (Labels of GitLab: " in output(_csv(_GITLAB, *rows), name="issues.csv")
    assert [row["severity"] for row in _written()] == ["high", "low"] * 4
    assert _written()[0]["Issue ID"] == "0"


def test_labels_of_gitlab_are_texts_in_json(output: Callable[..., str]) -> None:
    issues = [
        {"id": 900 + n, "iid": n, "title": f"Case {n}", "description": None, "labels": [kind], "weight": n}
        for n, kind in enumerate(["bug", "support"] * 3)
    ]
    output(json.dumps(issues), name="issues.json")
    assert [(row["iid"], row["kind"]) for row in _written()][:2] == [("0", "bug"), ("1", "support")]


def test_no_priority_is_no_answer(output: Callable[..., str]) -> None:
    rows = [
        (f"ENG-{n}", "Engineering", f"Case {n}", "Some text", "Done", 3, priority, "Ada", "Bug, UI", "2026-01-01")
        for n, priority in enumerate(["Urgent", "Low", "No priority"] * 3)
    ]
    shown = output(_csv(_LINEAR, *rows), name="issues.csv")
    assert "left out: 3 without a right answer in Priority" in shown
    assert {row["Priority"] for row in _written()} == {"Urgent", "Low"}


def test_the_line_that_makes_the_same_choice_is_printed(output: Callable[..., str]) -> None:
    content = _github(["bug", "ui"], ["question", "ui"], ["bug"], ["question"], ["docs"])
    lines = [line.strip() for line in output(content, name="issues.json").splitlines()]
    choice = "--id number --text title,body --label labels --labels bug,question"
    assert f"same:  pytest-puma init issues.json {choice}" in lines
    output(content, *choice.split(), "--name=again", name="issues.json")
    again = _written(_ISSUES.with_name("again.csv"))
    assert [row["label"] for row in again] == [row["kind"] for row in _written()]


def test_labels_of_ones_own_choice_count_alone(output: Callable[..., str]) -> None:
    content = _github(*[["ui", "bug"], ["parser", "question"], ["ui", "parser"]] * 3)
    shown = output(content, "--labels=ui,parser", name="issues.json")
    assert "left out: 3 with several right answers in labels" in shown
    assert {row["label"] for row in _written()} == {"ui", "parser"}


@pytest.mark.parametrize(
    ("content", "options", "fault"),
    [
        (_github(["ui"], ["bug"]), [], "issues.json: found no two labels that exclude each other, each on two issues"),
        (
            _github([], []),
            [],
            "issues.json: an export of GitHub, in which none of the columns labels has 2 right",
        ),
        (
            _github(["bug"], ["ui"]),
            ["--labels=bg"],
            "--labels bg: no issue of issues.json has it in labels; did you",
        ),
        ("[]", ["--labels=a"], "issues.json: the file has no rows"),
    ],
)
def test_an_export_without_right_answers_is_an_error(
    error: Callable[..., str], content: str, options: list[str], fault: str
) -> None:
    assert error(content, *options, name="issues.json").startswith(fault)


def test_labels_are_an_option_of_exports_alone(error: Callable[..., str]) -> None:
    fault = error("id,text,team\n1,one,a\n2,two,b\n3,three,a\n4,four,b\n", "--labels=a,b")
    assert fault.startswith("--labels: tickets.csv is no export of Jira, GitHub, GitLab or Linear")


def test_a_file_that_is_there_stays(capsys: pytest.CaptureFixture[str]) -> None:
    _ISSUES.parent.mkdir()
    _ISSUES.write_text("mine", encoding="utf-8")
    Path("issues.json").write_text(_github(*[["bug"], ["question"]] * 3), encoding="utf-8")
    assert main(["init", "issues.json"]) == 2
    assert f"{_ISSUES} exists" in capsys.readouterr().err
    assert _ISSUES.read_text(encoding="utf-8") == "mine"


def test_issues_of_several_repositories_need_another_id(error: Callable[..., str]) -> None:
    issues = json.loads(_github(["bug"], ["question"], ["bug"], ["question"]))
    twice = json.dumps([*issues, *issues])
    assert error(twice, name="issues.json").startswith("issues.json: column 'number' has '1' in several rows; expected")
