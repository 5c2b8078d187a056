"""A trial: one of several times that a sample is asked. Each trial has one prediction."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Trial:
    """The n-th time that a sample is asked, from 0. Trials of one sample are one unit for intervals and tests.

    `order`: the places in the data of the sample's choices, in the order in which this trial shows them; empty for the
    order of the data.
    """

    index: int = 0
    order: tuple[int, ...] = ()
