"""Metrics of single replies, by name: a scenario lists them as `scores`.

Each module declares its metrics in `METRICS`; a new metric is one function and one entry there.

Some need optional dependencies: `pip install 'pytest-puma[text]'` installs those of the extra `text`; the extra
`metrics` installs all.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from itertools import chain

from pytest_puma.core import Metric
from pytest_puma.metrics.library import (
    choices,
    csv_metrics,
    divergence,
    drop,
    exact,
    gold_likelihood,
    ifeval,
    json_metrics,
    language,
    length,
    mathematics,
    minerva,
    needle,
    overlap,
    places,
    programs,
    sql_metrics,
    structure,
    translation,
    trials,
)
from pytest_puma.platform.installation import install_extra

__all__ = ["EXTRAS", "LIBRARY", "missing"]

_MODULES = (
    *(exact, mathematics, minerva, needle, drop, places, overlap, translation),
    *(json_metrics, csv_metrics, sql_metrics, structure),
    *(length, language, ifeval),
    *(choices, trials, gold_likelihood, divergence, programs),
)

#: By name.
LIBRARY: Mapping[str, Metric] = {
    metric.name: metric for metric in chain.from_iterable(module.METRICS for module in _MODULES)
}
#: The modules of each extra. jsonschema skips the formats whose modules are absent, so one of these is asked for too.
EXTRAS: Mapping[str, tuple[str, ...]] = {
    "text": ("sacrebleu",),
    "json": ("jsonschema", "rfc3339_validator"),
    "lang": ("lingua",),
    "math": ("math_verify",),
}


def missing(metric: Metric) -> str:
    """Return an empty text, or which module the metric lacks and the command that installs it. Imports nothing."""
    absent = next((module for module in EXTRAS.get(metric.extra, ()) if find_spec(module) is None), None)
    if absent is None:
        return ""
    return f"metric {metric.name!r} needs {absent}, which is not installed; run: {install_extra(metric.extra)}"
