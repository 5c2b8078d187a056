"""Simulated populations of gold labels and of the answers of two systems.

The simulations test the intervals of the first system, and of its change from the second one. Half of the luck is
shared: a sample that is hard for one system is hard for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_puma.core import OwnMetric, Scenario
from tools.statistics.draws import POINTS, Rows, classifier, estimator, heavy, of_subjects, prober

EVEN, SKEWED, RARE = (0.25,) * 4, (0.08, 0.2, 0.6, 0.12), (0.02, 0.08, 0.3, 0.6)
TEN = (0.2, 0.18, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.02)
FIVE, SIX, FOUR = (0.2,) * 5, (0.4, 0.25, 0.15, 0.1, 0.06, 0.04), (0.85, 0.05, 0.05, 0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """A source of samples, and the metrics to simulate."""

    name: str
    scenario: Scenario
    metrics: tuple[str, ...]
    draw: Callable[[np.random.Generator, int], Rows]


class _Simulated(Scenario):
    """A scenario without prompts and parser: its answers are simulated."""

    sample = gold_label = parse_response = None  # type: ignore[assignment]


class Labels(_Simulated):
    """A classification into ordered classes."""

    name, task_type, ordered = "labels", "classification", True

    def __init__(self, classes: int) -> None:
        self._classes = classes

    def valid_labels(self) -> list[str]:
        """The numbers of the classes."""
        return [str(label) for label in range(self._classes)]

    def metrics(self) -> Mapping[str, OwnMetric]:
        """The accuracy again, as the scenario's own metric."""
        return {"own": lambda rows: sum(each.answer == each.gold for each in rows) / max(len(rows), 1)}


class Numbers(_Simulated):
    """A regression; the labels are story points."""

    name, task_type = "numbers", "regression"

    def valid_labels(self) -> list[str]:
        """The points."""
        return [str(point) for point in POINTS]


CLASSES = ("accuracy", "f1_macro", "f1_weighted", "recall_macro", "kappa_quadratic")
ORDERED = (*CLASSES, "within_one", "spearman")
ONE_CLASS = ("per_class.0.precision", "per_class.0.recall", "per_class.0.f1")
RANKING = ("roc_auc", "average_precision", "per_class.0.roc_auc", "per_class.0.average_precision")
ERRORS = ("mae", "mdae", "rmse", "standardised_accuracy", "spearman")


def _of_classes(name: str, *draw: Sequence[float], metrics: Sequence[str] = CLASSES) -> Population:
    labels = Labels(len(draw[0]))
    return Population(name=name, scenario=labels, metrics=tuple(metrics), draw=classifier(draw[0], draw[1]))


def _of_numbers(
    name: str, draw: Callable[[np.random.Generator, int], Rows], metrics: Sequence[str] = ERRORS
) -> Population:
    return Population(name=name, scenario=Numbers(), metrics=tuple(metrics), draw=draw)


def _of_probabilities(name: str, sharpness: float, confidence: float) -> Population:
    metrics = ("accuracy", "brier", "ece", *RANKING)
    return Population(name=name, scenario=Labels(4), metrics=metrics, draw=prober(sharpness, confidence))


POPULATIONS = (
    _of_classes("good", EVEN, (0.8, 0.75), metrics=(*ORDERED, *ONE_CLASS, "kendall_tau", "own", "tokens_decoded_mean")),
    _of_classes("weak", EVEN, (0.5, 0.45)),
    _of_classes("strong", EVEN, (0.9, 0.88)),
    _of_classes("imbalanced", SKEWED, (0.7, 0.65), metrics=(*CLASSES, *ONE_CLASS)),
    _of_classes("rare class", RARE, (0.7, 0.65)),
    _of_classes("ten classes", TEN, (0.7, 0.65), metrics=("accuracy", "f1_macro", "f1_weighted", "recall_macro")),
    _of_classes("near-perfect", SKEWED, (0.97, 0.96), metrics=ORDERED),
    _of_classes("repaired, 0.975", EVEN, (0.975, 0.0), metrics=("accuracy", "f1_macro", "within_one")),
    _of_classes("repaired, 0.95", EVEN, (0.95, 0.0), metrics=("accuracy", "f1_macro")),
    _of_classes("repaired, 0.95 after 0.02", EVEN, (0.95, 0.02), metrics=("accuracy", "f1_macro")),
    *(
        Population(
            name=name,
            scenario=Labels(2),
            metrics=("accuracy[mean subject]", "f1_macro[mean subject]"),
            draw=of_subjects(shares, classifier((0.5, 0.5), (0.8, 0.75))),
        )
        for name, shares in (("equal subjects", FIVE), ("unequal subjects", SIX), ("one large subject", FOUR))
    ),
    Population(
        name="parse failures",
        scenario=Labels(4),
        metrics=("accuracy", "f1_macro", "parse_failure_rate", "kappa_quadratic"),
        draw=classifier(EVEN, (0.7, 0.65), unparsed=0.1),
    ),
    Population(
        name="both orders",
        scenario=Labels(2),
        metrics=("accuracy", "f1_macro", "tokens_decoded_mean"),
        draw=classifier((0.5, 0.5), (0.7, 0.65), pairs=True),
    ),
    _of_probabilities("calibrated", 2.0, 1.0),
    _of_probabilities("overconfident", 8.0, 3.0),
    _of_probabilities("calibrated, 0.97", 25.0, 1.0),
    _of_numbers("points", estimator(1.2, 1.3), (*ERRORS, "kendall_tau", "mae_by_bin.1-3")),
    _of_numbers("points, 95 % exact", estimator(1.5, 1.6, exact=0.93)),
    _of_numbers("points, parse failures", estimator(1.2, 1.3, unparsed=0.1), ("mae", "spearman")),
    Population(
        name="points, probabilities",
        scenario=Numbers(),
        metrics=("mae_expected", "brier"),
        draw=prober(2.0, 1.0, POINTS),
    ),
    _of_numbers("lognormal 1", heavy(1.0)),
    _of_numbers("lognormal 1.5", heavy(1.5), ("mae", "rmse")),
)
