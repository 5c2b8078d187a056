import pytest

from pytest_puma import Outcome


@pytest.mark.puma("prioritization_jira")
def test_prioritization_jira(puma: Outcome) -> None:
    assert len(puma.predictions) > 0
