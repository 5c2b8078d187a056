"""The commands for a failed cell, as a reader of the report types them."""

from __future__ import annotations

from pytest_puma.core import Gate, Outcome, Run
from pytest_puma.phrases import counted, named

_BASELINE = "baseline"
#: Maximum number of cells, and of gates, in the lines of a terminal.
_SHOWN = 3


def commands(run: Run, outcome: Outcome) -> dict[str, str]:
    """Return the command that measures a cell again, and the one that accepts its answers as the baseline.

    They are called `reproduce` and `accept`; the second one is there if a gate on the baseline fails the cell.
    """
    command = run.invocation.repeat(outcome.execution.node_id)
    of_baseline = any(_is_on_baseline(verdict.gate) for verdict in outcome.failed)
    accept = {"accept": f"{command} --puma-update-baseline"} if of_baseline else {}
    return {"reproduce": command, **accept}


def commands_of(run: Run, cell: str) -> dict[str, str]:
    """Return the commands for a cell by its id; one that ended in an error can be measured again."""
    for outcome in run.outcomes:
        if outcome.cell == cell and outcome.execution.node_id:
            return commands(run, outcome)
    node_id = next((fault.node_id for fault in run.faults if fault.cell == cell), "")
    return {"reproduce": run.invocation.repeat(node_id)} if node_id else {}


def steps(run: Run) -> list[str]:
    """Return lines for a terminal: the commands for the first cells that missed a gate, and where to change gates.

    reproduce: pytest 'test_triage.py::test_triage[triage_jira-zero_shot@q]' --puma-model=q.gguf
    accept: change the gate where it is written (marker, run-spec, --puma-gate or ini file): f1_macro >= 0.9
    """
    failed = [outcome for outcome in run.outcomes if outcome.failed]
    lines = [f"{name}: {text}" for outcome in failed[:_SHOWN] for name, text in commands(run, outcome).items()]
    if more := len(failed[_SHOWN:]):
        lines.append(f"reproduce: {counted(more, 'more cell')} missed a gate; the lines FAILED have their ids")
    gates = (verdict.gate for outcome in failed for verdict in outcome.failed)
    if fixed := dict.fromkeys(str(gate) for gate in gates if not _is_on_baseline(gate)):
        where = "where it is written (marker, run-spec, --puma-gate or ini file)"
        lines.append(f"accept: change the gate {where}: {named(fixed, _SHOWN)}")
    return lines


def _is_on_baseline(gate: Gate) -> bool:
    """Whether new answers are accepted by a new baseline."""
    return bool(gate.word) or gate.other == _BASELINE
