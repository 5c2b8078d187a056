"""The comparisons of a cell with its stored baseline and with naive baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_puma.analysis import cautions
from pytest_puma.analysis.naive_baselines import NaiveBaseline, NaiveBaselines
from pytest_puma.analysis.verdicts import Comparison
from pytest_puma.baseline.entry import SUBJECTS, Entry
from pytest_puma.core import Contrast, Flip, Verdict
from pytest_puma.core.gate import DRIFT
from pytest_puma.datasets.fields import beginning
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.predict import CellPredictions
from pytest_puma.metrics import ScoredPredictions, contrast


def find_naive_baselines(
    cell: Cell,
    answered: CellPredictions,
    scored: ScoredPredictions,
    naive_baselines: NaiveBaselines | None,
    shown: Sequence[str],
) -> Mapping[str, NaiveBaseline]:
    """Return the naive baselines of a cell by name, with these metrics; none without `naive_baselines`."""
    if naive_baselines is None:
        return {}
    return naive_baselines.find(
        cell.scenario, answered.samples, scored.resamples, cell.name.perturbation, metrics=cell.scores, only=shown
    )


def against_naive_baselines(
    cell: Cell, scored: ScoredPredictions, naive: Mapping[str, NaiveBaseline]
) -> dict[str, Comparison]:
    """Return the comparisons with those naive baselines that the cell's gates name."""
    named = {gate.naive for gate in cell.gates}
    return {
        f"naive.{name}": Comparison.to_naive_baseline(scored, f"naive.{name}", each)
        for name, each in naive.items()
        if name in named
    }


def against_baseline(
    cell: Cell, answered: CellPredictions, scored: ScoredPredictions, baseline: Entry | None, level: float
) -> Comparison | None:
    """Return the comparison of a cell with its stored baseline; None without one."""
    if baseline is None:
        return None
    watched = any(gate.word == DRIFT for gate in cell.gates)
    return Comparison.to_baseline(scored, answered.signature, baseline, level=level, watched=watched)


def cautions_on_baseline(
    cell: Cell, answered: CellPredictions, baseline: Comparison | None, verdicts: Sequence[Verdict]
) -> list[str]:
    """Return the sentences on the samples that only the cell or only its baseline has, and on data that changed."""
    if baseline is None:
        return []
    samples = len(answered.samples)
    unasked = 0 if _is_narrower(cell, answered, baseline) else baseline.unasked
    changed = [cautions.on_changed_data(baseline.name)] if baseline.hides_changed_data(verdicts) else []
    return changed + cautions.on_baseline(baseline.name, lacking=baseline.lacking, unasked=unasked, samples=samples)


def _is_narrower(cell: Cell, answered: CellPredictions, baseline: Comparison) -> bool:
    """Whether fewer samples were requested than the data and the baseline have."""
    samples = len(answered.samples)
    if not answered.complete or samples < answered.planned or SUBJECTS in baseline.changed:
        return True
    every = cell.every or answered.planned < cell.samples
    return not every and cell.samples < samples - baseline.lacking + baseline.unasked


def contrasts_with(cell: Cell, baseline: Comparison) -> tuple[Contrast, ...]:
    """Return the contrasts with the baseline of the metrics to compare."""
    pairs = (baseline.pairs.replicates(metric) for metric in cell.compared_metrics)
    return tuple(contrast(cell.id, baseline.name, *pair, seed=cell.seed) for pair in pairs if pair is not None)


def flips_since(
    cell: Cell, answered: CellPredictions, baseline: Comparison | None, texts: Sequence[str]
) -> tuple[Flip, ...]:
    """Return the flips since the baseline, with the texts of their samples if an id means nothing to people."""
    flips = () if baseline is None else baseline.pairs.flips()
    if cell.scenario.key is not None:
        return flips
    shown = {sample.id: beginning(sample, texts) for sample in answered.samples}
    return tuple(replace(flip, text=shown[flip.sample_id]) for flip in flips)
