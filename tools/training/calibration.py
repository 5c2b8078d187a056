"""Calibration: one temperature for all logits of the model, fitted on the selection set (Guo et al. 2017).

It changes no answer. The odds in training are those of a reader with the accuracy of an early model.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from pytest_puma.core import Sample, Scenario
from pytest_puma.datasets.sampling import draw
from pytest_puma.scenarios import EstimationTawosScenario, PrioritizationJiraScenario, TriageJiraScenario
from tools.training import SELECTION
from tools.training.dialogues import answered
from tools.training.model import Decoder
from tools.training.tokens import encode

#: Maximum number of questions of each scenario.
SAMPLES = 200
TEMPERATURES = np.arange(0.25, 2.00, 0.01)


def calibrate(model: Decoder, tokenizer: Tokenizer) -> float:
    """Divide the model's logits by a temperature, which is returned.

    Each scenario has a temperature with the minimum loss of its right answers. The highest of these is used, so that
    the model is overconfident in none.
    """
    scenarios: tuple[Scenario, ...] = (
        TriageJiraScenario(SELECTION / "issues.csv"),
        PrioritizationJiraScenario(SELECTION / "issues.csv"),
        EstimationTawosScenario(SELECTION / "backlog.csv"),
    )
    temperature = max(_best(model, tokenizer, scenario) for scenario in scenarios)
    with torch.no_grad():
        # The logits are products with the output of the last norm.
        model.norm.weight.div_(temperature)
    return temperature


def _best(model: Decoder, tokenizer: Tokenizer, scenario: Scenario) -> float:
    answers = [choices(model, tokenizer, scenario, sample) for sample in draw(scenario, SAMPLES, 42)]
    return float(min(TEMPERATURES, key=lambda each: fmean(surprise(answer, each) for answer in answers)))


@torch.no_grad()
def choices(model: Decoder, tokenizer: Tokenizer, scenario: Scenario, sample: Sample) -> list[Tensor]:
    """Return the logits of all tokens that continue a label, at each token of the right answer, which is first."""
    example = encode(answered(scenario, sample), tokenizer)
    logits = model.logits(torch.from_numpy(example.tokens[None].astype(np.int64)))[0]
    rows = []
    for place, candidates, chances in zip(example.places, example.candidates, example.chances, strict=True):
        right = int(example.tokens[place + 1])
        others = [token for token in candidates[chances > 0].tolist() if token != right]
        rows.append(logits[place, [right, *others]])
    return rows


def surprise(rows: Sequence[Tensor], temperature: float) -> float:
    """Return the loss of the right answer among all labels, in nats; `rows` as `choices` returns them."""
    return -sum(float((row / temperature).log_softmax(-1)[0]) for row in rows)
