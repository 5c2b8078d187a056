"""Metrics of single replies, by name: a scenario lists them as `scores`.

Each module declares its metrics in `METRICS`; a new metric is one function and one entry there.
"""

from collections.abc import Mapping
from itertools import chain

from pytest_puma.core import Metric
from pytest_puma.metrics.library import (
    choice_accuracy,
    choice_probabilities,
    choice_trials,
    exact,
    gold_likelihood,
    marks,
    position_bias,
)

__all__ = ["LIBRARY"]

_MODULES = (exact, marks, choice_accuracy, choice_probabilities, choice_trials, position_bias, gold_likelihood)

#: By name.
LIBRARY: Mapping[str, Metric] = {each.name: each for each in chain.from_iterable(module.METRICS for module in _MODULES)}
