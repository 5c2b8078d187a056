"""Rubrics on a real judge: no verdict is unreadable; and how often it tells a planted good reply from a bad one.

The judge has 135 million parameters, too few to be trusted: docs/judges.md has the share that it tells apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from pytest_puma.core import Answer, Conversation, Message, Metric, Model, Prediction, Sample
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.evaluation.conversations import run_conversations
from pytest_puma.judges.asking import metric_of
from pytest_puma.judges.rubrics import RUBRICS
from tests.factories import prediction, sample
from tests.real.conftest import THREADS
from tests.real.judge_pairs import DEMANDS, PAIRS, ROWS, TRUTHS, Row


@pytest.fixture(scope="module")
def judge(models: dict[str, Model]) -> Iterator[Engine]:
    engine = Engine(NativeBackend(models["smollm2"], threads=THREADS))
    yield engine
    engine.close()


def test_no_verdict_of_five_hundred_is_unreadable(judge: Engine) -> None:
    shares = told_apart(judge, ROWS[:10])
    assert list(shares) == [rubric.name for rubric in RUBRICS]


def told_apart(judge: Engine, rows: Sequence[Row]) -> dict[str, float]:
    """The share of pairs whose good reply has the better value, ties as half; every verdict is readable."""
    asked: list[tuple[str, Metric, Sample, Prediction]] = []
    for rubric in RUBRICS:
        # The mean over the verdicts by their probabilities tells more than the most probable one.
        metric = metric_of(replace(rubric, reasons=0, expected=True))
        for index, row in enumerate(rows):
            good, bad = PAIRS[rubric.name](index, row)
            about = sample(
                str(index),
                asked=(Message(role="user", content=row.task + DEMANDS.get(rubric.name, "")),),
                context={"rival": bad},
            )
            truth = TRUTHS.get(rubric.name, row.truth)
            asked += [
                (rubric.name, metric, about, prediction(str(index), gold=truth, raw=(reply,))) for reply in (good, bad)
            ]
    values: list[float] = []
    run_conversations([_noting(metric, about, reply, values) for _, metric, about, reply in asked], judge)
    better = {f"{rubric.name}": 1 if rubric.better == "high" else -1 for rubric in RUBRICS}
    shares: dict[str, list[float]] = {}
    for (name, *_), good_value, bad_value in zip(asked[::2], values[::2], values[1::2], strict=True):
        other = 0.5 if name in {"comparison", "mt_bench_pair"} else bad_value
        gain = better[name] * (good_value - other)
        shares.setdefault(name, []).append(1.0 if gain > 0 else 0.5 if gain == 0 else 0.0)
    return {name: sum(told) / len(told) for name, told in shares.items()}


def _noting(metric: Metric, about: Sample, reply: Prediction, values: list[float]) -> Conversation:
    index = len(values)
    values.append(float("nan"))

    def converse() -> Conversation:
        value = yield from metric.score(about, reply)
        assert value is not None, "an unreadable verdict"
        values[index] = sum(value.values()) / len(value) if isinstance(value, dict) else value
        return Answer(value=None, responses=())

    return converse()
