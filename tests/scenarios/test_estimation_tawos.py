from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.answers import FIBONACCI
from pytest_puma.scenarios import EstimationTawosScenario, draw

SCENARIO = EstimationTawosScenario()


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("3", "3"),
        ("5.", "5"),
        ("**8**", "8"),
        ("_8_", "8"),
        ("13 points", "13"),
        ("story points: 8", "8"),
        ("Story Points=8", "8"),
        ("3pts", "3"),
        ("21SP", "21"),
        ("I estimate 5 because of 2 unknowns.", "5"),
        ("3-5", "3"),
        ("3 - 5", "3"),
        ("3\u20135", "3"),
        ("between 5 and 8", "5"),
        ("5/8", "5"),
        ("1, 2, 3, 5", "1"),
        ("4", "3"),
        ("4.0", "3"),
        ("4.2", "5"),
        ("6", "5"),
        ("7", "8"),
        ("9", "8"),
        ("10", "10"),
        ("11", "11"),
        ("12", "13"),
        ("20", "21"),
        ("40", "40"),
        ("100", "100"),
        ("1,000", "1000"),
        ("1,234,567.5 hours", "1234567.5"),
        ("1,2345", "1"),
        ("0", "1"),
        ("0.5", "1"),
        (".5", "1"),
        ("2.5", "2"),
        ("6.5", "6.5"),
        ("10.50", "10.5"),
        ("-3", "-3"),
        ("\u22123", "-3"),
        ("points: -3", "-3"),
        ("- 3", "3"),
        ("\uff15", "5"),
        ("\\boxed{13}", "13"),
        ('{"story_points": 8}', "8"),
        ("1. The login page changes.", "1"),
        ("The S3 bucket and OAuth2 need 5", "5"),
        ("UTF-8 in v1.2 of DRIFT-112: 3", "3"),
        ("five", None),
        ("S3", None),
        ("no idea.", None),
        ("", None),
        ("9" * 400, None),
    ],
)
def test_the_first_number_is_the_answer_on_the_point_series_where_it_is_near(response: str, answer: str | None) -> None:
    assert SCENARIO.parse_response(response) == answer


@given(st.sampled_from(FIBONACCI), st.text(st.characters(categories=["L", "Z"])), st.text())
def test_a_point_value_among_words_is_found(points: int, before: str, after: str) -> None:
    assert SCENARIO.parse_response(f"{before} {points} {after}") == str(points)


@given(st.text())
def test_an_answer_is_a_finite_number(response: str) -> None:
    answer = SCENARIO.parse_response(response)
    assert answer is None or abs(float(answer)) < float("inf")


def test_the_labels_are_the_point_series() -> None:
    assert SCENARIO.valid_labels() == ["1", "2", "3", "5", "8", "13", "21", "34", "55", "89"]
    assert SCENARIO.primary_metric() == "mae"


def test_gold_is_not_snapped(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("issuekey,title,description,storypoint\nX-1,t,d,0.5\nX-2,t,d,100\nX-3,t,d,4.0\n")
    assert {sample.gold for sample in draw(EstimationTawosScenario(file), 9, 42)} == {"0.5", "100", "4"}


@pytest.mark.parametrize(
    "header",
    [
        "issuekey,title,description,storypoint",
        "Issue_Key,Title,Description,Story_Point",
        "Issue key,Summary,Description,Custom field (Story Points)",
        "Issue key,Summary,Description,Custom field (Story point estimate)",
        "id,title,body,points",
        "key,summary,description,story point estimate",
    ],
)
def test_the_usual_exports_are_understood(tmp_path: Path, header: str) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(f"{header}\nX-1,a title,some text,3\n")
    (sample,) = draw(EstimationTawosScenario(file), 9, 42)
    assert (sample.id, sample.fields["title"], sample.fields["description"], sample.gold) == (
        "X-1",
        "a title",
        "some text",
        "3",
    )


def test_the_whole_table_of_the_research_data_is_understood(tmp_path: Path) -> None:
    file = tmp_path / "tawos.csv"
    file.write_text(
        "ID,Jira_ID,Issue_Key,URL,Title,Description,Description_Text,Type,Story_Point,Project_ID\n"
        "1,10001,MESOS-1,http://x,a title,some text,some,Bug,3,7\n"
    )
    (sample,) = draw(EstimationTawosScenario(file), 9, 42)
    assert (sample.id, sample.fields["description"], sample.gold) == ("MESOS-1", "some text", "3")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's project with a folder of benchmarks, from which pytest runs."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "benchmarks")
    return tmp_path


def test_the_stand_in_is_used_where_the_project_has_no_research_data(project: Path) -> None:
    assert project
    scenario = EstimationTawosScenario()
    assert scenario.source().name == "data/backlog_500.csv"
    assert scenario.examples() is not None


@pytest.mark.parametrize("folder", ["data", "benchmarks/data"])
def test_the_research_data_are_used_where_the_project_has_them(project: Path, folder: str) -> None:
    file = project / folder / "tawos_clean.csv"
    file.parent.mkdir(exist_ok=True)
    file.write_text("issue_key,title,description,story_points\nX-1,t,d,3\n")
    scenario = EstimationTawosScenario()
    assert scenario.source().name.endswith("data/tawos_clean.csv")
    assert [sample.id for sample in draw(scenario, 9, 42)] == ["X-1"]
    assert scenario.examples() is None


def test_research_data_outside_the_project_are_not_used(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "data" / "tawos_clean.csv").write_text("issue_key,title,description,story_points\nX-1,t,d,3\n")
    (project / "benchmarks" / "pytest.ini").touch()
    monkeypatch.chdir(project / "benchmarks")
    assert EstimationTawosScenario().source().name == "data/backlog_500.csv"


def test_data_named_by_the_user_go_before_the_research_data(project: Path) -> None:
    (project / "data" / "tawos_clean.csv").write_text("issue_key,title,description,story_points\nX-1,t,d,3\n")
    (project / "mine.csv").write_text("issue_key,title,description,story_points\nX-2,t,d,3\n")
    assert [sample.id for sample in draw(EstimationTawosScenario(project / "mine.csv"), 9, 42)] == ["X-2"]
