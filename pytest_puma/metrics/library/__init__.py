"""Metrics of single replies, by name: a scenario lists them as `scores`.

Each module declares its metrics in `METRICS`; a new metric is one function and one entry there.
"""

from collections.abc import Mapping
from itertools import chain

from pytest_puma.core import Metric
from pytest_puma.metrics.library import (
    choices,
    csv_metrics,
    exact,
    gold_likelihood,
    ifeval,
    json_metrics,
    language,
    length,
    mathematics,
    needle,
    overlap,
    structure,
    translation,
    trials,
)

__all__ = ["LIBRARY"]

_MODULES = (
    *(exact, mathematics, needle, overlap, translation),
    *(json_metrics, csv_metrics, structure),
    *(length, language, ifeval),
    *(choices, trials, gold_likelihood),
)

#: By name.
LIBRARY: Mapping[str, Metric] = {
    metric.name: metric for metric in chain.from_iterable(module.METRICS for module in _MODULES)
}
