"""Naive baselines: answers of trivial programs to the same samples. A model that is no better is not worth its cost.

    majority    the most frequent label                   mean, median   of the gold values
    guess       a random label, by the frequencies of the gold labels
    tfidf       logistic (a regression: ridge) regression on the TF-IDF weights of the words of each text field,
                learned from the other folds of these very samples (five, by label; samples that share a unit
                are in one fold)

All except `tfidf` use the frequencies of the gold answers, which no model knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_puma.core import DataError, Measure, Metric, Prediction, Sample, Scenario
from pytest_puma.metrics import ScoredPredictions, score
from pytest_puma.scenarios.gold import hidden_fields
from pytest_puma.scenarios.order import plain_text
from pytest_puma.scenarios.texts import text_fields
from pytest_puma.stats import Resamples, components

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Fold: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]

#: Computes the answers to all samples of a scenario; none if there is nothing to learn. The last argument is a seed.
Program: TypeAlias = Callable[[Scenario, Sequence[Sample], int], Sequence[str]]
FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class NaiveBaseline:
    """The answers of a program to the samples of a cell, one each, by sample id, and their measures."""

    answers: Mapping[str, Prediction]
    measures: Mapping[str, Measure]

    def of(self, metrics: Iterable[str]) -> dict[str, Measure]:
        """Return some of the measures; a program without probabilities has no `ece`."""
        return {name: self.measures[name] for name in metrics if name in self.measures}


class NaiveBaselines:
    """The naive baselines of a session, computed once for all cells with the same samples and perturbation."""

    def __init__(self) -> None:
        self._computed_baselines: dict[tuple[object, ...], Mapping[str, NaiveBaseline]] = {}
        self._left_out: list[str] = []

    def find(
        self,
        scenario: Scenario,
        samples: Sequence[Sample],
        resamples: Resamples,
        perturbation: str | None = None,
        *,
        metrics: Sequence[Metric] = (),
    ) -> Mapping[str, NaiveBaseline]:
        """Return the naive baselines by name, on the perturbed samples; without `tfidf` if a label has too few samples.

        One that cannot be computed is left out, and `left_out` gives the reason: it was not requested.
        `resamples` are those of the samples; their seed is also that of the programs.
        """
        names = tuple(name for metric in metrics for name in metric.names)
        key = (type(scenario), tuple(sample.id for sample in samples), resamples.seed, perturbation, names)
        if key not in self._computed_baselines:
            programs = scenario.kind.naive_baselines
            computed = {name: self._computed(name, scenario, samples, resamples, metrics) for name in programs}
            self._computed_baselines[key] = {name: naive for name, naive in computed.items() if naive is not None}
        return self._computed_baselines[key]

    def left_out(self) -> list[str]:
        """Return a sentence for each program that could not be computed since the last call."""
        sentences, self._left_out = self._left_out, []
        return sentences

    def _computed(
        self,
        name: str,
        scenario: Scenario,
        samples: Sequence[Sample],
        resamples: Resamples,
        metrics: Sequence[Metric],
    ) -> NaiveBaseline | None:
        try:
            answers = _PROGRAMS[name](scenario, samples, resamples.seed)
            return _naive_baseline(scenario, samples, answers, resamples, metrics) if answers else None
        except Exception as error:  # noqa: BLE001 - the data or the scenario's own metrics may raise anything
            fault = " ".join(str(error).split())
            self._left_out.append(f"the naive baseline {name} is left out: {type(error).__name__}: {fault}")
            return None


def _naive_baseline(
    scenario: Scenario,
    samples: Sequence[Sample],
    answers: Sequence[str],
    resamples: Resamples,
    metrics: Sequence[Metric],
) -> NaiveBaseline:
    predictions = [
        Prediction(
            sample_id=sample.id,
            gold=sample.gold,
            answer=answer,
            raw=(answer,),
            units=sample.units,
            fields=sample.fields,
            groups=sample.groups,
        )
        for sample, answer in zip(samples, answers, strict=True)
    ]
    with_scores = score(scenario, samples, predictions, metrics)
    # With several trials per sample, the resamples have more rows.
    own = resamples if len(resamples) == len(with_scores) else None
    scored = ScoredPredictions(scenario, with_scores, seed=resamples.seed, metrics=metrics, resamples=own)
    return NaiveBaseline(
        answers={prediction.sample_id: prediction for prediction in with_scores}, measures=scored.measures()
    )


def _majority(scenario: Scenario, samples: Sequence[Sample], _: int) -> Sequence[str]:
    counts = Counter(sample.gold for sample in samples)
    return [max(scenario.valid_labels(), key=lambda label: counts[label])] * len(samples)


def _guess(_: Scenario, samples: Sequence[Sample], seed: int) -> Sequence[str]:
    random = Random(seed)  # noqa: S311 - no secret
    return random.choices([sample.gold for sample in samples], k=len(samples))


def _mean(_: Scenario, samples: Sequence[Sample], __: int) -> Sequence[str]:
    return [repr(fmean(float(sample.gold) for sample in samples))] * len(samples)


def _median(_: Scenario, samples: Sequence[Sample], __: int) -> Sequence[str]:
    return [repr(median(float(sample.gold) for sample in samples))] * len(samples)


def _learned(scenario: Scenario, samples: Sequence[Sample], seed: int) -> list[str]:
    """The answers of a linear model to each fold, learned from all others; none if a fold leaves nothing to learn."""
    import numpy as np
    from sklearn.base import clone
    from sklearn.compose import make_column_transformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from threadpoolctl import threadpool_limits

    graded = scenario.kind.graded
    golds = np.array([float(sample.gold) if graded else sample.gold for sample in samples])
    folds = _folds(samples, golds, seed, by_label=not graded)
    if not folds:
        return []
    # The first word stands in every text, so that a field of empty ones has a vocabulary.
    fields = text_fields(scenario, samples, hidden_fields(scenario, samples))
    if not fields:
        msg = f"the samples have no text to learn from; text_fields are {', '.join(scenario.text_fields) or 'none'}"
        raise DataError(msg)
    texts = np.array([[f"text {_text(sample, name)}" for name in fields] for sample in samples], dtype=object)
    words = make_column_transformer(*((TfidfVectorizer(sublinear_tf=True), column) for column in range(len(fields))))
    program = make_pipeline(words, Ridge() if graded else LogisticRegression(max_iter=1000))
    answers = np.empty(len(samples), dtype=object)
    # With so few rows, two threads took five times as long.
    with threadpool_limits(1, user_api="blas"):
        for training, test in folds:
            answers[test] = clone(program).fit(texts[training], golds[training]).predict(texts[test])
    return [repr(float(answer)) if graded else str(answer) for answer in answers]


def _folds(samples: Sequence[Sample], golds: NDArray[Any], seed: int, *, by_label: bool) -> list[_Fold]:
    """Training and test rows of each fold; none if there are too few, or a fold has one label alone."""
    import numpy as np
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    if len(samples) < 2 * FOLDS:
        return []
    groups = components([sample.units for sample in samples])
    if len(set(groups)) < FOLDS:
        # Shared units connect all samples: then folds share some units.
        groups = list(range(len(samples)))
    rarest = min(np.unique(golds, return_counts=True)[1])
    split = StratifiedGroupKFold if by_label and rarest >= FOLDS else GroupKFold
    folds = list(split(FOLDS, shuffle=True, random_state=seed).split(golds, golds, groups))
    return folds if not by_label or all(len(np.unique(golds[training])) > 1 for training, _ in folds) else []


def _text(sample: Sample, field: str) -> str:
    return plain_text(sample.fields.get(field))


#: The task type selects some of them.
_PROGRAMS: Mapping[str, Program] = {
    "majority": _majority,
    "guess": _guess,
    "mean": _mean,
    "median": _median,
    "tfidf": _learned,
}
