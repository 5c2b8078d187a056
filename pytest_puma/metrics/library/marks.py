"""Metrics of single marks in a reply: a postscript, placeholders."""

from __future__ import annotations

import re

from pytest_puma.core import Metric, Prediction, Sample
from pytest_puma.metrics.library.arguments import is_count, optional

_POSTSCRIPT = re.compile(r"(?<![\w.])P\.(P\.)?S\.")
#: Not a link of Markdown.
_PLACEHOLDER = re.compile(r"\[([^\[\]\n]*)\](?!\()")


def postscript(_: Sample, prediction: Prediction) -> float:
    """Return 1 if the reply has `P.S.` or `P.P.S.`."""
    return float(_POSTSCRIPT.search(prediction.text) is not None)


def placeholders(sample: Sample, prediction: Prediction) -> float:
    """Return 1 if the reply has at least as many placeholders, as `[address]`, as the context's `placeholders` (1)."""
    least = optional(sample, "placeholders", 1, metric="placeholders", expected="a whole number from 1", valid=is_count)
    # `[ ]` is the empty box of a list.
    return float(sum(bool(name.strip()) for name in _PLACEHOLDER.findall(prediction.text)) >= least)


METRICS = (Metric(name="postscript", score=postscript), Metric(name="placeholders", score=placeholders))
