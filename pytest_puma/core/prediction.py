"""A prediction: the answer to one sample, beside its gold label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pytest_puma.core.conversation import Usage
from pytest_puma.core.metric import Value
from pytest_puma.core.shared import Messages

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
    def text(self) -> str:
        """The text of the last response; empty if nothing was generated."""
        return self.raw[-1] if self.raw else ""
