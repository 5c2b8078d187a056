"""Naive baselines: the measures of trivial programs on the same samples, which a model should beat.

`naive_programs` has the programs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_puma.analysis.naive_programs import PROGRAMS
from pytest_puma.core import MODEL, Measure, Metric, Prediction, PumaError, Response, Sample, Scenario, Transcript
from pytest_puma.core.metric_name import MetricName
from pytest_puma.metrics import ScoredPredictions, score
from pytest_puma.phrases import described, one_line
from pytest_puma.stats.resampling import Resamples


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
        self._found: dict[tuple[object, ...], dict[str, NaiveBaseline]] = {}
        self._left_out: list[str] = []

    def find(
        self,
        scenario: Scenario,
        samples: Sequence[Sample],
        resamples: Resamples,
        perturbation: str | None = None,
        *,
        metrics: Sequence[Metric] = (),
        only: Collection[str] | None = None,
    ) -> Mapping[str, NaiveBaseline]:
        """Return the naive baselines by name, on the perturbed samples; without `tfidf` if a label has too few samples.

        `only`: the metrics to measure, None for all. Those that ask a judge or run programs are not measured.
        One that cannot be computed is left out, and `left_out` gives the reason: it was not requested.
        `resamples` are those of the samples; their seed is also that of the programs.
        """
        asking = {name for metric in metrics if metric.asks for name in metric.names}
        metrics = [metric for metric in metrics if not metric.asks]
        only = None if only is None else [name for name in only if MetricName.parse(name).base not in asking]
        names = tuple(name for metric in metrics for name in metric.names)
        measured = None if only is None else frozenset(only)
        key = (type(scenario), tuple(sample.id for sample in samples), resamples.seed, perturbation, names, measured)
        if key not in self._found:
            found = {}
            for name in scenario.kind.naive_baselines:
                try:
                    if answers := PROGRAMS[name](scenario, samples, resamples.seed):
                        found[name] = _measured(scenario, samples, answers, resamples, metrics, only)
                # The data or the scenario's own metrics may raise anything, and other programs go on.
                except Exception as error:  # noqa: BLE001, PERF203
                    fault = one_line(error, limit=None) if isinstance(error, PumaError) else described(error)
                    self._left_out.append(f"the naive baseline {name} is left out: {fault}")
            self._found[key] = found
        return self._found[key]

    def left_out(self) -> list[str]:
        """Return a sentence for each program that could not be computed since the last call."""
        sentences, self._left_out = self._left_out, []
        return sentences


def _measured(  # noqa: PLR0917
    scenario: Scenario,
    samples: Sequence[Sample],
    answers: Sequence[str],
    resamples: Resamples,
    metrics: Sequence[Metric],
    only: Collection[str] | None,
) -> NaiveBaseline:
    predictions = [_prediction(sample, answer) for sample, answer in zip(samples, answers, strict=True)]
    scored = score(scenario, samples, predictions, metrics)
    # With several trials per sample, the resamples have more rows.
    same = resamples if len(resamples) == len(scored) else None
    whole = ScoredPredictions(scenario, scored, seed=resamples.seed, metrics=metrics, resamples=same)
    by_sample = {prediction.sample_id: prediction for prediction in scored}
    return NaiveBaseline(answers=by_sample, measures=whole.measures(only=only))


def _prediction(sample: Sample, answer: str) -> Prediction:
    return Prediction(
        sample_id=sample.id,
        gold=sample.gold,
        answer=answer or None,
        units=sample.units,
        fields=sample.fields,
        groups=sample.groups,
        references=sample.references,
        choices=tuple(choice.text for choice in sample.choices),
        transcripts={MODEL: Transcript.of(Response(text=answer))},
    )
