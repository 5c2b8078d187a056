"""The subjects of a run: whose patterns count, and which are refused."""

from __future__ import annotations

import pytest

from pytest_puma.core import SettingsError
from pytest_puma.evaluation.cell import Cell
from pytest_puma.planning.matrix import expand
from pytest_puma.planning.settings import BenchmarkSpec, RunOptions, Settings
from pytest_puma.planning.unmatched import unmatched_subjects
from pytest_puma.scenarios import TriageJiraScenario
from tests.planning.specs import settings
from tests.scenarios.custom import Custom, frame


class Languages(Custom):
    name = "languages"


def exams() -> Custom:
    return Custom(frame(6, subject=["law", "law", "law", "chess", "chess", "medicine"]), group_columns=("subject",))


def languages() -> Custom:
    return Languages(frame(2, language=["en", "de"]), group_columns=("language",))


def cells(scenario: Custom | TriageJiraScenario, chosen: Settings, **options: tuple[str, ...] | str) -> list[Cell]:
    return expand(BenchmarkSpec(scenario=scenario, options=RunOptions(**options)), chosen)  # type: ignore[arg-type]


def commanded(*subjects: str, scenarios: tuple[str, ...] = ()) -> Settings:
    return settings(command=RunOptions(subjects=subjects), scenarios=scenarios)


@pytest.mark.parametrize(
    ("command", "marker", "ini", "expected"),
    [
        (("law",), ("chess",), ("medicine",), ("law",)),
        (None, ("chess",), ("medicine",), ("chess",)),
        (None, None, ("medicine",), ("medicine",)),
        (None, None, None, ()),
    ],
)
def test_the_command_line_wins_then_the_marker_then_the_ini_file(
    command: tuple[str, ...] | None,
    marker: tuple[str, ...] | None,
    ini: tuple[str, ...] | None,
    expected: tuple[str, ...],
) -> None:
    chosen = settings(command=RunOptions(subjects=command), ini=RunOptions(subjects=ini))
    made = expand(BenchmarkSpec(scenario=exams(), options=RunOptions(subjects=marker)), chosen)
    assert {cell.subjects for cell in made} == {expected}


def test_all_samples_are_those_of_the_subjects() -> None:
    assert {cell.samples for cell in cells(exams(), settings(), samples="all", subjects=("law",))} == {3}


def test_each_pattern_of_a_marker_must_match_a_group_of_its_scenario() -> None:
    with pytest.raises(SettingsError, match=r"subject 'laws' matches no group of custom; did you mean 'law'\?"):
        cells(exams(), settings(), subjects=("chess", "laws"))


def test_a_scenario_takes_those_patterns_of_the_command_line_that_match_its_groups() -> None:
    chosen = commanded("law", "en")
    made = [*cells(exams(), chosen), *cells(languages(), chosen)]

    assert {(cell.scenario.name, cell.subjects) for cell in made} == {("custom", ("law",)), ("languages", ("en",))}
    assert unmatched_subjects(made, chosen) == []


def test_a_scenario_without_any_match_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"subject 'law' matches no group of languages; there are: de, en$"):
        cells(languages(), commanded("law"))
    assert cells(languages(), commanded("law", scenarios=("custom",))), "deselected by --puma-scenario"


def test_a_pattern_of_the_command_line_without_any_match_is_refused() -> None:
    chosen = commanded("law", "chss")
    assert unmatched_subjects(cells(exams(), chosen), chosen) == [
        (
            "--puma-subject: subject 'chss' matches no group of custom; did you mean 'chess'? "
            "there are: chess, law, medicine"
        )
    ]


def test_a_scenario_without_groups_is_unaffected_if_another_one_takes_the_pattern() -> None:
    chosen = commanded("law")
    plain = cells(TriageJiraScenario(), chosen)

    assert {cell.subjects for cell in plain} == {()}
    assert unmatched_subjects([*plain, *cells(exams(), chosen)], chosen) == []
    assert unmatched_subjects(plain, chosen) == [
        "--puma-subject law: no scenario of this run has groups; there are: triage_jira"
    ]


def test_a_scenario_without_groups_has_no_subjects_of_its_own() -> None:
    with pytest.raises(SettingsError, match="triage_jira: subjects is law, but the scenario has no groups; set its"):
        cells(TriageJiraScenario(), settings(), subjects=("law",))


@pytest.mark.parametrize("subjects", [(), ("law", "")])
def test_an_empty_pattern_is_refused(subjects: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError, match=r"subjects (is empty|has an empty one); expected at least one pattern"):
        RunOptions(subjects=subjects)
