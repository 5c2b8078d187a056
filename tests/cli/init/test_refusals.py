"""Rows and options that `pytest-puma init` refuses; nothing is written then."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_puma.cli import main
from tests.cli.init.tickets import TICKETS, rows

_BAD = {
    "no label": (
        rows("1,one,p", "2,two,q"),
        (
            "no column has the right answers: expected 2 to 100 values that repeat, or numbers; the columns are: "
            "text (2 values), team (2 values); name one: --label COLUMN"
        ),
    ),
    "several labels": (
        rows(*(f"t{n},{n % 2},{n % 2}" for n in range(4)), header="text,team,kind"),
        "several columns could have the right answers: team (2 values), kind (2 values); choose one: --label team",
    ),
    "one label": (
        rows("t1,a", "t2,a", header="text,label"),
        "column 'label' has a; expected at least two different right answers",
    ),
    "labels that do not repeat": (
        rows(*(f"t{n},l{n}" for n in range(9)), header="text,label"),
        (
            "column 'label' has 9 different values in 9 rows, such as l0, l1, l2, l3, l4, l5 and 3 more; "
            "expected labels that repeat, up to 100; for numbers: --task regression; for free text, see "
            "docs/tasks/completion.md"
        ),
    ),
    "too many labels": (
        rows(*(f"t{n},l{n % 101}" for n in range(303)), header="text,label"),
        "column 'label' has 101 different values in 303 rows",
    ),
    "labels in two spellings": (
        rows("t1,Bug", "t2,bug", "t3,Bug", "t4,bug", header="text,label"),
        "column 'label' has the labels 'Bug' and 'bug', which differ in case alone; write them in one way",
    ),
    "a missing label": (
        rows("t1,a", "t2,b", "t3,a", "t4,NaN", "t5,b", header="text,label"),
        "row 5, column 'label': found nothing, expected one of a, b; fix or remove the row",
    ),
    "an empty text": (
        rows("t1,a", " ,b", "t3,a", "nan,b", header="text,label"),
        "row 3, column 'text': nothing to read in text; remove the row (1 more fault in the file)",
    ),
    "doubled ids": (
        rows("1,t1,a", "1,t2,b", "2,t3,a", "3,t4,b"),
        (
            "column 'id' has '1' in several rows; expected another value in each row; fix it, name another column: "
            "--id COLUMN, or do without: --id -"
        ),
    ),
    "an empty id": (rows("1,t1,a", ",t2,b", "2,t3,a", "3,t4,b"), "column 'id' has empty cells; expected another value"),
    "no text": (
        rows("1,a", "2,b", "3,a", "4,b", header="id,label"),
        "no column has texts; the other columns are: none; name them: --text COLUMNS",
    ),
    "no rows": ("id,text,team\n", "the file has no rows; expected one row for each question, under a header"),
}


@pytest.mark.parametrize(("content", "fault"), _BAD.values(), ids=_BAD)
def test_bad_rows_are_an_error_and_nothing_is_written(error: Callable[..., str], content: str, fault: str) -> None:
    assert error(content).startswith(f"tickets.csv: {fault}")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--label=teem"], "--label teem: tickets.csv has no such column to choose; did you mean 'team'? there are: "),
        (["--text=team"], "--text team: tickets.csv has no such column to choose; there are: text"),
        (["--text=,"], "--text is ','; expected names of columns: a,b"),
        (["--name=a-b"], "--name a-b: expected letters, digits and '_', as in support_tickets"),
        (["--name=triage_jira"], "triage_jira is the name of a built-in scenario, whose prompts would be replaced; "),
        (["--task=regression", "--label=team"], "tickets.csv: row 2 (key T-1), column 'team': found 'billing', "),
    ],
)
def test_bad_options_are_an_error_and_nothing_is_written(
    error: Callable[..., str], options: list[str], fault: str
) -> None:
    assert error(TICKETS, *options).startswith(fault)


def test_a_chosen_id_that_is_there_twice_is_an_error(error: Callable[..., str]) -> None:
    content = rows(*(f"t{n},{'ab'[n % 2]},x" for n in range(4)), header="text,label,number")
    assert error(content, "--id=number") == (
        "tickets.csv: column 'number' has 'x' in several rows; expected another value in each row; fix it, name "
        "another column: --id COLUMN, or do without: --id -"
    )


def test_a_file_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "tickets.csv"]) == 2
    assert "tickets.csv: cannot be read (No such file or directory)" in capsys.readouterr().err
