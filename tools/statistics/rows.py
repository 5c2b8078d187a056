"""Predictions of simulated rows. Equal rows of different draws are one object, as making them takes long."""

from __future__ import annotations

from functools import lru_cache

from pytest_puma.core import Prediction

_KEPT = 100_000


@lru_cache(maxsize=_KEPT)
def prediction(row: int, gold: str, answer: str | None, units: tuple[str, ...] | None = None) -> Prediction:
    """Return the prediction of a row, by default in a unit of its own."""
    return Prediction(sample_id=str(row), gold=gold, answer=answer, units=(str(row),) if units is None else units)
