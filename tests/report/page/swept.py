"""A run of variants on several scenarios, by the numbers of their right answers."""

from __future__ import annotations

from pytest_puma.analysis.front import fronts
from pytest_puma.analysis.robustness import variant_shifts
from pytest_puma.core import Run
from tests.factories import LABELS, Triage, computed_outcome, predictions, run

GOLDS = [LABELS[row % 4] for row in range(40)]


def swept(**rights: tuple[int, ...]) -> Run:
    """A run of several scenarios: right answers by variant."""
    outcomes = [
        computed_outcome(
            f"task_{place}-zero_shot@q{'' if name == 'plain' else f'+{name}'}",
            Triage(),
            predictions(GOLDS, [*GOLDS[:count], *(None for _ in GOLDS[count:])]),
        )
        for name, counts in rights.items()
        for place, count in enumerate(counts)
    ]
    outcomes = [outcome for place in range(3) for outcome in outcomes if outcome.name.scenario == f"task_{place}"]
    return run(*outcomes, variants=variant_shifts(outcomes), fronts=fronts(outcomes))


def sweep() -> Run:
    """A control that helps in one scenario, and does harm in another one at twice the strength."""
    return swept(plain=(20, 30, 30), **{"loud-1": (38, 30, 29), "loud-2": (39, 4, 30)})
