"""A whole pytest run, as reporters receive it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_puma.core.contrast import Contrast
from pytest_puma.core.outcome import Outcome
from pytest_puma.core.robustness import Robustness
from pytest_puma.core.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A test of a cell that ended in an error, or failed by something else than a missed gate.

    `when` is pytest's phase: `setup`, `call` (its body failed) or `teardown`, and `crash` where its process ended;
    `message` is the first line of the error.
    """

    cell: str
    node_id: str
    when: str
    message: str

    @property
    def error(self) -> bool:
        """Whether pytest calls it an error, and not a failed test."""
        return self.when != "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a reporter receives: every outcome of a pytest run, without its predictions, and where it ran.

    Predictions lie in the run folder: those of a long run would fill the memory.
    `verdicts` are those of gates that no cell could take; `problems` are sentences that make the run
    fail although no single cell does; `faults` are the tests that ended in an error, or whose body failed.
    `robustness` is there for each cell that has perturbed twins, `contrasts`
    where cells were to be compared. `unchanged` are sentences on perturbed cells that were not run, as their prompts
    are those of the cell without the perturbation.
    """

    id: str
    started: str
    environment: Mapping[str, str]
    outcomes: tuple[Outcome, ...]
    verdicts: tuple[Verdict, ...] = ()
    problems: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    robustness: tuple[Robustness, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    unchanged: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of the models: each sentence once a model, not once a cell."""
        notes = (f"{outcome.model}: {note}" for outcome in self.outcomes for note in outcome.notes)
        return tuple(dict.fromkeys(notes))
