"""The share of a cell's answers that came from the response store."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_puma.phrases import named


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreShare:
    """Number of responses of a cell, and how many of them were `kept` by the runs named in `runs`.

    `together`: all kept responses of each batch were computed in that batch, so that they are those of one
    uninterrupted run. `batches`: the maximum number of batches that the kept responses of one batch were computed in;
    0 in records of earlier versions.
    """

    responses: int
    kept: int
    together: bool
    batches: int = 0
    runs: tuple[str, ...]

    @property
    def mixed(self) -> bool:
        """Whether responses of several batches, or of another one, are together: near-ties may differ."""
        return self.kept > 0 and not self.together

    def __str__(self) -> str:
        """The sentence of reports."""
        runs = f"run {named(self.runs, 1)}"
        if self.kept == self.responses:
            where = f", computed in {'another batch' if self.batches == 1 else 'several batches'}" if self.mixed else ""
            answers = "the only answer" if self.kept == 1 else f"all {self.kept:,} answers"
            return f"{answers} kept from {runs}{where}"
        return f"{self.kept:,} of {self.responses:,} answers kept from {runs}; the rest computed without them"
