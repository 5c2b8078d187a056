"""Metrics that compare a whole reply with the references."""

from __future__ import annotations

from pytest_puma.core import Metric
from pytest_puma.metrics.library.references import best


def exact_match(text: str, reference: str) -> float:
    """Return 1 if the texts are equal character for character, else 0."""
    return float(text == reference)


METRICS = (Metric(name="exact_match", score=best(exact_match)),)
