"""Every measure of a cell: a value, the 95 % interval that suits it, and the number of predictions behind it.

One file per family computes `Statistic`s from a `PredictionTable`; `measuring.measure` computes their measures.
`ScoredPredictions` is the interface to all of them for the predictions of a cell.
"""

from pytest_puma.metrics.answers import confusion_matrix
from pytest_puma.metrics.calibration import calibration_bins
from pytest_puma.metrics.catalogue import declaration, is_metric, metric_names, names_of_kind, source_of
from pytest_puma.metrics.paired import paired_change
from pytest_puma.metrics.pairs import PairedPredictions, contrast, pair
from pytest_puma.metrics.scored import ScoredPredictions
from pytest_puma.metrics.scoring import score
from pytest_puma.metrics.table import TOLERATED_FAILURES

__all__ = [
    "TOLERATED_FAILURES",
    "PairedPredictions",
    "ScoredPredictions",
    "calibration_bins",
    "confusion_matrix",
    "contrast",
    "declaration",
    "is_metric",
    "metric_names",
    "names_of_kind",
    "pair",
    "paired_change",
    "score",
    "source_of",
]
