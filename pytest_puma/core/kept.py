"""The share of a cell's answers that came from the response store."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Number of responses of a cell, and how many of them were `kept` by the runs named in `runs`.

    `together`: all kept responses of each batch were computed in that batch, so that they are those of one
    uninterrupted run.
    """

    responses: int
    kept: int
    together: bool
    runs: tuple[str, ...]

    @property
    def mixed(self) -> bool:
        """Whether kept and new responses, or kept ones of several batches, are together: near-ties may differ."""
        return self.kept > 0 and not self.together

    def __str__(self) -> str:
        """The sentence of reports."""
        runs = f"run {self.runs[0]}" if len(self.runs) == 1 else f"run {self.runs[0]} and {len(self.runs) - 1} more"
        if self.kept == self.responses:
            return f"all {self.kept:,} answers kept from {runs}{', of several batches' if self.mixed else ''}"
        return f"{self.kept:,} of {self.responses:,} answers kept from {runs}; the rest computed without them"
