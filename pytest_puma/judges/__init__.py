"""Rubrics: questions that a second model answers about each reply, and how far its verdicts can be trusted."""

from collections.abc import Mapping

from pytest_puma.core import Metric
from pytest_puma.judges.asking import metric_of
from pytest_puma.judges.asking import rubric as rubric
from pytest_puma.judges.rubrics import RUBRICS
from pytest_puma.judges.scale import YES_NO as YES_NO
from pytest_puma.judges.scale import VerdictScale as VerdictScale
from pytest_puma.judges.scale import grades as grades

#: The metrics that ask by the rubrics of pytest-puma, by name.
JUDGED: Mapping[str, Metric] = {metric.name: metric for metric in map(metric_of, RUBRICS)}
