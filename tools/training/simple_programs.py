"""Scores of simple programs on the evaluated rows, trained on the same invented texts, or on nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TypeAlias

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

from pytest_puma.core import Measure, Prediction, Sample
from pytest_puma.metrics import ScoredPredictions
from pytest_puma.scenarios import BUILTIN
from pytest_puma.scenarios.jira import PRIORITIES
from tools.training.cases import POINTS
from tools.training.phrases import load_phrases
from tools.training.texts import Text, Writer

#: Number of invented texts of each kind that a program learns from.
LEARNED = 4000

Program: TypeAlias = Callable[[Sequence[Sample]], list[str]]


def simple_programs(samples: Mapping[str, Sequence[Sample]]) -> dict[tuple[str, str], dict[str, Measure]]:
    """Return the measures of each program, by scenario and by name of the program."""
    writer = Writer(load_phrases(), random := Random(1))  # noqa: S311 - no secret
    programs: dict[tuple[str, str], Program] = {
        ("triage_jira", "TF-IDF, logistic regression"): _classifier(
            [writer.issue(PRIORITIES[number % len(PRIORITIES)]) for number in range(LEARNED)]
        ),
        ("estimation_tawos", "TF-IDF, ridge regression"): _regressor(
            [writer.item(points) for points in random.choices(list(POINTS), list(POINTS.values()), k=LEARNED)]
        ),
        ("estimation_tawos", "the mean of the evaluated rows"): _mean,
    }
    return {
        (scenario, name): _measured(scenario, samples[scenario], program(samples[scenario]))
        for (scenario, name), program in programs.items()
    }


def _classifier(texts: Sequence[Text]) -> Program:
    pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LogisticRegression(max_iter=1000))
    pipeline.fit([f"{each.title}\n{each.description}" for each in texts], [each.gold for each in texts])
    return lambda samples: [str(answer) for answer in pipeline.predict(_texts(samples))]


def _regressor(texts: Sequence[Text]) -> Program:
    pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), Ridge())
    pipeline.fit([f"{each.title}\n{each.description}" for each in texts], [float(each.gold) for each in texts])
    return lambda samples: [repr(float(answer)) for answer in pipeline.predict(_texts(samples))]


def _mean(samples: Sequence[Sample]) -> list[str]:
    golds = [float(sample.gold) for sample in samples]
    return [repr(sum(golds) / len(golds))] * len(golds)


def _texts(samples: Sequence[Sample]) -> list[str]:
    return [f"{sample.fields['title']}\n{sample.fields['description']}" for sample in samples]


def _measured(scenario: str, samples: Sequence[Sample], answers: Sequence[str]) -> dict[str, Measure]:
    predictions = [
        Prediction(sample_id=sample.id, gold=sample.gold, answer=answer, units=sample.units)
        for sample, answer in zip(samples, answers, strict=True)
    ]
    return ScoredPredictions(BUILTIN[scenario](), predictions, seed=42).measures()
