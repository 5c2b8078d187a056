"""The origin of a request: the conversation that it belongs to, and its place in it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_puma.core.sample import Sample
from pytest_puma.core.trial import Trial


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a request in a cell: a trial of a sample, and the `index` of the request in the conversation."""

    cell: str
    sample: Sample
    trial: Trial
    index: int = 0

    def at(self, index: int) -> Origin:
        """Return the origin of another request of the same conversation."""
        return Origin(self.cell, self.sample, self.trial, index)

    @property
    def name(self) -> str:
        """The sample for messages, with the number of the trial if it is not the first one."""
        trial = f", trial {self.trial.index + 1}" if self.trial.index else ""
        return f"sample {self.sample.id!r}{trial}"
