import pytest

from pytest_puma import Outcome


@pytest.mark.puma("prioritization_jira", gates=["accuracy >= 0.62", "parse_failure_rate <= 0.05"])
def test_prioritization_jira(puma: Outcome) -> None:
    """Which of two issues matters more? Accuracy."""
    assert puma["overflow_rate"] <= 0.5, "most prompts are longer than the model's context"
