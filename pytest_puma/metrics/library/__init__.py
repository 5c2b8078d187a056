"""Metrics of single replies, by name: a scenario lists them as `scores`.

Each module declares its metrics in `METRICS`; a new metric is one function and one entry there.
"""

from collections.abc import Mapping
from itertools import chain

from pytest_puma.core import Metric
from pytest_puma.metrics.library import (
    bleu,
    choice_accuracy,
    choice_probabilities,
    choice_trials,
    chrf,
    csv_metrics,
    exact,
    gold_likelihood,
    ifeval,
    json_metrics,
    language,
    length,
    marks,
    mathematics,
    needle,
    overlap,
    position_bias,
    rouge,
    rouge_summary,
    structure,
    ter,
)

__all__ = ["LIBRARY"]

_MODULES = (
    *(exact, mathematics, needle, overlap, rouge, rouge_summary, bleu, chrf, ter),
    *(json_metrics, csv_metrics, structure, marks),
    *(length, language, ifeval),
    *(choice_accuracy, choice_probabilities, choice_trials, position_bias, gold_likelihood),
)

#: By name.
LIBRARY: Mapping[str, Metric] = {each.name: each for each in chain.from_iterable(module.METRICS for module in _MODULES)}
