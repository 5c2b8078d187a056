"""The research data of story points, which only projects that have them use."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.scenarios import EstimationTawosScenario, draw


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
