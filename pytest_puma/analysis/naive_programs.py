"""The programs of naive baselines: each answers all samples of a scenario.

    majority    the most frequent label, or ground truth     mean, median   of the gold values
    guess       a random label, by the frequencies of the gold labels, or a random choice
    first       the first choice of the data                 longest        the choice with the most characters
    empty       the empty reply                              echo           the question as the reply
    tfidf       see `naive_learning`

`majority`, `guess` of labels, `mean` and `median` use the frequencies of the gold answers, which no model knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from statistics import fmean, median
from typing import TypeAlias

from pytest_puma.analysis.naive_learning import learned_answers, learned_choices
from pytest_puma.core import Sample, Scenario
from pytest_puma.datasets.fields import hidden_fields, text_fields
from pytest_puma.datasets.order import plain_text

#: Computes the answers to all samples of a scenario; none if there is nothing to learn. The last argument is a seed.
Program: TypeAlias = Callable[[Scenario, Sequence[Sample], int], Sequence[str]]


def _majority(scenario: Scenario, samples: Sequence[Sample], _: int) -> Sequence[str]:
    counts = Counter(sample.gold for sample in samples)
    # The order of the labels decides ties.
    commonest = max(scenario.valid_labels() or list(counts), key=lambda answer: counts[answer])
    repeated = scenario.kind.closed or (commonest and counts[commonest] > 1)
    return [commonest] * len(samples) if repeated else []


def _guess(scenario: Scenario, samples: Sequence[Sample], seed: int) -> Sequence[str]:
    random = Random(seed)  # noqa: S311 - no secret
    if scenario.kind.form == "choices":
        return [random.choice(sample.choices).text for sample in samples]
    return random.choices([sample.gold for sample in samples], k=len(samples))


def _mean(_: Scenario, samples: Sequence[Sample], __: int) -> Sequence[str]:
    return [repr(fmean(float(sample.gold) for sample in samples))] * len(samples)


def _median(_: Scenario, samples: Sequence[Sample], __: int) -> Sequence[str]:
    return [repr(median(float(sample.gold) for sample in samples))] * len(samples)


def _first(_: Scenario, samples: Sequence[Sample], __: int) -> Sequence[str]:
    return [sample.choices[0].text for sample in samples]


def _longest(_: Scenario, samples: Sequence[Sample], __: int) -> Sequence[str]:
    return [max((choice.text for choice in sample.choices), key=len) for sample in samples]


def _empty(_: Scenario, samples: Sequence[Sample], __: int) -> Sequence[str]:
    return [""] * len(samples)


def _echo(scenario: Scenario, samples: Sequence[Sample], _: int) -> Sequence[str]:
    if scenario.composes:
        return [scenario.question_text(dict(sample.fields), ()) for sample in samples]
    names = text_fields(scenario, samples, hidden_fields(scenario, samples))
    return ["\n".join(plain_text(sample.fields.get(name)) for name in names) for sample in samples]


def _tfidf(scenario: Scenario, samples: Sequence[Sample], seed: int) -> Sequence[str]:
    learned = learned_choices if scenario.kind.form == "choices" else learned_answers
    return learned(scenario, samples, seed)


#: The kind of task selects some of them.
PROGRAMS: Mapping[str, Program] = {
    "majority": _majority,
    "guess": _guess,
    "mean": _mean,
    "median": _median,
    "first": _first,
    "longest": _longest,
    "empty": _empty,
    "echo": _echo,
    "tfidf": _tfidf,
}
