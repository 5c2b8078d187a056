"""The command `pytest-puma init`: the columns that it finds, the files that it writes, the input that it refuses."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.cli import main
from pytest_puma.cli.init.benchmark import literal
from pytest_puma.cli.init.gates import proposed_gates

TICKETS = """id,text,team
T-1,The invoice shows the wrong amount.,billing
T-2,My password is refused.,access
T-3,I was charged twice.,billing
T-4,The second factor never arrives.,access
"""
TEST, ZERO_SHOT, FEW_SHOT = (
    Path("benchmarks", "test_tickets.py"),
    Path("prompts", "tickets", "zero_shot.jinja"),
    Path("prompts", "tickets", "few_shot.jinja"),
)


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def error(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The error of the command for a file with this content, which leaves nothing but the file."""

    def run(content: str, *options: str, name: str = "tickets.csv") -> str:
        Path(name).write_text(content, encoding="utf-8")
        assert main(["init", name, *options]) == 2
        assert [path.name for path in Path.cwd().iterdir()] == [name]
        return capsys.readouterr().err.removeprefix("pytest-puma: ").rstrip()

    return run


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What the command prints for a file with this content."""

    def run(content: str, *options: str, name: str = "tickets.csv") -> str:
        Path(name).write_text(content, encoding="utf-8")
        assert main(["init", name, *options]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run


def rows(*lines: str, header: str = "id,text,team") -> str:
    return "\n".join([header, *lines, ""])


# -- what is found ---------------------------------------------------------------------------------


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
        # The exact name of a label wins over other values that repeat.
        ("text,team,class", "t{n},{label},{label}", ["text", "class", "none"]),
        ("text,price", "t{n},{n}.5", ["text", "price", "none"]),
    ],
)
def test_columns_are_found_by_their_names_and_values(
    output: Callable[..., str], header: str, row: str, found: list[str]
) -> None:
    lines = (row.format(n=n, label="ab"[n % 2]) for n in range(12))
    shown = output(rows(*lines, header=header)).splitlines()[1:4]
    assert [re.split(r" \(|: equal", line[9:])[0] for line in shown] == found


@pytest.mark.parametrize(("values", "task"), [(5, "classification"), (6, "regression")])
def test_a_few_numbers_are_labels_and_many_are_measured(output: Callable[..., str], values: int, task: str) -> None:
    content = rows(*(f"text {n},{n % values}" for n in range(24)), header="text,stars")
    assert f"label: stars (the only {'numbers' if values > 5 else 'values that repeat'}): {task}" in output(content)
    assert f'task_type = "{task}"' in TEST.read_text(encoding="utf-8")


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


# -- what is refused -------------------------------------------------------------------------------

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
            "column 'label' has 9 different values in 9 rows, such as l0, l1, l2, l3, l4, l5 and 3 more values; "
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
        "row 3, column 'text': nothing to read in text; remove the row (1 more faults in the file)",
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
    assert error(content, "--id=number").startswith(
        "tickets.csv: row 3 (key x), column 'number': row 2 has the same key"
    )


def test_a_file_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "tickets.csv"]) == 2
    assert "tickets.csv: cannot be read (No such file or directory)" in capsys.readouterr().err


# -- what is written -------------------------------------------------------------------------------


@pytest.mark.parametrize("there", [TEST, ZERO_SHOT, FEW_SHOT])
def test_a_file_that_exists_is_never_overwritten(capsys: pytest.CaptureFixture[str], there: Path) -> None:
    Path("tickets.csv").write_text(TICKETS, encoding="utf-8")
    there.parent.mkdir(parents=True)
    there.write_text("mine", encoding="utf-8")
    assert main(["init", "tickets.csv"]) == 2
    assert f"{there} exists, and nothing is overwritten; choose another name: --name NAME" in capsys.readouterr().err
    files = {path.relative_to(Path.cwd()) for path in Path.cwd().rglob("*") if path.is_file()}
    assert files == {Path("tickets.csv"), there}
    assert there.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("ini", "content", "line"),
    [
        ("pytest.ini", "[pytest]\n", "testpaths = benchmarks"),
        ("tox.ini", "[pytest]\n", "testpaths = benchmarks"),
        ("pyproject.toml", "[tool.pytest]\n", 'testpaths = ["benchmarks"]'),
        ("pyproject.toml", "[project]\n", 'testpaths = ["benchmarks"]'),
    ],
)
def test_an_ini_file_stays_and_the_lines_for_it_are_printed(
    output: Callable[..., str], ini: str, content: str, line: str
) -> None:
    Path(ini).write_text(content, encoding="utf-8")
    assert f"{ini} stays as it is; lines for its section of pytest:\n\n{line}\n" in output(TICKETS)
    assert Path(ini).read_text(encoding="utf-8") == content
    assert Path("pytest.ini").exists() == (ini == "pytest.ini")


def test_without_an_ini_file_one_is_written(output: Callable[..., str]) -> None:
    assert "\n  pytest.ini\n" in output(TICKETS)
    assert Path("pytest.ini").read_text(encoding="utf-8").startswith("[pytest]\ntestpaths = benchmarks\n")


def test_a_folder_below_a_project_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Callable[..., str]
) -> None:
    Path("pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert error(TICKETS) == (
        f"this folder is a part of the project of {tmp_path / 'pytest.ini'}, where pytest looks for prompts; "
        f"run this in {tmp_path}"
    )


# -- gates -----------------------------------------------------------------------------------------


def test_gates_that_could_not_decide_are_comments_with_the_number_they_need(output: Callable[..., str]) -> None:
    shown = output(TICKETS)
    assert "gate:  accuracy > naive.majority, as a comment: needs about 110 samples, and there are 4" in shown
    test = TEST.read_text(encoding="utf-8")
    assert '        "parse_failure_rate <= 0.05",\n' in test
    assert '        # "accuracy > naive.majority",  # needs about 110 samples, and there are 4\n' in test


def test_gates_that_can_decide_are_active(output: Callable[..., str]) -> None:
    content = rows(*(f"{n},text {n},{'ab'[n % 2]}" for n in range(120)))
    assert "comment" not in output(content)
    test = TEST.read_text(encoding="utf-8")
    assert '        "accuracy > naive.majority",\n' in test
    assert '        "no_regression",\n' in test
    assert 'samples="all"' in test


def test_a_large_file_lends_as_many_samples_as_the_gates_need(output: Callable[..., str]) -> None:
    # The rarer the other label, the smaller a lead can be.
    content = rows(*(f"{n},text {n},{'b' if n % 10 == 0 else 'a'}" for n in range(2000)))
    output(content)
    (samples,) = [line.strip() for line in TEST.read_text(encoding="utf-8").splitlines() if "samples=" in line]
    assert 200 < int(samples.removeprefix("samples=").rstrip(",")) < 500


@pytest.mark.parametrize(
    ("golds", "needed"),
    [
        (["a", "b"] * 50, 103),
        (["a"] * 90 + ["b"] * 10, 464),
        (["a", "b", "c", "d", "e"] * 20, 91),
    ],
)
def test_the_gate_on_labels_needs_more_samples_for_a_smaller_lead(golds: list[str], needed: int) -> None:
    gate = proposed_gates("classification", golds)[1]
    assert gate.gate == "accuracy > naive.majority"
    assert gate.needed == pytest.approx(needed, rel=0.05)


def test_the_gate_on_numbers_needs_more_samples_for_a_wider_spread() -> None:
    even, wide = (proposed_gates("regression", [str(gold) for gold in golds]) for golds in ([1, 3] * 9, [1] * 9 + [99]))
    assert even[1].needed == 1
    assert wide[1].needed > 1000
    assert even[2].gate == "no_regression"
    assert wide[2].decides(100) is False


@given(text=st.text())
def test_any_text_is_written_as_python_and_jinja_read_it(text: str) -> None:
    written = literal(text)
    assert ast.literal_eval(written) == text
    assert jinja2.Environment(autoescape=True).compile_expression(written)() == text
