"""The gates of a first benchmark, and the number of samples with which each can decide.

The gate on a naive baseline decides if the model has a lead that matters: 20 points of accuracy, or half of what is
left above the majority label if that is less; in a regression, a fifth of the error of the median.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_puma.cli.init.columns import Task
from pytest_puma.core.change import Spread
from pytest_puma.core.power import TARGET_POWER, percent, rounded_up
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import MIN_POWER
from pytest_puma.gates.power import Compared, detection_of
from pytest_puma.stats.power import detectable, power_of_changes, samples_needed

#: The lead over a naive baseline that matters: in accuracy, and as a share of an error.
LEAD, LEAD_SHARE = 0.2, 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedGate:
    """A gate, the number of samples that it `needed` to decide, and its purpose as half a sentence."""

    gate: str
    needed: float
    purpose: str

    def decides(self, samples: int) -> bool:
        """Whether this many samples are enough."""
        return samples >= self.needed

    def too_few(self, samples: int) -> str:
        """Return why the gate would not decide: `needs about 98 samples, and there are 40`."""
        needed = (
            "more samples than any file has" if math.isinf(self.needed) else f"about {rounded_up(self.needed)} samples"
        )
        return f"needs {needed}, and there are {samples:,}"


def proposed_gates(task: Task, golds: Sequence[str]) -> tuple[ProposedGate, ...]:
    """Return the gates for these right answers: on parse failures, on a naive baseline, and on a stored baseline."""
    of_task = _of_labels(golds) if task == "classification" else _of_numbers([float(gold) for gold in golds])
    gate, purpose, needed, compared = of_task
    samples = "no number of" if math.isinf(needed) else rounded_up(needed)
    decided = f"{purpose} passes in {percent(TARGET_POWER)} of runs with {samples} samples"
    detection = detection_of(parse_gate("no_regression"), compared)
    return (
        ProposedGate(gate="parse_failure_rate <= 0.05", needed=1, purpose="19 of 20 replies can be read"),
        ProposedGate(gate=gate, needed=needed, purpose=decided),
        ProposedGate(
            gate="no_regression",
            needed=detection.needed(detection.matters, power=MIN_POWER) if detection.known else math.inf,
            purpose="no worse than the stored baseline, once there is one: --puma-update-baseline",
        ),
    )


def _of_labels(golds: Sequence[str]) -> tuple[str, str, float, Compared]:
    """The gate on a naive baseline, the lead that it detects, the samples it needs, and the metric."""
    majority = Counter(golds).most_common(1)[0][1] / len(golds)
    lead = min(LEAD, (1 - majority) / 2)
    # A model that is right or wrong wherever the label is.
    better = majority + lead
    changed = better * (1 - majority) + (1 - better) * majority
    needed = samples_needed(lambda n: power_of_changes(n, loss=lead, changed=changed, rules=("exact", "interval")))
    purpose = f"better than always the most frequent label: a lead of {100 * lead:.3g} points"
    compared = Compared(metric="accuracy", n=len(golds), old=better, spread=Spread(n=len(golds), moved=0.0))
    return "accuracy > naive.majority", purpose, needed, compared


def _of_numbers(golds: Sequence[float]) -> tuple[str, str, float, Compared]:
    """The same for numbers."""
    compared = Compared.before(golds)
    # As in forecasts, the errors of two answers to all samples are taken to have a correlation of one half.
    error = math.sqrt(compared.spread.moved * compared.spread.size)
    needed = max(1.0, (detectable(error) / (LEAD_SHARE * compared.old)) ** 2) if compared.old else math.inf
    return "mae < naive.median", "better than always the median: an error that is a fifth smaller", needed, compared
