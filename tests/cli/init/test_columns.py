"""Columns that `pytest-puma init` finds in a file of data."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.init.tickets import FEW_SHOT, TEST, TICKETS, ZERO_SHOT, rows


def test_the_choices_are_printed_with_their_reasons(output: Callable[..., str]) -> None:
    lines = output(TICKETS).splitlines()
    assert lines[:4] == [
        "tickets.csv: 4 rows",
        "  text:  text (the name of a text, or 3 words and more that differ)",
        "  label: team (the only values that repeat): classification, billing, access",
        "  id:    id (differs in each row)",
    ]
    assert [line.strip() for line in lines if ".jinja" in line or ".py" in line][:3] == [
        *map(str, (TEST, ZERO_SHOT, FEW_SHOT))
    ]


@pytest.mark.parametrize(
    ("header", "row", "found"),
    [
        ("label,note", "{label},It is number {n} of all.", ["note", "label", "none"]),
        ("KEY,Title,Body,kind", "K{n},t{n},b{n},{label}", ["Title, Body", "kind", "KEY"]),
        # A customer has several tickets, so that the number of the customer names no row.
        ("customer_id,text,kind", "c,t{n},{label}", ["text", "kind", "none"]),
        ("ticket_id,what,kind", "{n},w{n},{label}", ["what", "kind", "ticket_id"]),
        ("Ticket,what,kind", "T-{n},w{n},{label}", ["what", "kind", "Ticket"]),
        ("Order,text,kind", "T-1,t{n},{label}", ["text", "kind", "none"]),
        # The exact name of a label wins over other values that repeat.
        ("text,team,class", "t{n},{label},{label}", ["text", "class", "none"]),
        ("text,price", "t{n},{n}.5", ["text", "price", "none"]),
        # The answers name columns: these are choices, which belong to the question.
        ("question,a,b,c,answer", "q{n},Oslo,{n},It is {n} of all.,{label}", ["question, a, b, c", "answer", "none"]),
        (
            "question,Option_A,Option_B,answer",
            "q{n},Oslo,{n},{label}",
            ["question, Option_A, Option_B", "answer", "none"],
        ),
        # In no row the answer is c, which is a choice, too; d is another set of columns.
        ("question,a,b,c,option_d,answer", "q{n},Oslo,{n},5,6,{label}", ["question, a, b, c", "answer", "none"]),
        # A column of no letter may say which answer is right.
        ("text,is_a,b,id_x,label", "t{n},1,0,7,{label}x", ["text", "label", "none"]),
        ("text,ax,bx,label", "t{n},1,0,{label}x", ["text", "label", "none"]),
    ],
)
def test_columns_are_found_by_their_names_and_values(
    output: Callable[..., str], header: str, row: str, found: list[str]
) -> None:
    lines = (row.format(n=n, label="ab"[n % 2]) for n in range(12))
    shown = output(rows(*lines, header=header)).splitlines()[1:4]
    assert [re.split(r" \(|: equal", line[9:])[0] for line in shown] == found


def test_a_choice_that_is_never_right_is_a_label(output: Callable[..., str]) -> None:
    lines = [f"q{n},Oslo,Rome,Paris,{'AB'[n % 2]}" for n in range(12)]
    content = rows(*lines, header="question,Option A,Option B,Option C,answer")
    output(content)
    assert 'return ["A", "B", "C"]' in TEST.read_text(encoding="utf-8")
    output(content, "--text=question,Option A,Option B", "--name=two")
    assert 'return ["A", "B"]' in Path("benchmarks", "test_two.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(("values", "task"), [(5, "classification"), (6, "regression")])
def test_a_few_numbers_are_labels_and_many_are_measured(output: Callable[..., str], values: int, task: str) -> None:
    content = rows(*(f"text {n},{n % values}" for n in range(24)), header="text,stars")
    assert f"label: stars (the only {'numbers' if values > 5 else 'values that repeat'}): {task}" in output(content)
    assert f'task_type = "{task}"' in TEST.read_text(encoding="utf-8")


def test_numbers_among_which_one_is_none_are_no_labels(output: Callable[..., str], error: Callable[..., str]) -> None:
    content = rows(*(f"text {n},{n % 8}" for n in range(40)), 'text 40,"1,5"', header="text,points")
    assert error(content) == (
        "tickets.csv: column 'points' has numbers, and 1,5; expected numbers alone: fix the others and state --task "
        "regression; if all are labels: --task classification"
    )
    assert "classification" in output(content, "--task=classification")


def test_options_win_over_what_would_be_found(output: Callable[..., str]) -> None:
    content = rows(*(f"{n},t{n},u{n},{'ab'[n % 2]},{n % 3}" for n in range(12)), header="id,text,more,team,stars")
    options = ["--text=more,text", "--label=stars", "--id=-", "--name=ratings", "--task=regression"]
    assert "text:  more, text (--text)" in output(content, *options)
    test = Path("benchmarks", "test_ratings.py").read_text(encoding="utf-8")
    for line in ('text_fields = ("more", "text")', 'label_column = "stars"', 'task_type = "regression"'):
        assert line in test
    assert "key =" not in test


def test_other_formats_are_read_too(output: Callable[..., str]) -> None:
    lines = [json.dumps({"text": f"text {n}", "label": n % 2 == 0}) for n in range(4)]
    assert "classification, True, False" in output("\n".join(lines), name="flags.jsonl")
    assert 'data = "../flags.jsonl"' in Path("benchmarks", "test_flags.py").read_text(encoding="utf-8")


def test_letters_are_read_as_letters_and_not_as_words(output: Callable[..., str]) -> None:
    lines = (f"q{n},x{n},y{n},{'AB'[n % 2]}" for n in range(12))
    output(rows(*lines, header="question,A,B,answer"))
    test = TEST.read_text(encoding="utf-8")
    assert "from pytest_puma.replies.readers import first_letter\n" in test
    assert 'return first_letter(response, "AB")\n' in test
