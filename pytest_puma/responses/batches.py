"""The responses of a cell so far, kept and computed ones, batch by batch; `keeping` defines a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from pytest_puma.core import Prompt, StoreShare
from pytest_puma.responses.database import Scope
from pytest_puma.responses.row import KeptResponse


@dataclass(slots=True)
class Batch:
    """`ideal`, `actual`: its keys; `base`: a prompt that the others resemble; `counts`: the equal requests so far."""

    ideal: bytes
    actual: bytes
    base: Prompt
    counts: Counter[bytes] = field(default_factory=Counter)
    #: The batches that its kept responses were computed in.
    batches: set[bytes] = field(default_factory=set)
    #: Number of responses.
    computed: int = 0
    kept: int = 0


@dataclass(slots=True)
class Batches:
    """The batches of a cell. `scope`: its place in the store, None if there is no store.

    `runs`: those that its kept responses come from; `otherwise`: the number of computed responses that differ from kept
    ones of the same batch.
    """

    scope: Scope | None = None
    current: Batch | None = None
    otherwise: int = 0
    _responses: int = 0
    _kept: int = 0
    _together: bool = True
    _batches: int = 0
    _runs: set[tuple[int, str]] = field(default_factory=set)

    @property
    def responses(self) -> int:
        """Number of responses, kept and computed."""
        return self._responses

    def take(self, kept: KeptResponse, current: Batch) -> None:
        """Count a kept response."""
        current.kept += 1
        current.batches.add(kept.batch)
        self._responses += 1
        self._kept += 1
        self._runs.add(kept.run)
        self._together &= kept.batch == current.ideal
        self._batches = max(self._batches, len(current.batches))

    def compute(self, responses: int, current: Batch) -> None:
        """Count computed responses."""
        current.computed += responses
        self._responses += responses
        self._together &= current.actual == current.ideal

    @property
    def kept(self) -> StoreShare | None:
        """The share of kept responses, None if there are none."""
        if not self._kept:
            return None
        return StoreShare(
            responses=self._responses,
            kept=self._kept,
            together=self._together,
            batches=self._batches,
            runs=newest_first(self._runs),
        )


def newest_first(runs: Iterable[tuple[int, str]]) -> tuple[str, ...]:
    """Return the names of runs."""
    return tuple(name for _, name in sorted(runs, reverse=True))
