"""Files that `pytest-puma init` writes, and those that it leaves as they are."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.cli import main
from pytest_puma.cli.init.benchmark import literal
from tests.cli.init.tickets import FEW_SHOT, TEST, TICKETS, ZERO_SHOT


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


@given(text=st.text())
def test_any_text_is_written_as_python_and_jinja_read_it(text: str) -> None:
    written = literal(text)
    assert ast.literal_eval(written) == text
    assert jinja2.Environment(autoescape=True).compile_expression(written)() == text
