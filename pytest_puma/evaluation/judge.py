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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    StoreShare,
    Transcript,
    Trial,
    Turn,
    Usage,
)
from pytest_puma.core.prediction import changed
from pytest_puma.core.shared import whole_prompts
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.conversations import ConversationState, Progress, run_conversations
from pytest_puma.evaluation.predict import CellPredictions
from pytest_puma.evaluation.programs import run_programs, signature_of
from pytest_puma.judges.agreement import judged_reply
from pytest_puma.judges.once import AskingOnce
from pytest_puma.judges.panel import majority
from pytest_puma.judges.written import WrittenVerdicts
from pytest_puma.metrics.scoring import raised, values_of

#: How to name a judge, for messages.
EXPECTED_JUDGE = "--puma-judge MODEL, the ini key puma_judge, or judge in the marker or run-spec"
_OWN_JUDGE = "the judge is the model under test: it may prefer its own replies to better ones"


@dataclass(slots=True, eq=False)
class _Judgement:
    """The conversations of all metrics about one prediction, and the scores that they end with."""

    sample: Sample
    prediction: Prediction
    scores: dict[str, Any] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)

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
    cell: Cell,
    answered: CellPredictions,
    judges: Sequence[Responder] = (),
    sandbox: Sandbox | None = None,
    *,
    progress: Callable[[Responder], Progress | None] = lambda _: None,
) -> CellPredictions:
    """Return the predictions with the scores of metrics that ask a judge or run programs, and what these answered.

    `progress`: from a judge to what receives the numbers of judged and of all predictions. Raises a `SettingsError` if
    whom a metric asks is absent, and a `MetricError` as other metrics do.
    """
    if cell.judged:
        answered = _ask_judges(cell, answered, judges, progress)
    if metrics := [metric for metric in cell.scores if metric.asks == SANDBOX]:
        answered = _run_programs(answered, metrics, sandbox)
    return answered


def _judgements(answered: CellPredictions) -> list[_Judgement]:
    samples = {sample.id: sample for sample in answered.samples}
    return [
        _Judgement(_with_later_turns(samples[prediction.sample_id], prediction, answered.shared_prompts), prediction)
        for prediction in answered.predictions
    ]


def _ask_judges(
    cell: Cell,
    answered: CellPredictions,
    judges: Sequence[Responder],
    progress: Callable[[Responder], Progress | None],
) -> CellPredictions:
    if not judges:
        msg = f"metric {cell.judged[0].name!r} asks a judge, and there is none; expected {EXPECTED_JUDGE}"
        raise SettingsError(msg)
    # One judge after the other: each is asked about all predictions in one batch.
    asking = [AskingOnce(judge if "score" in judge.capabilities else WrittenVerdicts(judge)) for judge in judges]
    rounds = [_ask_judge(cell, answered, one, progress(judge)) for one, judge in zip(asking, judges, strict=True)]
    predictions = tuple(
        _Judgement(judgements[0].sample, judgements[0].prediction, majority([one.scores for one in judgements])).scored(
            JUDGE, (turn for one in judgements for turn in one.turns)
        )
        for judgements in zip(*rounds, strict=True)
    )
    provenances = [judge.provenance() for judge in judges]
    engines = [provenance.signature.get("engine") for provenance in provenances]
    rubrics = {metric.name: metric.digest for metric in cell.judged if metric.digest}
    signature = {"judge": engines[0] if len(engines) == 1 else engines, **({"rubrics": rubrics} if rubrics else {})}
    return replace(
        answered,
        predictions=predictions,
        signature={**answered.signature, **signature},
        kept_of_judges=StoreShare.joined(
            [provenance.kept for provenance in provenances if provenance.kept is not None],
            responses=sum(judge.asked for judge in asking),
        ),
        warnings=(
            *answered.warnings,
            *([_OWN_JUDGE] if any(_same_weights(answered.signature.get("engine"), one) for one in engines) else []),
            *(f"the judge: {warning}" for provenance in provenances for warning in provenance.warnings),
        ),
    )


def _ask_judge(cell: Cell, answered: CellPredictions, judge: Responder, progress: Progress | None) -> list[_Judgement]:
    """Let a judge look at all predictions, by the metrics that ask it."""
    metrics, judgements, shared = cell.judged, _judgements(answered), SharedPrompts()
    judge.begin(cell.id, {"metrics": [metric.name for metric in metrics]})
    states = iter(
        run_conversations(
            [judgement.converse(metric) for judgement in judgements for metric in metrics],
            judge,
            None if progress is None else lambda now, every: progress(now * len(judgements) // every, len(judgements)),
            shared,
            origins=[
                Origin(
                    cell.id,
                    judgement.sample,
                    Trial(index=judgement.prediction.trial),
                    metric=metric.name,
                    reply=judged_reply(metric, judgement.prediction),
                )
                for judgement in judgements
                for metric in metrics
            ],
        )
    )
    beginnings = shared.shared()
    for judgement in judgements:
        judgement.turns += _turns({metric.name: next(states) for metric in metrics}, beginnings)
    return judgements


def _same_weights(model: Any, judge: Any) -> bool:
    digests = [engine.get("weights_sha256") for engine in (model, judge) if isinstance(engine, Mapping)]
    return len(digests) == 2 and digests[0] is not None and digests[0] == digests[1]  # noqa: PLR2004 - both


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
        signature={**answered.signature, "sandbox": signature_of(ran, sandbox)},
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
