"""A prediction: the answer to one sample, beside its gold label, and the conversation that gave it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Literal, TypeAlias

from pytest_puma.core.conversation import TRUNCATED, Response
from pytest_puma.core.likelihood import Divergence, Likelihood
from pytest_puma.core.metric import Value
from pytest_puma.core.shared import Messages
from pytest_puma.core.usage import Usage

_FENCE = re.compile(r"```[^\n`]*\n(.*?)\n?```", re.DOTALL)
#: Identity of a prediction in a cell: the id of the sample, and the index of the trial.
Key: TypeAlias = tuple[str, int]

#: The score of every answer: 0 is right, 1 is wrong; in a regression, the absolute error; None for a parse failure.
LOSS = "loss"
#: Who answers: the model that is measured, the one that judges its answers, or what runs its programs.
ResponderRole: TypeAlias = Literal["model", "judge", "sandbox"]
MODEL: ResponderRole = "model"
JUDGE: ResponderRole = "judge"
SANDBOX: ResponderRole = "sandbox"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A request and its response.

    `prompt`: the messages after those that all prompts of the cell share, None for the same prompt as before.
    `continuations`: those that the request scored, empty for a text. `cited`: whether the answer names the response.
    `metric`: the metric that asked a judge.
    """

    prompt: Messages | None = None
    continuations: tuple[str, ...] = ()
    response: Response = field(default_factory=Response)
    cited: bool = True
    metric: str = ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """The turns of a conversation. With them it can be held again without a model."""

    turns: tuple[Turn, ...] = ()

    @classmethod
    def of(cls, *responses: Response) -> Transcript:
        """Return a transcript of responses whose requests are unknown."""
        return cls(tuple(Turn(response=response) for response in responses))

    @property
    def cited(self) -> tuple[Response, ...]:
        """The responses that the answer names."""
        return tuple(turn.response for turn in self.turns if turn.cited)

    @property
    def raw(self) -> tuple[str, ...]:
        """The texts of the cited responses."""
        return tuple(response.text for response in self.cited)

    @property
    def logprobs(self) -> tuple[float, ...]:
        """The log-probabilities of all cited responses."""
        return tuple(value for response in self.cited for value in response.logprobs)

    @property
    def finish(self) -> str:
        """The end of the last cited response."""
        cited = self.cited
        return cited[-1].finish if cited else "stop"

    @property
    def prompts(self) -> tuple[Messages | None, ...]:
        """The prompt of each request."""
        return tuple(turn.prompt for turn in self.turns)

    @property
    def usage(self) -> Usage:
        """The cost of all responses."""
        return Usage.total(turn.response.usage for turn in self.turns)


_NO_TRANSCRIPT = Transcript()


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The answer to one trial of a sample, beside the gold label. `answer` is None for a parse failure.

    `trial`: the index of the trial; `tries`: how often it was asked. `failure`: the cause of a parse failure, in one
    word; `parsed`: the parsed text if it is no valid answer. `fields` and `groups` are those of the sample.
    `scores`: by the name of a metric, None if it does not apply. `transcripts`: the conversation with each
    responder.

    `references`: all ground truths if there are several. `choices`: their texts in the order of the sample; `order`:
    the places of these in the order shown (see `Trial`). `reply`: the text that metrics read, None for the last
    response as it is. `likelihoods`: of each choice, or of each reference, in the order of the sample; `unconditional`:
    the same without the question. `divergence`: of a variant, at each place of the reply of the plain model.
    """

    sample_id: str
    trial: int = 0
    tries: int = 1
    gold: str
    answer: str | None
    probabilities: Mapping[str, float] | None = None
    failure: str | None = None
    parsed: str | None = None
    units: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, Value] = field(default_factory=dict)
    references: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    order: tuple[int, ...] = ()
    reply: str | None = None
    likelihoods: tuple[Likelihood, ...] = ()
    unconditional: tuple[Likelihood, ...] = ()
    divergence: tuple[Divergence, ...] = ()
    transcripts: Mapping[ResponderRole, Transcript] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """Identity of the prediction in a cell."""
        return self.sample_id, self.trial

    @property
    def transcript(self) -> Transcript:
        """The conversation with the model."""
        return self.transcripts.get(MODEL, _NO_TRANSCRIPT)

    @property
    def raw(self) -> tuple[str, ...]:
        """The text of each response that the answer names."""
        return self.transcript.raw

    @property
    def logprobs(self) -> tuple[float, ...]:
        """The log-probabilities of these responses."""
        return self.transcript.logprobs

    @property
    def finish(self) -> str:
        """The end of the last one."""
        return self.transcript.finish

    @property
    def usage(self) -> Usage:
        """The cost of all responses."""
        return self.transcript.usage

    @property
    def joules(self) -> float:
        """The energy of all responses, 0 if unknown."""
        return sum(turn.response.joules for turn in self.transcript.turns)

    @property
    def loss(self) -> float | None:
        """Loss of the answer: 0 is right; None for a parse failure, or before it was scored."""
        loss = self.scores.get(LOSS)
        return loss if isinstance(loss, (int, float)) else None

    @property
    def truncated(self) -> bool:
        """Whether the last reply was cut off, so that its last word may be incomplete."""
        return self.finish in TRUNCATED

    @property
    def text(self) -> str:
        """The text that metrics read: the reply as the scenario reads it, else the last response; empty if none."""
        if self.reply is not None:
            return self.reply
        raw = self.raw
        return raw[-1] if raw else ""

    @property
    def golds(self) -> tuple[str, ...]:
        """All ground truths."""
        return self.references or (self.gold,)

    def json(self) -> Any:
        """The JSON value that the whole text is, without a Markdown fence around it; None if it is none."""
        match = _FENCE.fullmatch(self.text.strip())
        try:
            return json.loads(match[1] if match else self.text)
        except (ValueError, RecursionError):
            return None


_NAMES = tuple(field.name for field in fields(Prediction))
_VALUES = attrgetter(*_NAMES)
_SETTERS = {name: getattr(Prediction, name).__set__ for name in _NAMES}


def changed(prediction: Prediction, **changes: object) -> Prediction:
    """Return a copy with other values of some fields, in a third of the time that `dataclasses.replace` takes."""
    copy = object.__new__(Prediction)
    for setter, value in zip(_SETTERS.values(), _VALUES(prediction), strict=True):
        setter(copy, value)
    for name, value in changes.items():
        _SETTERS[name](copy, value)
    return copy
