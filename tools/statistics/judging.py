"""`python -m tools.statistics.judging`: how long it takes to measure and judge cells, on one core.

100 cells of 1,000 samples, with all measures, their intervals, a gate on the baseline and all paired tests each; then
single cells of 10,000 samples. Run it with OMP_NUM_THREADS=1 on a machine that does nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from pytest_puma.core import Policy, Prediction, Scenario
from pytest_puma.gates import judge_change, parse_gate
from pytest_puma.metrics import ScoredPredictions, contrast
from pytest_puma.scenarios import BUILTIN

GATES = {"triage_jira": "f1_macro >= baseline - 0.02", "estimation_tawos": "mae <= baseline * 1.05"}
CELLS, SAMPLES, MANY = 100, 1000, 10_000


def main() -> None:
    """Measure and print."""
    names = list(GATES)
    whole = sum(_seconds(names[number % len(names)], SAMPLES, seed=number) for number in range(CELLS))
    print(f"{CELLS} cells of {SAMPLES:,} samples: {whole:.1f} s")
    for name in names:
        print(f"{name}, one cell of {MANY:,} samples: {_seconds(name, MANY, seed=1):.2f} s")


def _seconds(name: str, n: int, *, seed: int) -> float:
    """To measure and judge one cell."""
    scenario, random = BUILTIN[name](), np.random.default_rng(seed)
    gold, *answers = random.choice(scenario.valid_labels(), (3, n)).tolist()
    new, old = (_predictions(scenario, gold, said) for said in answers)
    before = {prediction.sample_id: prediction for prediction in old}
    gate = parse_gate(GATES[name])
    started = time.perf_counter()
    answers = ScoredPredictions(scenario, new, seed=seed)
    answers.measures()
    pairs = answers.beside(before)
    change, drawn = pairs.change(gate.metric, quotient=gate.quotient), pairs.replicates(gate.metric)
    if change is not None and drawn is not None:
        judge_change(gate, change, "the baseline", Policy())
        contrast("new", "old", *drawn, seed=seed)
    return time.perf_counter() - started


def _predictions(scenario: Scenario, gold: Sequence[str], said: Sequence[str]) -> list[Prediction]:
    """With probabilities that are sure of the answer."""
    sure = {answer: {label: float(label == answer) for label in scenario.valid_labels()} for answer in set(said)}
    return [
        Prediction(sample_id=str(row), gold=right, answer=answer, probabilities=sure[answer], units=(str(row),))
        for row, (right, answer) in enumerate(zip(gold, said, strict=True))
    ]


if __name__ == "__main__":
    main()
