"""A trial: one of several times that a sample is asked. Each trial has one prediction."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Trial:
    """The n-th repeat of a sample, from 0. Trials of one sample are one unit for intervals and tests."""

    index: int = 0
