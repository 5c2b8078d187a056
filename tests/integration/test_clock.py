"""A clock that jumps to 2099, then back to 1999: the newest run is still the one that began last."""

from __future__ import annotations

from datetime import datetime, timezone, tzinfo

import pytest

from pytest_puma import load_run
from tests.integration.benchmark_files import TRIAGE
from tests.integration.conftest import INI, Project
from tests.integration.test_response_store import KEPT

YEARS = (2099, 1999, 2026)


def run_in(year: int, project: Project, *arguments: str, model: bool = True) -> pytest.RunResult:
    """A run whose clock shows this year."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime(year, 11, 25, 10, 15, tzinfo=tz or timezone.utc)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pytest_puma.session.workers.xdist.datetime", Clock)
        result = project.run(*arguments, model=model)
    assert "INTERNALERROR" not in result.stdout.str()
    return result


def newest(project: Project) -> str:
    """The year of the newest run."""
    return load_run(project.pytester.path).path.parent.name[:4]


def with_predictions(project: Project) -> set[str]:
    """The years of the runs that have predictions."""
    return {path.parent.name[:4] for path in project.pytester.path.glob(".puma/runs/*/predictions.jsonl")}


def test_the_newest_run_is_rescored_and_listed_first(alone: Project) -> None:
    alone.write(conftest=KEPT, test_triage=TRIAGE)
    for year in YEARS:
        run_in(year, alone).assert_outcomes(passed=1)
        assert newest(alone) == str(year)
        alone.run("--puma-rescore=nothing", model=False).stderr.fnmatch_lines([f"*the newest are ? ({year}*"])
    result = run_in(2026, alone, "--puma-rescore=last", model=False)
    result.stdout.fnmatch_lines(["puma: rescored from the run 2026*"])
    error = alone.run("--puma-rescore=nothing", model=False).stderr
    error.fnmatch_lines(["*the newest are ? (2026*), ? (2026*), ? (1999*"])


def test_older_runs_are_those_that_began_before(alone: Project) -> None:
    alone.pytester.makeini(f"{INI}puma_keep_runs = 2\n")
    alone.write(conftest=KEPT, test_triage=TRIAGE)
    for year, kept in zip(YEARS, ({"2099"}, {"2099", "1999"}, {"1999", "2026"}), strict=True):
        run_in(year, alone).assert_outcomes(passed=1)
        assert with_predictions(alone) == kept


def test_the_flips_are_those_of_the_newest_run(alone: Project) -> None:
    folder = alone.pytester.mkdir("benchmarks")
    (folder / "test_triage.py").write_text(TRIAGE, encoding="utf-8")
    alone.write(conftest=KEPT)
    run_in(2026, alone, "benchmarks", "--puma-update-baseline").assert_outcomes(passed=1)
    flipped = {}
    for year, answer in ((2099, '"Minor"'), (1999, '"Critical" if len(prompt) % 2 else "Major"')):
        conftest = KEPT.replace('"Critical" if "login" in prompt else "Major"', answer).replace("5a", str(year))
        alone.write(conftest=conftest)
        run_in(year, alone, "benchmarks", "--puma-flips")
        (outcome,) = load_run(alone.pytester.path).record["outcomes"]
        flipped[year] = {flip["sample_id"] for flip in outcome["flips"]}
    assert flipped[2099] != flipped[1999] != set()
    run_in(2026, alone, "benchmarks", "--puma-only-flips")
    assert set(load_run(alone.pytester.path).predictions["sample_id"]) == flipped[1999]


def test_a_run_is_resumed_and_names_the_runs_of_its_answers_the_newest_first(alone: Project) -> None:
    alone.write(conftest=KEPT, test_triage=TRIAGE)
    for year, samples in zip(YEARS, (4, 6, 8), strict=True):
        run_in(year, alone, f"--puma-samples={samples}").assert_outcomes(passed=1)
    assert (alone.pytester.path / "computed.txt").read_text() == "x" * 8
    run_in(2001, alone).stdout.fnmatch_lines(["kept answers: all 8 of 1 cell, from run 2026* and 2 more"])
