import pytest

from pytest_puma import Outcome


@pytest.mark.puma("triage_jira")
def test_triage_jira(puma: Outcome) -> None:
    assert len(puma.predictions) > 0
