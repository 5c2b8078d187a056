"""Metrics that ask a judge: a second model, which looks at each answer of the first one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_puma.core import (
    JUDGE,
    Conversation,
    EngineError,
    Generate,
    Message,
    Metric,
    MetricError,
    Outcome,
    Prediction,
    Prompt,
    Request,
    Sample,
    Score,
    SettingsError,
    ask,
    ask_all,
    metric,
)
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.judges import rubric
from pytest_puma.testing import Engine, ScriptedBackend
from tests.factories import cell


def prompt(text: str) -> Prompt:
    return Prompt(messages=(Message(role="user", content=text),))


@metric
def is_calm(_sample: Sample, prediction: Prediction) -> Any:
    """First reasons, then a verdict, which is scored."""
    reasons = yield from ask(Generate(prompt=prompt(f"Is this calm? {prediction.text}"), max_tokens=20))
    asked = prompt(f"Calm? {prediction.text}, as {reasons.text}")
    verdict = yield from ask(Score(prompt=asked, continuations=("yes", "no")))
    return verdict.logprobs[0] > verdict.logprobs[1]


def judged(*metrics: Metric, judge: ScriptedBackend | None = None, **options: Any) -> Outcome:
    model = Engine(ScriptedBackend({"crash": "Critical"}, default="Minor"))
    asked = cell(samples=8, scores=metrics, **options)
    return evaluate(asked, model, judge=None if judge is None else Engine(judge))


def test_a_judge_gives_scores_that_are_measured_like_any_other() -> None:
    judge = ScriptedBackend(
        lambda text: ("no" if "Critical" in text else "yes") if "Calm?" in text else "it says so", digest="5a"
    )
    outcome = judged(is_calm, judge=judge, gates=("is_calm >= 0.5",))
    calm = [prediction.answer != "Critical" for prediction in outcome.predictions]
    assert [prediction.scores["is_calm"] for prediction in outcome.predictions] == calm
    assert outcome["is_calm"] == sum(calm) / 8
    assert [verdict.status for verdict in outcome.judgement.verdicts] == ["PASS"]
    assert outcome.execution.signature["judge"] == {"backend": "scripted", "weights_sha256": "5a"}


def test_the_conversation_with_the_judge_is_kept_beside_that_with_the_model() -> None:
    outcome = judged(is_calm, judge=ScriptedBackend({}, default="yes"))
    for prediction in outcome.predictions:
        first, second = prediction.transcripts[JUDGE].turns
        assert first.prompt == prompt(f"Is this calm? {prediction.text}").messages
        assert (first.response.text, second.continuations) == ("yes", ("yes", "no"))
        assert prediction.raw == (prediction.answer,), "that of the model"


def test_a_cell_without_such_metrics_needs_no_judge() -> None:
    assert JUDGE not in judged(judge=ScriptedBackend({})).predictions[0].transcripts


def test_a_missing_judge_is_an_error() -> None:
    with pytest.raises(SettingsError, match=r"metric 'is_calm' asks a judge, and there is none; expected --puma-judge"):
        judged(is_calm)


def test_a_metric_that_raises_or_returns_no_number_names_its_sample() -> None:
    @metric
    def fails(_sample: Sample, _prediction: Prediction) -> Any:
        yield from ask(Generate(prompt=prompt("?"), max_tokens=2))
        raise KeyError("x")

    @metric
    def talks(_sample: Sample, _prediction: Prediction) -> Any:
        response = yield from ask(Generate(prompt=prompt("?"), max_tokens=2))
        return response.text

    with pytest.raises(MetricError, match=r"metric 'fails' raised KeyError on sample '.+'"):
        judged(fails, judge=ScriptedBackend({}))
    with pytest.raises(MetricError, match=r"metric 'talks' returned '' for sample '.+'; expected a number or None"):
        judged(talks, judge=ScriptedBackend({}))


def test_a_metric_may_ask_about_any_number_of_statements_none_included() -> None:
    @metric
    def holds(_sample: Sample, prediction: Prediction) -> Any:
        statements = ["It is minor."] * (prediction.answer == "Minor")
        verdicts = yield from ask_all(Generate(prompt=prompt(text), max_tokens=3) for text in statements)
        return all(verdict.text == "yes" for verdict in verdicts) if verdicts else None

    outcome = judged(holds, judge=ScriptedBackend({}, default="yes"))
    for prediction in outcome.predictions:
        assert prediction.scores["holds"] == (True if prediction.answer == "Minor" else None)


@pytest.mark.parametrize(("temperature", "asked"), [(0.0, 8), (1.0, 16)])
def test_equal_requests_about_a_reply_are_asked_once_if_they_are_greedy(temperature: float, asked: int) -> None:
    @metric
    def agrees(sample: Sample, prediction: Prediction) -> Any:
        about = prompt(f"{sample.id}: {prediction.text}")
        first, second = yield from ask_all(
            Generate(prompt=about, max_tokens=3, temperature=temperature, seed=4) for _ in range(2)
        )
        return first.text == second.text

    class Counting(Engine):
        requests = 0

        def submit_all(self, requests: Sequence[Request], *others: Any, **options: Any) -> list[int]:
            self.requests += len(requests)
            return super().submit_all(requests, *others, **options)

    judge = Counting(ScriptedBackend({}, default="yes"))
    outcome = evaluate(cell(samples=8, scores=(agrees,)), Engine(ScriptedBackend({}, default="Minor")), judge=judge)
    assert outcome["agrees"] == 1.0
    assert judge.requests == asked
    assert {len(prediction.transcripts[JUDGE].turns) for prediction in outcome.predictions} == {2}


def test_a_metric_that_yields_no_request_is_named_with_its_sample() -> None:
    @metric
    def mute(_sample: Sample, _prediction: Prediction) -> Any:
        yield "Is this calm?"

    with pytest.raises(EngineError, match=r"the function mute of sample '.+' yields 'Is this calm\?'; expected a req"):
        judged(mute, judge=ScriptedBackend({}))


@pytest.mark.parametrize(
    ("reply", "value"),
    [("yes", 1.0), ("**No**, it shouts.", 0.0), ("Yes.", 1.0), ("nobody", None)],
)
def test_a_judge_that_cannot_score_writes_its_verdict(reply: str, value: float | None) -> None:
    class Writing(Engine):
        capabilities = frozenset({"generate"})

    polite = rubric("polite", "Is it polite?")
    asked = cell(samples=3, scores=(polite, *polite.companions))
    judge = Writing(ScriptedBackend(lambda _: reply))
    outcome = evaluate(asked, Engine(ScriptedBackend({}, default="Minor")), judge=judge)
    assert {one.scores["judge.polite"] for one in outcome.predictions} == {value}
    assert outcome["judge.polite.unreadable_rate"] == (value is None)


def test_a_judge_looks_at_single_predictions() -> None:
    def whole(_predictions: Any) -> Conversation:
        yield from ()
        raise NotImplementedError

    with pytest.raises(SettingsError, match="asks a judge about single predictions; expected per to be 'trial'"):
        metric(per="cell")(whole)
