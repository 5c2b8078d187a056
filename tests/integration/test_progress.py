from tests.integration.conftest import SCRIPTED, TRIAGE, Project

EAGER = """
import pytest_puma.progress
pytest_puma.progress.PATIENCE = pytest_puma.progress.LIVE = pytest_puma.progress.PLAIN = 0.0
"""


def test_a_long_cell_tells_a_log_how_far_it_is(alone: Project) -> None:
    alone.write(conftest=SCRIPTED + EAGER, test_triage=TRIAGE)
    result = alone.run()
    result.stdout.fnmatch_lines(["puma: triage_jira-zero_shot@tiny: 0 of 8 samples in 0 s"])


def test_a_short_cell_says_nothing(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run().stdout.no_fnmatch_line("*samples in*")


def test_quiet_is_quiet(alone: Project) -> None:
    alone.write(conftest=SCRIPTED + EAGER, test_triage=TRIAGE)
    alone.run("-q").stdout.no_fnmatch_line("*samples in*")


def test_workers_have_no_terminal_to_write_to(scripted: Project) -> None:
    scripted.write(conftest=SCRIPTED + EAGER, test_triage=TRIAGE)
    result = scripted.run()
    result.assert_outcomes(passed=1)
    assert ("samples in" in result.stdout.str()) is not bool(scripted.workers)
