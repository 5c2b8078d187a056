import pytest

from pytest_puma import Outcome


@pytest.mark.puma("estimation_tawos", gates=["mae <= 3.2", "parse_failure_rate <= 0.05"])
def test_estimation_tawos(puma: Outcome) -> None:
    """How many story points? Mean absolute error."""
    assert puma["overflow_rate"] <= 0.5, "most prompts are longer than the model's context"
