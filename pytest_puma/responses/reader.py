"""The common part of responders that read their answers: nothing is computed, and all are ready at once."""

from __future__ import annotations

from pytest_puma.core import Response, Speed


class Reader:
    """A subclass puts responses into `_ready`, by ticket."""

    #: Nothing is computed.
    backend = None
    #: All responses are read, at once, so that nobody counts them.
    kept = 0

    def __init__(self) -> None:
        self._ready: dict[int, Response] = {}

    @property
    def speed(self) -> Speed:
        """Nothing is computed."""
        return Speed()

    def step(self) -> dict[int, Response]:
        """Return all responses."""
        ready, self._ready = self._ready, {}
        return ready

    def reset(self) -> None:
        """Forget the cell."""
        self._ready = {}

    def close(self) -> None:
        """Forget the cell."""
        self.reset()
