"""The benchmark that `pytest-puma init` writes runs at once, on the bundled model and with any names of columns."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import pytest

from pytest_puma.cli import main
from pytest_puma.strategies.template import PLACEHOLDER
from tests.integration.conftest import Project

KINDS = ("bug", "feature request", "question")
#: A model that always gives the same answer.
SAYS = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend({{}}, default={reply!r})
"""


def init(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """Run the command here and write its line; return the arguments of the first command that it prints as the next."""
    capsys.readouterr()
    assert main(["init", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    line = lines[lines.index("next:") + 1]
    write_line()
    return shlex.split(line.partition("#")[0])[1:]


def write_line() -> None:
    """Replace the line that a person writes in templates."""
    for path in Path("prompts").rglob("*.jinja"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(PLACEHOLDER, "as the handbook has it"), encoding="utf-8")


def write_csv(path: Path, header: list[str], rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])


def test_in_an_empty_folder_the_benchmark_runs_on_the_bundled_model(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [[f"T-{n}", f"Ticket {n} is about something.", KINDS[n % 3]] for n in range(12)]
    write_csv(pytester.path / "tickets.csv", ["id", "text", "kind"], rows)
    result = pytester.runpytest_subprocess("-p", "no:xdist", *init(capsys, "tickets.csv"))
    assert result.parseoutcomes().keys() <= {"passed", "failed"}
    assert sum(result.parseoutcomes().values()) == 2
    result.stdout.fnmatch_lines(
        ["*option_scoring*f1_macro*", "*parse_failure_rate*PASS*", "tickets: tickets.csv (sha256*"]
    )


@pytest.mark.parametrize(
    "names",
    [
        ("text", "kind"),
        ("Issue Summary", "Custom field (Kind)"),
        ("labels", "scenario"),
        ("items", "class"),
        ("{{ text }}", "{% kind %}"),
        ('a "quoted" name', "it's \\ one"),
        ("Größe", "Art\u00a0der\u200b\U000e0001Sa\nche"),
    ],
    ids=range(7),
)
def test_columns_of_any_name_reach_the_prompt(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], gguf: Path, names: tuple[str, str]
) -> None:
    text, label = names
    rows = [[f"What happens in case {n}?", KINDS[n % 3]] for n in range(15)]
    write_csv(pytester.path / "rows.csv", [text, label], rows)
    project = Project(pytester, gguf, 0)
    project.write(conftest=SAYS.format(reply="Question."))
    (test,) = init(capsys, "rows.csv", f"--text={text}" if "," not in text else "", f"--label={label}")
    with (pytester.path / "pytest.ini").open("a", encoding="utf-8") as stream:
        stream.write("puma_naive_baselines = false\n")
    options = ["--puma-strategy=zero_shot,few_shot_2", "--puma-samples=9"]
    project.run(test, *options).assert_outcomes(passed=2)
    answers = [(each["gold"], each["answer"]) for each in project.predictions()]
    assert len(answers) == 18
    assert {answer for _, answer in answers} == {"question"}
    # Each row is in the prompt of its own sample, and the two examples in all prompts of the other cell.
    kept = (project.folder / "predictions.jsonl").read_text(encoding="utf-8")
    assert kept.count("What happens in case") > 18


def test_numbers_are_estimated(pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], gguf: Path) -> None:
    rows = [[f"Story {n} needs some work.", f"{n % 13}.5"] for n in range(30)]
    write_csv(pytester.path / "stories.csv", ["story", "days"], rows)
    project = Project(pytester, gguf, 0)
    project.write(conftest=SAYS.format(reply="About 6.5 days."))
    (test,) = init(capsys, "stories.csv")
    project.run(test).assert_outcomes(passed=2)
    written = [each for each in project.predictions() if each["cell"].startswith("stories-zero_shot")]
    assert {each["answer"] for each in written} == {"6.5"}


def test_a_line_that_nobody_wrote_never_reaches_a_model_in_silence(pytester: pytest.Pytester, gguf: Path) -> None:
    rows = [[f"Ticket {n} is about something.", KINDS[n % 3]] for n in range(9)]
    write_csv(pytester.path / "tickets.csv", ["text", "kind"], rows)
    project = Project(pytester, gguf, 0)
    project.write(conftest=SAYS.format(reply="bug"))
    assert main(["init", "tickets.csv"]) == 0
    options = ("benchmarks", "--puma-strategy=zero_shot,few_shot_2", "--puma-samples=6")
    result = project.run(*options, "-Wdefault::UserWarning")
    for name in ("zero_shot", "few_shot"):
        place = pytester.path / "prompts" / "tickets" / f"{name}.jinja"
        result.stdout.fnmatch_lines([f"*puma: {place}: models read '{PLACEHOLDER}' as it stands; do what it asks"])
    write_line()
    # Warnings are errors there.
    project.run(*options).assert_outcomes(passed=2)


def test_an_export_of_a_tracker_becomes_a_benchmark(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], gguf: Path
) -> None:
    issues = [
        {
            "number": n,
            "title": f"Case {n}",
            "body": None,
            "labels": [{"name": ("bug", "question")[n % 2]}, {"name": "ui"}],
        }
        for n in range(12)
    ]
    (pytester.path / "issues.json").write_text(json.dumps(issues), encoding="utf-8")
    project = Project(pytester, gguf, 0)
    project.write(conftest=SAYS.format(reply="question"))
    (test,) = init(capsys, "issues.json")
    project.run(test).assert_outcomes(passed=2)
    written = [each for each in project.predictions() if each["cell"].startswith("issues-zero_shot")]
    assert sorted((each["gold"], each["answer"]) for each in written) == [
        *[("bug", "question")] * 6,
        *[("question",) * 2] * 6,
    ]
