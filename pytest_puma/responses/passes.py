"""The responses of a cell so far, kept and computed ones, pass by pass; `keeping` defines a pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pytest_puma.core import Kept, Prompt
from pytest_puma.responses.database import Scope
from pytest_puma.responses.row import KeptResponse


@dataclass(slots=True)
class Pass:
    """`replayed`: all responses, if none is to be computed. `counts`: the equal requests so far."""

    ideal: bytes
    actual: bytes
    base: Prompt
    replayed: Mapping[bytes, KeptResponse] | None = None
    counts: Counter[bytes] = field(default_factory=Counter)
    #: The companies of its kept responses.
    companies: set[bytes] = field(default_factory=set)
    #: Number of responses.
    computed: int = 0
    kept: int = 0


@dataclass(slots=True)
class Passes:
    """The passes of a cell. `scope`: its place in the store, None if there is no store.

    `runs`: those that its kept responses come from; `otherwise`: the number of computed responses that differ from kept
    ones of the same company.
    """

    scope: Scope | None = None
    current: Pass | None = None
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

    def take(self, kept: KeptResponse, current: Pass) -> None:
        """Count a kept response."""
        current.kept += 1
        current.companies.add(kept.company)
        self._responses += 1
        self._kept += 1
        self._runs.add(kept.run)
        self._together &= kept.company == current.ideal
        self._batches = max(self._batches, len(current.companies))

    def compute(self, responses: int, current: Pass) -> None:
        """Count computed responses."""
        current.computed += responses
        self._responses += responses
        self._together &= current.actual == current.ideal

    @property
    def kept(self) -> Kept | None:
        """The share of kept responses, None if there are none."""
        if not self._kept:
            return None
        return Kept(
            responses=self._responses,
            kept=self._kept,
            together=self._together,
            batches=self._batches,
            runs=newest_first(self._runs),
        )


def newest_first(runs: Iterable[tuple[int, str]]) -> tuple[str, ...]:
    """Return the names of runs."""
    return tuple(name for _, name in sorted(runs, reverse=True))
