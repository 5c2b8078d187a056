"""Exports of issue trackers, known by their columns, as tables with one right answer for each issue.

    Jira     CSV, in which columns such as Labels and Comment repeat
    GitHub   JSON of `gh issue list --json number,title,body,labels`, or of the REST API
    GitLab   CSV; or JSON of `glab issue list --output json`, or of the REST API
    Linear   CSV

An issue can have several labels, and a sample has one right answer. Labels with the same beginning, such as `type: bug`
and `type: docs`, form a family, as do the usual names of kinds, such as `bug` and `question`. The family is chosen from
which most issues have exactly one label; the other issues are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_puma.cli.init.columns import Task
from pytest_puma.cli.init.file_column import MIN_LABELS
from pytest_puma.core import DataError
from pytest_puma.datasets.frames import Table, cell_text
from pytest_puma.datasets.table import read_records
from pytest_puma.phrases import named, there_are

TRACKERS = "Jira, GitHub, GitLab or Linear"
_LABELS = "labels"
_PULL_REQUEST = "pull_request"
#: Values that stand for none.
_NONE = frozenset({"no priority"})
#: Labels that name the kind of an issue, as trackers propose and people write them.
_KINDS = frozenset(
    {"bug", "chore", "defect", "docs", "documentation", "enhancement", "feature", "feature request", "improvement"}
    | {"incident", "maintenance", "question", "refactor", "regression", "story", "support", "task", "tech debt"}
)
_KIND = "kind"
#: `priority::high`, `type: bug`, `area/parser`
_SCOPED = re.compile(r"([^:/]*[^:/\s])\s*(?:::|:|/)\s*(\S.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracker:
    """The columns of an export, which is `known_by` some of them.

    `labels`, `numbers`: those of right answers for either task; the first one with several values is used.
    """

    name: str
    known_by: tuple[str, ...]
    key: str
    text: tuple[str, ...]
    labels: tuple[str, ...]
    numbers: tuple[str, ...] = ()


_TRACKERS = (
    Tracker(
        name="Jira",
        known_by=("Issue key", "Summary"),
        key="Issue key",
        text=("Summary", "Description"),
        labels=("Priority", "Issue Type"),
        numbers=("Custom field (Story Points)", "Custom field (Story point estimate)"),
    ),
    Tracker(
        name="GitHub",
        known_by=("number", "title", "labels"),
        key="number",
        text=("title", "body"),
        labels=("labels",),
    ),
    Tracker(
        name="GitLab",
        known_by=("iid", "title", "labels"),
        key="iid",
        text=("title", "description"),
        labels=("labels",),
        numbers=("weight",),
    ),
    Tracker(
        name="GitLab",
        known_by=("Issue ID", "URL", "Title", "Labels"),
        key="Issue ID",
        text=("Title", "Description"),
        labels=("Labels",),
        numbers=("Weight",),
    ),
    Tracker(
        name="Linear",
        known_by=("ID", "Team", "Title", "Status", "Priority"),
        key="ID",
        text=("Title", "Description"),
        labels=("Priority", "Labels"),
        numbers=("Estimate",),
    ),
)

#: The values of an issue in each column.
_Issue = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """The issues of an export that can be samples.

    `column`: that of the right answers in the export, `label`: the one in the table. `labels`: those that count, where
    an issue can have several. `left_out`: the number of other issues, by the reason.
    """

    tracker: Tracker
    table: Table
    column: str
    label: str
    labels: tuple[str, ...]
    left_out: Mapping[str, int]

    @property
    def text(self) -> tuple[str, ...]:
        """The columns that the model reads."""
        return tuple(name for name in self.tracker.text if name in self.table.header)

    @property
    def why(self) -> str:
        """Why the label was chosen."""
        if self.labels:
            return f"{self.column} of {self.tracker.name}: {named(self.labels)}"
        return f"{self.column} of {self.tracker.name}"


def read_export(
    data: bytes, table: Table, *, name: str, label: str | None, labels: Sequence[str], task: Task | None
) -> Export | None:
    """Return the export in the file `name`, None if it is another file; `table`: its content as one of text.

    `label`, `labels` and `task` are the options of the user, empty or None for what is to be found. A `DataError` names
    the columns if none has right answers.
    """
    tracker = next((tracker for tracker in _TRACKERS if set(tracker.known_by) <= set(table.header)), None)
    if tracker is None:
        return None
    issues = list(_issues(data, table, name))
    column = label or _column(tracker, [issue for _, issue in issues], task, name)
    found = [set(issue.get(column, ())) for _, issue in issues]
    gold, answers = _answers(column, found, labels, name)
    header = [other for other in dict.fromkeys(table.header) if other.casefold() != gold.casefold()]
    rows, left_out = [], Counter[str]()
    for number, issue in issues:
        of_issue = {answers[value] for value in issue.get(column, ()) if value in answers}
        if reason := _unusable(issue, tracker, column, of_issue):
            left_out[reason] += 1
        else:
            rows.append((number, (*("\n".join(issue.get(other, ())) for other in header), *of_issue)))
    return Export(
        tracker=tracker,
        table=Table(name=table.name, header=(*header, gold), rows=tuple(rows)),
        column=column,
        label=gold,
        labels=tuple(answers) if labels or column.casefold() == _LABELS else (),
        left_out=left_out,
    )


def _issues(data: bytes, table: Table, name: str) -> Iterator[tuple[int, _Issue]]:
    """The number of each row in the file, and its issue."""
    if ".json" in name or ".ndjson" in name:
        for number, record in read_records(data, name=name):
            yield number, {column: tuple(_values(value)) for column, value in record.items()}
        return
    for number, cells in table.rows:
        issue: dict[str, list[str]] = {}
        for column, cell in zip(table.header, cells, strict=True):
            parts = (cell or "").split(",") if column.casefold() == _LABELS else [cell]
            issue.setdefault(column, []).extend(filter(None, map(cell_text, parts)))
        yield number, issue


def _values(value: Any) -> Iterator[str]:
    """The texts of a value in JSON; of an object, its name."""
    if isinstance(value, list):
        for part in value:
            yield from _values(part)
    elif isinstance(value, Mapping):
        yield from _values(value.get("name") or value.get("title") or value.get("url"))
    elif value is not None and (text := cell_text(str(value))):
        yield text


def _column(tracker: Tracker, issues: Sequence[_Issue], task: Task | None, name: str) -> str:
    columns = tracker.numbers if task == "regression" else tracker.labels
    for column in columns:
        values = {value for issue in issues for value in issue.get(column, ())}
        if len(values) >= MIN_LABELS:
            return column
    known = dict.fromkeys(column for issue in issues for column in issue)
    msg = (
        f"{name}: an export of {tracker.name}, in which none of the columns {', '.join(columns) or '(no numbers)'} has "
        f"{MIN_LABELS} right answers; choose one: --label COLUMN; the columns are: {', '.join(known)}"
    )
    raise DataError(msg)


def _answers(column: str, issues: Sequence[set[str]], given: Sequence[str], name: str) -> tuple[str, Mapping[str, str]]:
    """The column of the right answers in the table, and the right answer that each value of an export stands for."""
    times = Counter(value for values in issues for value in values if value.casefold() not in _NONE)
    for value in given:
        if value not in times:
            msg = f"--labels {value}: no issue of {name} has it in {column}; {there_are(value, sorted(times))}"
            raise DataError(msg)
    several = column.casefold() == _LABELS
    if given or not several:
        return "label" if several else column, {value: value for value in given or times}
    families: dict[str, dict[str, str]] = {}
    # A label of a single issue is a rare one.
    for label in sorted(label for label, count in times.items() if count > 1):
        if scoped := _SCOPED.fullmatch(label):
            families.setdefault(scoped[1].casefold(), {})[label] = scoped[2]
        else:
            families.setdefault(_KIND if label.casefold() in _KINDS else "", {})[label] = label
    families = {family: labels for family, labels in families.items() if len(labels) >= MIN_LABELS}
    if not families:
        msg = (
            f"{name}: found no two labels that exclude each other, each on two issues or more; name those that count: "
            f"--labels A,B, or another column: --label COLUMN; the labels are: {named(sorted(times))}"
        )
        raise DataError(msg)
    family = max(families, key=lambda family: (family != "", _covered(families[family], issues)))
    return family or "label", families[family]


def _covered(labels: Collection[str], issues: Sequence[set[str]]) -> int:
    """The number of issues that have exactly one of the labels."""
    return sum(len(values.intersection(labels)) == 1 for values in issues)


def _unusable(issue: _Issue, tracker: Tracker, column: str, answers: Collection[str]) -> str:
    """Return why an issue is no sample, empty if it is one."""
    if issue.get(_PULL_REQUEST):
        return "pull requests"
    if not any(issue.get(name) for name in tracker.text):
        return "without a text"
    if not answers:
        return f"without a right answer in {column}"
    return f"with several right answers in {column}" if len(answers) > 1 else ""
