r"""The conversations of metrics: with a judge, a second model that looks at each answer, or with what runs programs.

A metric whose function is a generator asks the judge, like a strategy asks the model, and returns its value:

    @metric
    def polite(sample, prediction):
        prompt = Prompt(messages=(Message(role="user", content=f"Is this polite? {prediction.text}"),))
        response = yield from ask(Score(prompt=prompt, continuations=("yes", "no")))
        return response.logprobs[0] > response.logprobs[1]

With `needs={"sandbox"}` it yields programs, and receives what happened to each:

    @metric(needs={"sandbox"})
    def sorts(sample, prediction):
        ran = yield Program(text=f"{prediction.text}\nassert sort([2, 1]) == [1, 2]")
        return ran.passed

The first programs of all predictions of a cell are run together, then their next ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from types import GeneratorType
from typing import Any, cast

from pytest_puma.core import (
    JUDGE,
    SANDBOX,
    Answer,
    Conversation,
    Message,
    Messages,
    Metric,
    Origin,
    Prediction,
    Program,
    PumaError,
    Ran,
    Responder,
    ResponderRole,
    Response,
    Sample,
    Sandbox,
    SettingsError,
    SharedPrompts,
    Transcript,
    Trial,
    Turn,
    Usage,
)
from pytest_puma.core.prediction import changed
from pytest_puma.core.shared import whole_prompts
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.conversations import ConversationState, run_conversations
from pytest_puma.evaluation.predict import CellPredictions
from pytest_puma.evaluation.programs import run_programs
from pytest_puma.metrics.scoring import raised, values_of


@dataclass(slots=True, eq=False)
class _Judgement:
    """The conversations of all metrics about one prediction, and the scores that they end with."""

    sample: Sample
    prediction: Prediction
    scores: dict[str, Any] = field(default_factory=dict)

    def converse(self, metric: Metric) -> GeneratorType[Any, Any, Answer]:
        """Return the conversation of a metric, under a name that messages show."""
        conversation = cast("GeneratorType[Any, Any, Answer]", self._converse(metric))
        conversation.__name__ = f"{metric.name} of sample {self.sample.id!r}"
        return conversation

    def scored(self, role: ResponderRole, turns: Iterable[Turn]) -> Prediction:
        """Return the prediction with its scores and with the turns that gave them."""
        transcripts = {**self.prediction.transcripts, role: Transcript(tuple(turns))}
        scores = {**self.prediction.scores, **self.scores}
        return changed(self.prediction, scores=scores, transcripts=transcripts)

    def _converse(self, metric: Metric) -> Conversation:
        try:
            value = yield from metric.score(self.sample, self.prediction)
        except PumaError:
            raise
        except Exception as error:
            raise raised(metric.name, error, where=f" on sample {self.sample.id!r}") from error
        self.scores.update(values_of(metric, self.sample, value))
        return Answer(value=None, responses=())


def judge(
    cell: Cell, answered: CellPredictions, responder: Responder | None = None, sandbox: Sandbox | None = None
) -> CellPredictions:
    """Return the predictions with the scores of metrics that ask a judge or run programs, and what these answered.

    Raises a `SettingsError` if whom a metric asks is absent, and a `MetricError` as other metrics do.
    """
    if metrics := [metric for metric in cell.scores if metric.asks == JUDGE]:
        answered = _ask_judge(cell, answered, metrics, responder)
    if metrics := [metric for metric in cell.scores if metric.asks == SANDBOX]:
        answered = _run_programs(answered, metrics, sandbox)
    return answered


def _judgements(answered: CellPredictions) -> list[_Judgement]:
    samples = {sample.id: sample for sample in answered.samples}
    return [
        _Judgement(_with_later_turns(samples[prediction.sample_id], prediction, answered.shared_prompts), prediction)
        for prediction in answered.predictions
    ]


def _ask_judge(
    cell: Cell, answered: CellPredictions, metrics: Sequence[Metric], responder: Responder | None
) -> CellPredictions:
    if responder is None:
        msg = (
            f"metric {metrics[0].name!r} asks a judge, and there is none; expected the hook pytest_puma_responder to "
            f"return one for the role {JUDGE!r}"
        )
        raise SettingsError(msg)
    judgements, shared = _judgements(answered), SharedPrompts()
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
    predictions = tuple(
        judgement.scored(JUDGE, _turns({metric.name: next(states) for metric in metrics}, beginnings))
        for judgement in judgements
    )
    rubrics = {metric.name: metric.digest for metric in metrics if metric.digest}
    provenance = responder.provenance()
    return replace(
        answered,
        predictions=predictions,
        signature={
            **answered.signature,
            "judge": provenance.signature.get("engine"),
            **({"rubrics": rubrics} if rubrics else {}),
        },
        warnings=(*answered.warnings, *(f"the judge: {warning}" for warning in provenance.warnings)),
    )


def _turns(states: Mapping[str, ConversationState], beginnings: Sequence[Messages]) -> Iterator[Turn]:
    """The turns of the metrics about a prediction, by their names, each with its whole prompt."""
    for name, state in states.items():
        transcript = state.transcript()
        prompts = whole_prompts(beginnings, transcript.prompts)
        for turn, prompt in zip(transcript.turns, prompts, strict=True):
            yield replace(turn, prompt=prompt, cited=True, metric=name)


def _run_programs(answered: CellPredictions, metrics: Sequence[Metric], sandbox: Sandbox | None) -> CellPredictions:
    if sandbox is None:
        msg = (
            f"metric {metrics[0].name!r} runs programs that the model wrote, which needs your consent; "
            "expected --puma-run-code"
        )
        raise SettingsError(msg)
    judgements = _judgements(answered)
    conversations = [[judgement.converse(metric) for metric in metrics] for judgement in judgements]
    ran = run_programs([conversation for group in conversations for conversation in group], sandbox)
    predictions = tuple(
        judgement.scored(
            SANDBOX, starmap(_program_turn, {it: None for conversation in group for it in ran[conversation]})
        )
        for judgement, group in zip(judgements, conversations, strict=True)
    )
    return replace(
        answered,
        predictions=predictions,
        signature={**answered.signature, "sandbox": dict(sandbox.signature)},
        warnings=(*answered.warnings, *sandbox.warnings),
    )


def _program_turn(program: Program, ran: Ran) -> Turn:
    usage = Usage(seconds=ran.seconds)
    return Turn(prompt=(Message(role="user", content=program.text),), response=Response(text=ran.output, usage=usage))


def _with_later_turns(sample: Sample, prediction: Prediction, beginnings: Sequence[Messages]) -> Sample:
    """The sample with the turns of its dialogue after the first: replies of the model, and what it was asked next."""
    prompts = [
        prompt[:-1] if prompt[-1].role == "assistant" else prompt
        for prompt in whole_prompts(beginnings, prediction.transcript.prompts)
    ]
    if not prompts or prompts[-1][: len(prompts[0])] != prompts[0]:
        return sample
    return replace(sample, asked=(*sample.asked, *prompts[-1][len(prompts[0]) :]))
