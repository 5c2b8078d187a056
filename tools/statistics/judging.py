"""`python -m tools.statistics.judging`: time to measure and judge cells, on one core.

100 cells of 1,000 samples, each with all measures, their intervals, a gate on the baseline and all paired tests; then
single cells of 10,000 samples. Run it with OMP_NUM_THREADS=1 on an otherwise idle machine.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from pytest_puma.core import Policy, Prediction, Scenario
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import judge_change
from pytest_puma.metrics import ScoredPredictions, contrast, pair
from pytest_puma.scenarios import BUILTIN

GATES = {"triage_jira": "f1_macro >= baseline - 0.02", "estimation_tawos": "mae <= baseline * 1.05"}
CELLS, SAMPLES, LARGE_CELL = 100, 1000, 10_000


def main() -> None:
    """Measure and print."""
    names = list(GATES)
    whole = sum(_seconds(names[number % len(names)], SAMPLES, seed=number) for number in range(CELLS))
    print(f"{CELLS} cells of {SAMPLES:,} samples: {whole:.1f} s")
    for name in names:
        print(f"{name}, one cell of {LARGE_CELL:,} samples: {_seconds(name, LARGE_CELL, seed=1):.2f} s")


def _seconds(name: str, n: int, *, seed: int) -> float:
    """Seconds to measure and judge one cell."""
    scenario, random = BUILTIN[name](), np.random.default_rng(seed)
    gold, *answers = random.choice(scenario.valid_labels(), (3, n)).tolist()
    new, old = (_predictions(scenario, gold, each) for each in answers)
    before = {prediction.key: prediction for prediction in old}
    gate = parse_gate(GATES[name])
    started = time.perf_counter()
    answers = ScoredPredictions(scenario, new, seed=seed)
    answers.measures()
    pairs = pair(answers, before)
    change, replicates = pairs.change(gate.metric, quotient=gate.quotient), pairs.replicates(gate.metric)
    if change is not None and replicates is not None:
        judge_change(gate, change, "the baseline", Policy())
        contrast("new", "old", *replicates, seed=seed)
    return time.perf_counter() - started


def _predictions(scenario: Scenario, gold: Sequence[str], answers: Sequence[str]) -> list[Prediction]:
    """Predictions whose probability of the answer is 1."""
    one_hot = {answer: {label: float(label == answer) for label in scenario.valid_labels()} for answer in set(answers)}
    return [
        Prediction(sample_id=str(row), gold=right, answer=answer, probabilities=one_hot[answer], units=(str(row),))
        for row, (right, answer) in enumerate(zip(gold, answers, strict=True))
    ]


if __name__ == "__main__":
    main()
