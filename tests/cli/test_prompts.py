"""`pytest-puma prompts`: bundled templates become files of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.strategies.catalogue import ALL, parse_strategy
from pytest_puma.strategies.templates import find_template
from tests.cli.console import error, lines

PROMPTS = Path("prompts", "triage_jira")


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_template_is_copied_with_the_files_that_it_includes(capsys: pytest.CaptureFixture[str]) -> None:
    shown = lines(capsys, "prompts", "triage_jira", "--strategy=zero_shot, few_shot_3")
    files = {f"{name}.jinja" for name in ("zero_shot", "few_shot", "_issue", "_only_answer", "_question", "_system")}
    assert {path.name for path in PROMPTS.iterdir()} == files
    assert {f"wrote {PROMPTS / name}" for name in files} < set(shown)
    assert any("pytest -k triage_jira --puma-compare last" in line for line in shown)


@pytest.mark.parametrize("scenario", ["triage_jira", "estimation_tawos", "prioritization_jira"])
def test_a_copy_is_the_same_template_for_answers_and_baselines(
    capsys: pytest.CaptureFixture[str], scenario: str
) -> None:
    lines(capsys, "prompts", scenario)
    for strategy in map(parse_strategy, ALL):
        copy, bundled = (find_template(scenario, strategy.templates, project=root) for root in (Path.cwd(), None))
        assert copy.path.is_relative_to(Path.cwd())
        assert copy.sources_sha256 == bundled.sources_sha256


def test_a_scenario_with_the_templates_of_another_one_copies_those(capsys: pytest.CaptureFixture[str]) -> None:
    lines(capsys, "prompts", "prioritization_jira_both_orders", "--strategy=zero_shot")
    assert Path("prompts", "prioritization_jira", "zero_shot.jinja").is_file()


def test_a_file_that_exists_stays(capsys: pytest.CaptureFixture[str]) -> None:
    PROMPTS.mkdir(parents=True)
    own = PROMPTS / "_issue.jinja"
    own.write_text("mine", encoding="utf-8")
    shown = lines(capsys, "prompts", "triage_jira", "--strategy=zero_shot")
    assert f"{own} exists and stays as it is" in shown
    assert own.read_text(encoding="utf-8") == "mine"
    assert (PROMPTS / "zero_shot.jinja").is_file()


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (
            ["triage_jura"],
            "'triage_jura' is no built-in scenario; did you mean 'triage_jira'? there are: triage_jira, ",
        ),
        (["mmlu"], "mmlu: its methods word its prompts, so that it has no templates; a file prompts/mmlu/zero_shot"),
        (["triage_jira", "--strategy=rules"], "strategy 'rules' is unknown"),
        (["triage_jira", "--strategy=cloze_scoring"], "triage_jira: the package has no template for cloze_scoring"),
    ],
)
def test_what_has_no_template_is_an_error(capsys: pytest.CaptureFixture[str], arguments: list[str], fault: str) -> None:
    assert error(capsys, "prompts", *arguments).startswith(f"pytest-puma: {fault}")
    assert not Path("prompts").exists()


def test_a_folder_below_a_project_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    below = Path.cwd() / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert "where pytest looks for prompts; run this in" in error(capsys, "prompts", "triage_jira")
