import pytest

from pytest_puma import Outcome


@pytest.mark.puma("triage_jira", gates=["f1_macro >= 0.45", "within_one >= 0.75", "parse_failure_rate <= 0.05"])
def test_triage_jira(puma: Outcome) -> None:
    """How urgent is an issue? Macro-F1 over four priorities."""
    assert puma["overflow_rate"] <= 0.5, "most prompts are longer than the model's context"
