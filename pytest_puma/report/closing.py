"""The last lines on the gates of a run: undecided gates, false alarms by chance, and power."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_puma.core import Power, Run, Tally
from pytest_puma.core.power import bounded_above, percent


def closing(run: Run) -> list[str]:
    """Return the lines; none if no gate was judged."""
    counts = run.tally
    return [*_undecided(counts), *_false_alarms(counts), *power_lines(_powers(run))]


def _undecided(counts: Tally) -> list[str]:
    if not counts.undecided:
        return []
    return [f"{counts.undecided} of {counts.judged} gates could not decide"]


def _false_alarms(counts: Tally) -> list[str]:
    """Report the false alarm rate of gates on a change; a limit on a number is no statistical test."""
    if not counts.on_change:
        return []
    if counts.on_change == 1:
        at_most = bounded_above(counts.at_most)
        return [f"false alarms: if nothing got worse, the gate on a change FAILs in at most {at_most} of runs"]
    sentence = (
        f"false alarms: if nothing got worse, at least one of the {counts.on_change} gates on a change FAILs in about "
        f"{percent(counts.false_alarm)} of runs if they are independent, and in at most {bounded_above(counts.at_most)}"
    )
    return [sentence]


def _powers(run: Run) -> Iterator[tuple[str, Power]]:
    for outcome in run.outcomes:
        for verdict in outcome.verdicts:
            if verdict.power is not None:
                yield str(verdict.gate), verdict.power


def power_lines(powers: Iterable[tuple[str, Power]]) -> list[str]:
    """Return a line for each gate text and loss, from the cell with the lowest power."""
    alike: dict[tuple[str, str], list[Power]] = {}
    for gate, power in powers:
        alike.setdefault((gate, power.lost), []).append(power)
    return [f"power: {gate}: {_weakest(each)}" for (gate, _), each in alike.items()]


def _weakest(powers: Sequence[Power]) -> str:
    weakest = min(powers, key=lambda each: each.caught)
    return f"{weakest}{f', in the weakest of {len(powers)} cells' if len(powers) > 1 else ''}"
