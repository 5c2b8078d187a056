"""The interface between conversations and whatever answers them: an engine that computes, or one that only reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_puma.core.conversation import Request, Response, Speed
from pytest_puma.core.origin import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The source of the answers of a cell.

    `signature`: everything that could change the answers. `notes`: sentences about the model; `warnings`: about the
    answers. `unmeasured`: metrics that these answers cannot have, each with the reason as a sentence.
    """

    signature: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unmeasured: Mapping[str, str] = field(default_factory=dict)


class Responder(Protocol):
    """Requests in, responses out. `speed` sums what was computed since the last `reset`."""

    @property
    def speed(self) -> Speed:
        """Computed tokens and their time."""

    def submit_all(self, requests: Sequence[Request], origins: Sequence[Origin] = ()) -> list[int]:
        """Queue requests and return a ticket for each. `origins`, one for each, matter to a responder that reads."""

    def step(self) -> dict[int, Response]:
        """Return some responses by ticket."""

    def reset(self) -> None:
        """Forget all requests: the next ones belong to another cell."""

    def provenance(self, cell: str, signature: Mapping[str, Any]) -> Provenance:
        """Return the source of the responses since the last reset.

        `signature`: everything about the cell that could change its answers, except for the responder.
        """

    def close(self) -> None:
        """Free the resources."""
