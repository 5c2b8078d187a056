"""How far a variant is from its plain model: a pass over the answers of both cells, after them.

The plain model's own reply to each trial is the reference of all its variants, so that each is measured where the plain
model would be: the model scores that reply after its prompt, and so gives the most probable tokens at each place. What
entered the batches of the answers does not depend on this pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pytest_puma.core import (
    Answer,
    Conversation,
    Divergence,
    Key,
    Origin,
    Prediction,
    Prompt,
    Responder,
    Response,
    Score,
    TopTokens,
    Trial,
    ask,
)
from pytest_puma.core.prediction import changed
from pytest_puma.core.shared import Messages, whole_prompts
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.conversations import Progress, run_conversations
from pytest_puma.evaluation.predict import CellPredictions, vary
from pytest_puma.stats.divergence import kl_divergence

#: The tokens of each place that are compared one by one; all others are compared as one.
TOP = 256


@dataclass(frozen=True, slots=True)
class ScoredReplies:
    """The replies of a plain cell by trial, as requests to score them, and the responses to these."""

    requests: Mapping[Key, Score]
    responses: Mapping[Key, Response]


def measures_distance(cell: Cell) -> bool:
    """Whether the cell of a variant has metrics of its distance from the plain model."""
    return any(metric.source == "distributions" for metric in cell.scores)


def scored_replies(
    cell: Cell, answered: CellPredictions, engine: Responder, progress: Progress | None = None
) -> ScoredReplies:
    """Let a plain model score its own replies."""
    requests = requests_of(cell, answered)
    return ScoredReplies(requests, responses_to(cell, answered, engine, requests, progress))


def requests_of(cell: Cell, answered: CellPredictions, *, unknown: str = "") -> dict[Key, Score]:
    """Return the requests to score the replies of a plain cell. `unknown`: stands for empty replies, to plan them."""
    return {
        prediction.key: request
        for prediction in answered.predictions
        if (request := _request(cell, prediction, answered.shared_prompts, unknown)) is not None
    }


def with_divergence(
    cell: Cell, answered: CellPredictions, plain: ScoredReplies, engine: Responder, progress: Progress | None = None
) -> CellPredictions:
    """Let a variant score the replies of its plain model; return its predictions with the divergence at each place."""
    keys = {prediction.key for prediction in answered.predictions}
    requests = {key: request for key, request in plain.requests.items() if key in keys}
    if not requests:
        return without_divergence(answered, f"{cell.name.plain} gave no reply to the same samples")
    pairs = {
        key: (plain.responses[key], response)
        for key, response in responses_to(cell, answered, engine, requests, progress).items()
    }
    if any(_lengths(old) != _lengths(new) for old, new in pairs.values()):
        return without_divergence(answered, f"the vocabularies of {cell.name.model} and {cell.name.plain} differ")
    divergence = {key: tuple(map(_at_place, old.top, new.top)) for key, (old, new) in pairs.items()}
    return replace(
        answered,
        predictions=tuple(changed(it, divergence=divergence.get(it.key, ())) for it in answered.predictions),
    )


def without_divergence(answered: CellPredictions, why: str) -> CellPredictions:
    """Return predictions whose distance from the plain model is not measured, for this reason."""
    return replace(answered, unmeasured={**answered.unmeasured, "distributions": f"is not measured: {why}"})


def _request(cell: Cell, prediction: Prediction, shared: tuple[Messages, ...], unknown: str) -> Score | None:
    """The request to score the last reply that the answer names, or `unknown`; None if both are empty.

    Of continuations that were scored, the most probable one is the reply.
    """
    transcript = prediction.transcript
    prompts = whole_prompts(shared, transcript.prompts)
    cited = [
        (turn, prompt)
        for turn, prompt in zip(transcript.turns, prompts, strict=True)
        if turn.cited and turn.response.finish != "overflow"
    ]
    if not cited:
        return None
    turn, messages = cited[-1]
    response, text = turn.response, turn.response.text or unknown
    if turn.continuations:
        text = turn.continuations[response.logprobs.index(max(response.logprobs))]
    if not text:
        return None
    prefill = messages[-1].content if messages[-1].role == "assistant" else ""
    prompt = Prompt(messages=messages[:-1] if prefill else messages, prefill=prefill, chat=cell.model.options.chat)
    return Score(prompt=prompt, continuations=(text,), ends=not response.truncated, top=TOP)


def responses_to(
    cell: Cell,
    answered: CellPredictions,
    engine: Responder,
    requests: Mapping[Key, Score],
    progress: Progress | None = None,
) -> dict[Key, Response]:
    """Return the responses of the model of a cell; none to a reply that its context cannot hold."""
    samples = {sample.id: sample for sample in answered.samples}
    vary(cell, engine)
    engine.begin(cell.id, {name: part for name, part in answered.signature.items() if name != "engine"})
    states = run_conversations(
        [_scored(request) for request in requests.values()],
        engine,
        progress,
        origins=[Origin(cell.id, samples[sample], Trial(index=trial)) for sample, trial in requests],
    )
    # The batch is whole, which the response store learns by this.
    engine.provenance()
    responses = {key: state.responses[0] for key, state in zip(requests, states, strict=True)}
    return {key: response for key, response in responses.items() if response.top}


def _scored(request: Score) -> Conversation:
    response = yield from ask(request)
    return Answer(value=None, responses=(response,))


def _lengths(response: Response) -> tuple[int, int]:
    """The numbers of tokens of the prompt and of the reply."""
    return response.usage.prompt_tokens, response.likelihoods[0].tokens


def _at_place(plain: TopTokens, variant: TopTokens) -> Divergence:
    nats = kl_divergence(plain.tokens, plain.logprobs, variant.tokens, variant.logprobs)
    return Divergence(nats, plain.tokens[0] == variant.tokens[0])
