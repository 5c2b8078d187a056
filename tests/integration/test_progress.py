import pytest

from tests.integration.conftest import SCRIPTED, TRIAGE, Project

EAGER = """
import pytest_puma.session.progress
pytest_puma.session.progress.PLAIN = 0.0
"""


def test_a_long_cell_tells_a_log_how_far_it_is(alone: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_puma.session.progress.PLAIN", 0.0)
    alone.write(test_triage=TRIAGE)
    alone.run().stdout.fnmatch_lines(["puma: triage_jira-zero_shot@tiny: 0 of 8 samples in * s"])


def test_a_short_cell_says_nothing(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    assert "samples in" not in alone.run().stdout.str()


def test_quiet_is_quiet(alone: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_puma.session.progress.PLAIN", 0.0)
    alone.write(test_triage=TRIAGE)
    assert "samples in" not in alone.run("-q").stdout.str()


def test_workers_have_no_terminal_to_write_to(pytester: pytest.Pytester, alone: Project) -> None:
    alone.write(conftest=SCRIPTED + EAGER, test_triage=TRIAGE)
    result = pytester.runpytest_subprocess("-n", "2", f"--puma-model={alone.model}")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*samples in*")
