"""The conversation about one trial of a sample: its requests and the responses to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_puma.core.conversation import Response, Usage
from pytest_puma.core.shared import Messages

#: Who answers: the model that is measured, or the one that judges its answers.
ResponderRole: TypeAlias = Literal["model", "judge"]
MODEL: ResponderRole = "model"
JUDGE: ResponderRole = "judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A request and its response.

    `prompt`: the messages after those that all prompts of the cell share, None for the same prompt as before.
    `continuations`: those that the request scored, empty for a text. `cited`: whether the answer names the response.
    """

    prompt: Messages | None = None
    continuations: tuple[str, ...] = ()
    response: Response = field(default_factory=Response)
    cited: bool = True


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
