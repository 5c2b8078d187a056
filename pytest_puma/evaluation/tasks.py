"""The tasks of a cell: its samples, each trial with all that a strategy needs for the conversation about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from random import Random
from typing import TypeAlias

from pytest_puma.core import DataError, NotRunError, PumaError, Sample, SettingsError, Trial
from pytest_puma.datasets.fields import hidden_fields, text_fields
from pytest_puma.datasets.order import rank
from pytest_puma.datasets.sampling import Group, draw, examples_by_group
from pytest_puma.evaluation.cell import DEFAULT_SEED, Cell
from pytest_puma.perturbations import perturb
from pytest_puma.strategies import Task, is_built_in
from pytest_puma.strategies.composed import Composed
from pytest_puma.strategies.rehearsal import same_prompts
from pytest_puma.strategies.task import RenderedTurn, Wording
from pytest_puma.strategies.templates import find_template, template_path

#: The end of a reply in plain text, where examples are separated by blank lines.
_BLANK_LINE = ("\n\n",)
#: The samples of a cell, and the examples in the prompts of each group.
Rows: TypeAlias = tuple[tuple[Sample, ...], Mapping[Group, Sequence[Mapping[str, object]]]]


def wording_of(cell: Cell, project: Path | None) -> Wording:
    """The template of a cell, else the methods of its scenario; a `TemplateError` names the file to create."""
    scenario, strategy = cell.scenario, cell.strategy
    folder = scenario.template_folder or scenario.name
    template = template_path(folder, strategy.templates, project=project)
    if template is None and strategy.composes and scenario.composes:
        return Composed(scenario=scenario, cloze=strategy.cloze, texts=strategy.texts, reasoning=strategy.final_line)
    can_compose = scenario.composes and not is_built_in(strategy.name)
    advice = ", with a block against: the question without what it is about" if "guidance" in strategy.needs else ""
    if can_compose:
        advice += f", or give {strategy.name} composes=True: methods of the scenario then make its prompts"
    return find_template(folder, strategy.templates, project=project, strategy=strategy.name, advice=advice)


def rows_of(cell: Cell) -> Rows:
    """The rows of a cell; a `SettingsError` if there are too few examples."""
    samples = draw(cell.scenario, cell.samples, cell.seed, cell.subjects)
    shared = cell.strategy.shots and any(_picked(cell, sample) is None for sample in samples)
    return samples, examples_by_group(cell.scenario, cell.strategy.shots, cell.seed, samples) if shared else {}


def tasks_of(cell: Cell, project: Path | None) -> list[Task]:
    """One task for each trial of each sample, in the order of the draw."""
    return tasks_on(cell, rows_of(cell), project)


def tasks_on(cell: Cell, rows: Rows, project: Path | None) -> list[Task]:
    """The tasks of a cell on rows that may have more examples than it needs; these are never perturbed."""
    wording = wording_of(cell, project)
    samples, examples = rows
    hidden = hidden_fields(cell.scenario, samples)
    own = _own_examples(cell, samples)
    if cell.perturbation is not None:
        texts = text_fields(cell.scenario, samples, hidden)
        samples = tuple(perturb(cell.scenario, sample, cell.perturbation, cell.seed, texts) for sample in samples)
    blank = () if cell.model.options.chat or cell.strategy.final_line else _BLANK_LINE
    needs = frozenset(need for metric in cell.scores for need in metric.needs)
    last_turn = RenderedTurn()
    tasks = (
        Task(
            scenario=cell.scenario,
            sample=sample,
            wording=wording,
            examples=own[sample.id] if own else _examples(cell, sample, examples),
            hidden=hidden,
            generation=cell.generation,
            seed=cell.seed,
            chat=cell.model.options.chat,
            stop=cell.scenario.stops(dict(sample.fields)) or blank,
            needs=needs,
            retries=cell.retries,
            prompt_suffix=cell.prompt_suffix,
            last_turn=last_turn,
        )
        for sample in samples
    )
    return [trial for task in tasks for trial in _trials(cell, task)]


def wording_digest(cell: Cell, tasks: Sequence[Task], project: Path | None) -> str:
    """Return the digest of the wording: of composed prompts, that of the first one with the default seed.

    The first row of another seed has another prompt, though the wording is the same.
    """
    first = tasks[0]
    if cell.seed != DEFAULT_SEED and isinstance(first.wording, Composed):
        # A fault of rows that this cell does not draw must not fail it; then the digest depends on the seed.
        with suppress(PumaError):
            task = tasks_of(replace(cell, seed=DEFAULT_SEED), project)[0]
            return task.wording.digest(task)
    return first.wording.digest(first)


def _own_examples(cell: Cell, samples: Sequence[Sample]) -> Mapping[str, Sequence[Mapping[str, object]]]:
    """The examples that the strategy chooses for each sample by its id; none if all samples of a group share them."""
    if not cell.strategy.choice:
        return {}
    from pytest_puma.datasets.similar import similar_examples

    diverse = cell.strategy.choice == "diverse"
    return similar_examples(cell.scenario, cell.strategy.shots, cell.seed, samples, diverse=diverse)


def _examples(
    cell: Cell, sample: Sample, examples: Mapping[Group, Sequence[Mapping[str, object]]]
) -> Sequence[Mapping[str, object]]:
    """The examples in the prompt of a sample: those that the scenario picks for it, else those of its group."""
    picked = _picked(cell, sample) if cell.strategy.shots else ()
    return examples[sample.group][: cell.strategy.shots] if picked is None else picked


def _picked(cell: Cell, sample: Sample) -> Sequence[Mapping[str, object]] | None:
    """The examples that the scenario picks for a sample; None if it takes those of the group."""
    scenario, k = cell.scenario, cell.strategy.shots
    random = Random(rank(cell.seed, "examples", sample.id))  # noqa: S311 - no secret
    picked = scenario.pick_examples(dict(sample.fields), k, random)
    if picked is None:
        return None
    if len(picked) != k or not all(isinstance(row, Mapping) for row in picked):
        msg = (
            f"scenario {scenario.name!r}, row {sample.id}: pick_examples() returned {len(picked)} examples; "
            f"expected {k} rows as dictionaries"
        )
        raise DataError(msg)
    return picked


def _trials(cell: Cell, task: Task) -> Iterator[Task]:
    """The trials of a sample, one task each; a `SettingsError` if the scenario does not number them from 0.

    A prompt that does not show the choices has no other orders.
    """
    trials = [Trial()] if cell.strategy.cloze else list(cell.scenario.trials(task.sample, cell.seed, cell.repeats))
    if trials == [task.trial]:
        return iter([task])
    indices = [trial.index for trial in trials]
    if not trials or indices != list(range(len(trials))):
        msg = (
            f"scenario {cell.scenario.name!r}: trials() of sample {task.sample.id!r} has the indices {indices}; "
            "expected 0, 1, 2 and so on"
        )
        raise SettingsError(msg)
    return (task if trial == task.trial else replace(task, trial=trial) for trial in trials)


def by_sample(tasks: Sequence[Task]) -> list[list[Task]]:
    """The trials of each sample, in the order of the tasks."""
    return [list(trials) for _, trials in groupby(tasks, key=lambda task: task.sample.id)]


def check_changed(cell: Cell, tasks: Sequence[Task], project: Path | None) -> None:
    """Refuse a perturbation of something that the prompts do not show: its answers would mean nothing."""
    if cell.perturbation is None:
        return
    twins = tasks_of(replace(cell, perturbation=None), project)
    if same_prompts(cell.strategy, zip(tasks, twins, strict=True)):
        name, samples = cell.perturbation.name, len(by_sample(tasks))
        msg = f"{cell.id}: {name} changed no prompt, so the model was not asked the same {samples} again"
        raise NotRunError(msg)
