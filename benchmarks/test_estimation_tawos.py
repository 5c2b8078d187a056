import pytest

from pytest_puma import Outcome


@pytest.mark.puma("estimation_tawos")
def test_estimation_tawos(puma: Outcome) -> None:
    assert len(puma.predictions) > 0
