"""The interface between conversations and whatever answers them: an engine that computes, or one that only reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_puma.core.backend import Backend
from pytest_puma.core.conversation import Request, Response, Speed
from pytest_puma.core.kept import Kept
from pytest_puma.core.sample import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The source of the answers of a cell.

    `signature`: everything that could change the answers. `notes`: sentences about the model; `warnings`: about the
    answers. `unmeasured`: metrics that these answers cannot have, each with the reason as a sentence. `kept`: there if
    some answers come from the response store.
    """

    signature: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unmeasured: Mapping[str, str] = field(default_factory=dict)
    kept: Kept | None = None


class Responder(Protocol):
    """Requests in, responses out. `speed` sums what was computed since the last `begin`."""

    @property
    def backend(self) -> Backend | None:
        """The backend that computes; None if all responses are read."""

    @property
    def speed(self) -> Speed:
        """Computed tokens and their time."""

    @property
    def kept(self) -> int:
        """Number of responses since the last `begin` that come from the response store in place of the engine."""

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Forget all requests: the next ones belong to this cell.

        `signature`: everything about the cell that could change its answers, except for the responder.
        """

    def submit_all(self, requests: Sequence[Request], origins: Sequence[Origin] = ()) -> list[int]:
        """Queue requests and return a ticket for each. `origins`, one for each, matter to a responder that reads."""

    def step(self) -> dict[int, Response]:
        """Return some responses by ticket; none if no request is open.

        It is called until all are answered, and once more after the last answer, when nothing is open.
        """

    def provenance(self) -> Provenance:
        """Return the source of the responses of this cell."""

    def reset(self) -> None:
        """Forget all requests, and the cache of their prompts."""

    def close(self) -> None:
        """Free the resources."""
