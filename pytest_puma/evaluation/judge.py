"""The conversations of metrics with a judge: a second model that looks at each answer of the first one.

A metric whose function is a generator asks the judge, like a strategy asks the model, and returns its value:

    @metric
    def polite(sample, prediction):
        prompt = Prompt(messages=(Message(role="user", content=f"Is this polite? {prediction.text}"),))
        response = yield from ask(Score(prompt=prompt, continuations=("yes", "no")))
        return response.logprobs[0] > response.logprobs[1]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import GeneratorType
from typing import Any, cast

from pytest_puma.core import (
    JUDGE,
    Answer,
    Conversation,
    Messages,
    Metric,
    Origin,
    Prediction,
    PumaError,
    Responder,
    Sample,
    SettingsError,
    SharedPrompts,
    Transcript,
    Trial,
)
from pytest_puma.core.prediction import changed
from pytest_puma.core.shared import whole_prompts
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.conversations import ConversationState, run_conversations
from pytest_puma.evaluation.predict import CellPredictions
from pytest_puma.metrics.scoring import raised, values_of


@dataclass(slots=True, eq=False)
class _Judgement:
    """The conversations of all metrics about one prediction, and the scores that they end with."""

    sample: Sample
    prediction: Prediction
    scores: dict[str, Any] = field(default_factory=dict)

    def converse(self, metric: Metric) -> Conversation:
        """Return the conversation of a metric, under a name that messages show."""
        conversation = cast("GeneratorType[Any, Any, Answer]", self._converse(metric))
        conversation.__name__ = f"{metric.name} of sample {self.sample.id!r}"
        return conversation

    def _converse(self, metric: Metric) -> Conversation:
        try:
            value = yield from metric.score(self.sample, self.prediction)
        except PumaError:
            raise
        except Exception as error:
            raise raised(metric.name, error, where=f" on sample {self.sample.id!r}") from error
        self.scores.update(values_of(metric, self.sample, value))
        return Answer(value=None, responses=())


def judge(cell: Cell, answered: CellPredictions, responder: Responder | None) -> CellPredictions:
    """Return the predictions with the scores of metrics that ask a judge, and the conversations with it.

    Raises a `SettingsError` if there is no judge, and a `MetricError` as other metrics do.
    """
    metrics = [metric for metric in cell.scores if metric.is_judged]
    if not metrics:
        return answered
    if responder is None:
        msg = (
            f"metric {metrics[0].name!r} asks a judge, and there is none; expected the hook pytest_puma_responder to "
            f"return one for the role {JUDGE!r}"
        )
        raise SettingsError(msg)
    samples = {sample.id: sample for sample in answered.samples}
    judgements = [_Judgement(samples[prediction.sample_id], prediction) for prediction in answered.predictions]
    shared = SharedPrompts()
    responder.begin(cell.id, {"metrics": [metric.name for metric in metrics]})
    states = iter(
        run_conversations(
            [judgement.converse(metric) for judgement in judgements for metric in metrics],
            responder,
            shared=shared,
            origins=[
                Origin(cell.id, judgement.sample, Trial(index=judgement.prediction.trial))
                for judgement in judgements
                for _ in metrics
            ],
        )
    )
    beginnings = shared.shared()
    predictions = tuple(_judged(judgement, [next(states) for _ in metrics], beginnings) for judgement in judgements)
    provenance = responder.provenance()
    return replace(
        answered,
        predictions=predictions,
        signature={**answered.signature, "judge": provenance.signature.get("engine")},
        warnings=(*answered.warnings, *(f"the judge: {warning}" for warning in provenance.warnings)),
    )


def _judged(judgement: _Judgement, states: list[ConversationState], beginnings: Sequence[Messages]) -> Prediction:
    """The prediction with its scores, and with the turns of all metrics, each with its whole prompt."""
    turns = []
    for state in states:
        transcript = state.transcript()
        prompts = whole_prompts(beginnings, transcript.prompts)
        turns += [
            replace(turn, prompt=prompt, cited=True) for turn, prompt in zip(transcript.turns, prompts, strict=True)
        ]
    prediction = judgement.prediction
    transcripts = {**prediction.transcripts, JUDGE: Transcript(tuple(turns))}
    return changed(prediction, scores={**prediction.scores, **judgement.scores}, transcripts=transcripts)
