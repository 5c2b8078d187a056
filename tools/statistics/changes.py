"""Catalogue of changed runs for the simulation of gates: puma-tiny under other prompts, other texts, other weights.

A run has a kind: `wording` (the same content in other words), `prompt` (other content, or less), `text` (a perturbation
of the samples), `weights` (noise, or a coarser quantisation), or `temperature` (all logits times a factor).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize

from tools.statistics.changed_run import ChangedRun, Values
from tools.statistics.wordings import changed_prompts

_PERTURBATIONS = (
    "typos_2pct",
    "typos_5pct",
    "typos_10pct",
    "typos_20pct",
    "case_upper",
    "case_lower",
    "random_case",
    "truncate_10pct",
    "truncate_25pct",
    "truncate_50pct",
    "truncate_middle_25pct",
    "truncate_middle_50pct",
    "tech_noise",
    "register_shift_informal",
    "editor_5pct",
    "editor_10pct",
    "permute_3pct",
    "permute_10pct",
)
_NOISE = (0.05, 0.2, 0.3, 0.4, 0.5, 0.6)
_KINDS = ("Q4_0", "Q5_0")
_FACTORS = (0.5, 0.7, 1.4, 2.0)


def changes(scenario: str) -> list[ChangedRun]:
    """Return all runs of a scenario with one change each; for pairs, which take longer, only a few wordings."""
    runs = [*changed_prompts(scenario), *_texts(), *_weights(), *_temperatures()]
    return runs if scenario == "triage_jira" else runs[:12:2]


def _texts() -> Iterator[ChangedRun]:
    for name in _PERTURBATIONS:
        yield ChangedRun(name=name, kind="text", perturbation=name)


def _weights() -> Iterator[ChangedRun]:
    for number, sigma in enumerate(_NOISE):
        for seed in (1, 2):
            yield ChangedRun(name=f"noise {sigma} {seed}", kind="weights", weights=_noise(sigma, 10 * number + seed))
    for name in _KINDS:
        yield ChangedRun(name=name, kind="weights", weights=_coarser(GGMLQuantizationType[name]))


def _temperatures() -> Iterator[ChangedRun]:
    """Runs with scaled logits: the last norm is multiplied by a factor."""
    for factor in _FACTORS:

        def scaled(name: str, values: Values, factor: float = factor) -> Values:
            return values * np.float32(factor) if name == "output_norm.weight" else values

        yield ChangedRun(name=f"logits times {factor}", kind="temperature", weights=scaled)


def _noise(sigma: float, seed: int) -> Callable[[str, Values], Values]:
    def noisy(name: str, values: Values) -> Values:
        random = np.random.default_rng([seed, *name.encode()])
        noise = random.normal(0, sigma * float(values.std()), values.shape).astype(np.float32)
        return values + noise if values.ndim > 1 else values

    return noisy


def _coarser(kind: GGMLQuantizationType) -> Callable[[str, Values], Values]:
    return lambda _, values: dequantize(quantize(values, kind), kind) if values.ndim > 1 else values
