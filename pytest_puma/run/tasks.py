"""The tasks of a cell: its samples, each with all that a strategy needs for the conversation about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_puma.core import Sample, UnchangedError
from pytest_puma.perturbations import perturb
from pytest_puma.run.cell import Cell
from pytest_puma.scenarios.gold import hidden_fields
from pytest_puma.scenarios.sampling import draw, example_rows
from pytest_puma.scenarios.texts import text_fields
from pytest_puma.strategies import Task
from pytest_puma.strategies.rehearsal import asks_alike
from pytest_puma.strategies.templates import Template, find_template


def template_of(cell: Cell, project: Path | None) -> Template:
    """The template of a cell; a `TemplateError` names the file to create."""
    return find_template(cell.scenario.template_folder or cell.scenario.name, cell.strategy.templates, project=project)


def rows_of(cell: Cell) -> tuple[tuple[Sample, ...], tuple[Mapping[str, object], ...]]:
    """The samples of a cell, and the examples in all its prompts; a `SettingsError` if there are too few of these."""
    samples = draw(cell.scenario, cell.samples, cell.seed)
    shots = cell.strategy.shots
    if not shots:
        return samples, ()
    return samples, example_rows(cell.scenario, shots, cell.seed, {sample.id for sample in samples})


def tasks_of(cell: Cell, project: Path | None) -> list[Task]:
    """One task for each sample, in the order of the draw; the examples are never perturbed."""
    template = template_of(cell, project)
    samples, examples = rows_of(cell)
    hidden = hidden_fields(cell.scenario, samples)
    if cell.perturbation is not None:
        texts = text_fields(cell.scenario, samples, hidden)
        samples = tuple(perturb(cell.scenario, sample, cell.perturbation, cell.seed, texts) for sample in samples)
    return [
        Task(
            scenario=cell.scenario,
            sample=sample,
            template=template,
            examples=examples,
            hidden=hidden,
            generation=cell.generation,
            seed=cell.seed,
        )
        for sample in samples
    ]


def check_changed(cell: Cell, tasks: Sequence[Task], project: Path | None) -> None:
    """Refuse a perturbation of something that the prompts do not show: its answers would mean nothing."""
    if cell.perturbation is None:
        return
    twins = tasks_of(replace(cell, perturbation=None), project)
    if asks_alike(cell.strategy, zip(tasks, twins, strict=True)):
        name = cell.perturbation.name
        msg = f"{cell.id}: {name} changed no prompt, so the model was not asked the same {len(tasks)} again"
        raise UnchangedError(msg)
