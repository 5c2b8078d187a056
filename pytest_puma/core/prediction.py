"""A prediction: the answer to one sample, beside its gold label."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeAlias

from pytest_puma.core.conversation import TRUNCATED, Likelihood, Response, Usage
from pytest_puma.core.metric import Value
from pytest_puma.core.shared import Messages

_FENCE = re.compile(r"```[^\n`]*\n(.*?)\n?```", re.DOTALL)
#: Identity of a prediction in a cell: the id of the sample, and the index of the trial.
Key: TypeAlias = tuple[str, int]

#: The score of every answer: 0 is right, 1 is wrong; in a regression, the absolute error; None for a parse failure.
LOSS = "loss"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The answer to one trial of a sample, beside the gold label. `answer` is None for a parse failure.

    `trial`: the index of the trial. `raw`: the text of each response; `finish` is that of the last one. `failure`: the
    cause of a parse failure, in one word; `parsed`: the parsed text if it is no valid answer. `fields` and `groups` are
    those of the sample. `scores`: by the name of a metric, None if it does not apply. `prompts`: for each request the
    messages after those that all prompts of the cell share, None for the same prompt as before; `Outcome.prompts`
    joins them.

    `references`: all ground truths if there are several. `choices`: their texts in the order of the sample; `order`:
    the places of these in the order shown (see `Trial`). `reply`: the text that metrics read, None for the last
    response as it is. `likelihoods`: of each choice, or of each reference, in the order of the sample; `unconditional`:
    the same without the question.

    `responses`: the response to each request of the conversation, and `continuations` those that it scored, empty for a
    text: with them the conversation can be held again without a model.
    """

    sample_id: str
    trial: int = 0
    gold: str
    answer: str | None
    raw: tuple[str, ...] = ()
    probabilities: Mapping[str, float] | None = None
    logprobs: tuple[float, ...] = ()
    finish: str = "stop"
    failure: str | None = None
    parsed: str | None = None
    units: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, Value] = field(default_factory=dict)
    prompts: tuple[Messages | None, ...] = ()
    usage: Usage = field(default_factory=Usage)
    references: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    order: tuple[int, ...] = ()
    reply: str | None = None
    likelihoods: tuple[Likelihood, ...] = ()
    unconditional: tuple[Likelihood, ...] = ()
    responses: tuple[Response, ...] = ()
    continuations: tuple[tuple[str, ...], ...] = ()

    @property
    def key(self) -> Key:
        """Identity of the prediction in a cell."""
        return self.sample_id, self.trial

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
        return self.reply if self.reply is not None else self.raw[-1] if self.raw else ""

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
