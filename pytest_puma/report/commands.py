"""The commands for a failed cell, as a reader of the report types them."""

from __future__ import annotations

from pytest_puma.core import Outcome, Run

_BASELINE = "baseline"


def commands(run: Run, outcome: Outcome) -> dict[str, str]:
    """Return the command that measures a cell again, and the one that accepts its answers as the baseline.

    They are called `reproduce` and `accept`; the second one is there if a gate on the baseline fails the cell.
    """
    command = run.invocation.repeat(outcome.execution.node_id)
    of_baseline = any(verdict.gate.word or verdict.gate.other == _BASELINE for verdict in outcome.failed)
    accept = {"accept": f"{command} --puma-update-baseline"} if of_baseline else {}
    return {"reproduce": command, **accept}


def commands_of(run: Run, cell: str) -> dict[str, str]:
    """Return the commands for a cell by its id; one that ended in an error can be measured again."""
    for outcome in run.outcomes:
        if outcome.cell == cell and outcome.execution.node_id:
            return commands(run, outcome)
    node_id = next((fault.node_id for fault in run.faults if fault.cell == cell), "")
    return {"reproduce": run.invocation.repeat(node_id)} if node_id else {}
