"""The wording of a strategy: the messages of a trial. A template is one, the methods of a scenario another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pytest_puma.core import Message, Sample, Scenario, Trial

#: The turns that every wording has.
SYSTEM = "system"
USER = "user"


class Shown(Protocol):
    """The data that a prompt may show: the task of a trial."""

    @property
    def scenario(self) -> Scenario: ...  # noqa: D102 - fields of `Task`
    @property
    def sample(self) -> Sample: ...  # noqa: D102
    @property
    def trial(self) -> Trial: ...  # noqa: D102
    @property
    def examples(self) -> Sequence[Mapping[str, Any]]: ...  # noqa: D102
    @property
    def hidden(self) -> frozenset[str]: ...  # noqa: D102
    @property
    def chat(self) -> bool: ...  # noqa: D102

    def variables(self) -> dict[str, Any]:
        """Return the variables of a template."""


class Wording(Protocol):
    """The prompts of a cell."""

    @property
    def place(self) -> str:
        """Place of the wording, for messages: where the user corrects it."""

    def digest(self, first: Shown) -> str:
        """Return the SHA-256 of everything that could change a prompt; `first` is the first trial of the cell."""

    def messages(self, turn: str, shown: Shown) -> tuple[Message, ...]:
        """Return the messages of a turn; a `TemplateError` if it has none."""

    def prefill(self, shown: Shown) -> str:
        """Return the beginning of the reply, empty for none."""
