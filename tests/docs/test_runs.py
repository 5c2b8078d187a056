"""docs/reference/runs.md against the code: its commands run on a project like that of the page."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from pytest_puma.cli import main
from pytest_puma.report.export import WRITERS
from pytest_puma.runs import names
from tests.docs.reference import ROOT, names_in, table

# It also imports what no run in this process may import a second time.
from tests.integration.conftest import INI
from tests.processes import run_pytest

PAGE = (ROOT / "docs" / "reference" / "runs.md").read_text(encoding="utf-8")
BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "option_scoring"], samples=100, gates=["accuracy >= 0.5"])
def test_triage(puma):
    pass
"""
SHORT = (
    "<issue>\nTitle: {{ title }}\n{% if description %}\nDescription: {{ description[:60] }}\n{% endif %}\n</issue>\n"
)
#: What differs from run to run: names, which have one more number if two runs begin in a second, commits, times, sizes,
#: digests.
VOLATILE = re.compile(
    r"\d{8}T\d{6}-\d+(-\d+)?|@[0-9a-f]{7}|\d{4}-\d\d-\d\d \d\d:\d\d|\d\.\d MB|\b\d+(?= numbers)|\b[0-9a-f]{64}\b"
)


def git(home: Path, *arguments: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=home, check=True, capture_output=True)  # noqa: S603, S607


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A branch `main` with a run, and a branch with two, of which the second one has a spoiled prompt."""
    home = tmp_path_factory.mktemp("home")
    (home / "pytest.ini").write_text(INI, encoding="utf-8")
    (home / "test_triage.py").write_text(BENCHMARK, encoding="utf-8")
    git(home, "init", "-b", "main")
    git(home, "add", ".")
    git(home, "commit", "-m", "one")
    assert "2 passed" in run_pytest(home, "-p", "no:xdist")
    git(home, "checkout", "-b", "short-prompt")
    git(home, "commit", "--allow-empty", "-m", "two")
    assert "2 passed" in run_pytest(home, "-p", "no:xdist")
    prompts = home / "prompts" / "triage_jira"
    prompts.mkdir(parents=True)
    for template in (ROOT / "prompts" / "triage_jira").glob("*.jinja"):
        (prompts / template.name).write_bytes(template.read_bytes())
    (prompts / "_issue.jinja").write_text(SHORT, encoding="utf-8")
    git(home, "add", ".")
    git(home, "commit", "-m", "three")
    assert "2 passed" in run_pytest(home, "-p", "no:xdist")
    return home


@pytest.fixture
def home(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run there; they only read the runs."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(made)


def settled(text: str) -> list[str]:
    """The words of each line, without what differs from run to run."""
    return [" ".join(VOLATILE.sub("X", line).replace("-", "").split()) for line in text.splitlines()]


@pytest.mark.usefixtures("home")
def test_the_example_shows_what_the_commands_print(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for part in (part for block in blocks for part in block.split("$ pytest-puma ")[1:]):
        command, _, expected = part.partition("\n")
        capsys.readouterr()
        assert main(shlex.split(command)) == 0
        assert settled(capsys.readouterr().out) == settled(expected)


@pytest.mark.usefixtures("home")
def test_the_other_commands_of_the_page_work(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("show last", "show main", "compare last~2 3 --flips --format md", "compare 1 2 --cells '*zero*'"):
        assert main(shlex.split(command)) == 0
    for suffix in WRITERS:
        assert main(["export", "last", "-o", f"run{suffix}"]) == 0
        assert main(["export", "last", "--predictions", "-o", f"predictions{suffix}"]) == 0
    assert capsys.readouterr().err == ""


def test_the_table_of_commands_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"^    (\w+) +\w", capsys.readouterr().out, re.MULTILINE)
    on_page = [name.split()[0] for row in table("`pytest-puma`") for name in names_in(row[0])]
    assert sorted(on_page) == sorted(commands)


def test_the_tables_name_each_form_of_a_run_and_each_format() -> None:
    assert names.__doc__ is not None
    documented = [line for line in names.__doc__.splitlines() if line.startswith("| `")]
    others = {"`baseline`", "`last~1:CELL`, `CELL`"}  # of single commands
    on_page = [row[0] for row in table("RUN") if row[0] not in others]
    assert [line.split(" | ")[0].strip("| ") for line in documented] == on_page
    (row,) = (row for row in table("`pytest-puma`") if row[0].startswith("`export"))
    assert {name for name in names_in(row[1]) if name.startswith(".")} == set(WRITERS)
