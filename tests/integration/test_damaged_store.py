"""A store that is damaged, as the user of a benchmark meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.benchmark_files import TRIAGE
from tests.integration.conftest import Project
from tests.integration.test_response_store import KEPT, rows
from tests.responses.test_damage import damage, root

#: Many answers, so that every table has several pages.
MANY = TRIAGE.replace("samples=8", "samples=100")


def store_of(project: Project) -> Path:
    return project.pytester.path / ".puma" / "responses.sqlite"


def test_offline_tells_why_a_store_cannot_be_opened(alone: Project) -> None:
    alone.write(conftest=KEPT, test_triage=TRIAGE)
    alone.run().assert_outcomes(passed=1)
    content = store_of(alone).read_bytes()
    store_of(alone).write_bytes(bytes(100) + content[100:])
    result = alone.run("--puma-model=tiny", "--puma-offline", model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    problem = f"no answers of tiny are kept ({store_of(alone)} cannot be opened: file is not a database)"
    result.stderr.fnmatch_lines([f"ERROR: puma: --puma-model 'tiny': {problem}; run without --puma-offline"])


def damage_warning(project: Project) -> str:
    """The warning of the run that sets the store aside."""
    aside = store_of(project).with_name("responses.damaged-1.sqlite")
    return (
        f"warning: triage_jira-zero_shot@tiny: {store_of(project)} was damaged (database disk image is malformed) "
        f"and is now {aside.name}; `sqlite3 {aside} .recover` prints what can still be read"
    )


def test_a_store_that_turns_out_to_be_damaged_is_set_aside_once_and_the_next_run_has_all(project: Project) -> None:
    project.write(conftest=KEPT, test_triage=MANY)
    project.run().assert_outcomes(passed=1)
    computed = project.pytester.path / "computed.txt"
    first = computed.read_text()
    damage(store_of(project), root(store_of(project), "response"))
    result = project.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([damage_warning(project)])
    again = project.run()
    again.stdout.fnmatch_lines(["kept answers: all 100 of 1 cell, from run *"])
    assert "warning" not in again.stdout.str()
    assert computed.read_text() == first * 2
    assert len([*store_of(project).parent.glob("*damaged*.sqlite")]) == 1


def test_answers_that_are_computed_after_the_damage_was_found_are_kept(alone: Project) -> None:
    alone.write(conftest=KEPT, test_triage=MANY)
    alone.run("--puma-samples=50").assert_outcomes(passed=1)
    # It is read by nobody, but written.
    damage(store_of(alone), root(store_of(alone), "prompt"))
    result = alone.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([damage_warning(alone), "kept answers: 50 of 100 in 1 cell, from run *"])
    assert rows(alone) == [(50,)]


def test_offline_a_damaged_store_is_an_error_that_tells_why(alone: Project) -> None:
    alone.write(conftest=KEPT, test_triage=MANY)
    alone.run().assert_outcomes(passed=1)
    damage(store_of(alone), root(store_of(alone), "response"))
    before = store_of(alone).read_bytes()
    result = alone.run("--puma-model=tiny", "--puma-offline", model=False)
    result.assert_outcomes(errors=1)
    problem = f"100 of 100 answers are not kept: {store_of(alone)} cannot be read: database disk image is malformed"
    result.stdout.fnmatch_lines([f"*--puma-offline: triage_jira-zero_shot@tiny: {problem}; run it without *"])
    assert store_of(alone).read_bytes() == before
