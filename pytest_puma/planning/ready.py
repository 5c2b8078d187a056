"""Check that cells can run: their rows, templates, prompts and baselines, before any model is loaded."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain
from typing import Any, TypeAlias

from pytest_puma.core import SANDBOX, DataError, Generation, PumaError, Sample, Scenario, SettingsError, TemplateError
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.tasks import rows_of, tasks_on
from pytest_puma.judges.agreement import AGREEMENT, check_labels, wanted_labels
from pytest_puma.metrics.library.repeated import trials_needed
from pytest_puma.planning.leaks import check_pairs
from pytest_puma.planning.settings import Settings
from pytest_puma.replies.answers import begins_with
from pytest_puma.replies.letters import lettered
from pytest_puma.strategies import Strategy, Task
from pytest_puma.strategies.composed import Composed
from pytest_puma.strategies.rehearsal import rehearse
from pytest_puma.strategies.retries import check_retries

#: Everything that decides the samples and prompts of a cell, by name.
Identity: TypeAlias = Mapping[str, object]
#: The first test that requests a cell, and the cell's identity, by its id.
Identities: TypeAlias = dict[str, tuple[str, Identity]]


def check_ready(cells: Sequence[Cell], settings: Settings, identities: Identities, *, test: str) -> None:
    """Refuse what would end a long run: unusable files, and a cell that another test requests with other data.

    `cells` are those of one spec, requested by `test`; they share their rows.
    """
    # Models share the templates, and all cells the rows: the longest examples include those of every other strategy.
    if cells:
        check_consent(cells, settings.request.run_code)
        samples, examples = rows_of(max(cells, key=lambda cell: cell.strategy.shots))
        check_same(cells, samples, identities, test=test)
        check_pairs(cells, samples)
        for cell in {cell.strategy.name: cell for cell in cells}.values():
            tasks = tasks_on(replace(cell, perturbation=None), (samples, examples), settings.project)
            rehearse(cell.strategy, tasks[0])
            check_prompts(cell.strategy, tasks)
            check_trials(cell, tasks)
            for task in tasks:
                check_retries(cell.strategy, task)
                if cell.strategy.check is not None:
                    cell.strategy.check(task)
        warn_of_spaces(tasks)
    for cell in cells:
        settings.judging.baseline_of(cell)
        check_labels(cell.judged, samples)
        for metric in cell.uncompared(samples):
            if settings.judging.needs_agreement or metric.name.endswith(AGREEMENT):
                why = "" if metric.name.endswith(AGREEMENT) else ", which the ini key puma_judge_agreement requires"
                msg = (
                    f"{cell.id}: a gate limits {metric.name}, and no sample has a label of people{why}; expected "
                    f"{wanted_labels(metric, samples)}"
                )
                raise SettingsError(msg)


def check_consent(cells: Sequence[Cell], run_code: str) -> None:
    """Refuse metrics that run programs without `--puma-run-code`, and on a system that cannot confine them."""
    metric = next((metric for cell in cells for metric in cell.scores if metric.asks == SANDBOX), None)
    if metric is None:
        return
    if run_code == "off":
        msg = (
            f"{cells[0].scenario.name}: metric {metric.name!r} runs programs that the model wrote; expected "
            "--puma-run-code, which runs them in a sandbox"
        )
        raise SettingsError(msg)
    from pytest_puma.sandbox.pool import check_possible

    check_possible(run_code)


def check_trials(cell: Cell, tasks: Sequence[Task]) -> None:
    """Refuse metrics of K trials if a sample has fewer."""
    trials = min(Counter(task.sample.id for task in tasks).values())
    for metric in cell.scores:
        if trials < (needed := trials_needed(metric)):
            msg = (
                f"{cell.id}: metric {metric.name!r} needs {needed} trials of each sample, and there are {trials}; "
                f"expected --puma-repeats {needed} or more, with a temperature above 0"
            )
            raise SettingsError(msg)


def check_same(cells: Sequence[Cell], samples: Sequence[Sample], identities: Identities, *, test: str) -> None:
    """Refuse two different cells with the same id: their numbers would be confused."""
    rows = _digest(samples)
    for cell in cells:
        identity = _identity(cell, rows)
        first, earlier = identities.setdefault(cell.id, (test, identity))
        differing = (name for name in identity if earlier[name] != identity[name])
        parts = [f"{name} {earlier[name]} there and {identity[name]} here" for name in differing]
        # Different rows follow from another difference that is already named.
        parts = parts[:-1] if len(parts) > 1 and parts[-1].startswith("rows") else parts
        if parts:
            msg = (
                f"{cell.id} is requested by {first} too, with different settings: {'; '.join(parts)}; "
                "make them equal, or give one of the scenarios a name of its own"
            )
            raise SettingsError(msg)


def _identity(cell: Cell, rows: str) -> Identity:
    kind, source = type(cell.scenario), cell.scenario.source()
    return {
        "class": kind,
        "samples": cell.samples,
        "repeats": cell.repeats,
        "retries": cell.retries,
        "prompt suffix": cell.prompt_suffix,
        "subjects": cell.subjects,
        "seed": cell.seed,
        **{field.name: getattr(cell.generation, field.name) for field in fields(Generation)},
        "data": None if source is None else f"{source.name} (SHA-256 {source.digest[:8]})",
        "judges": tuple(judge.name for judge in cell.judges),
        "templates": cell.scenario.template_folder or cell.scenario.name,
        "labels": tuple(cell.scenario.valid_labels()),
        "rows": rows,
    }


def _digest(samples: Sequence[Sample]) -> str:
    """Return a few digits that differ if the drawn rows differ."""
    values = ((sample.id, sample.gold, *chain.from_iterable(sorted(sample.fields.items()))) for sample in samples)
    # `repr` of a text takes as long as all the rest; a number is marked, so that it differs from its digits as a text.
    text = "\0".join(value if isinstance(value, str) else f"\1{value!r}" for row in values for value in row)
    return f"of digest {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def check_prompts(strategy: Strategy, tasks: Sequence[Task]) -> None:
    """Refuse rows that their methods cannot word, examples that are evaluated, and templates against the choices.

    `tasks` are those of a cell.
    """
    scenario = tasks[0].scenario
    if not scenario.composes:
        return
    if not isinstance(tasks[0].wording, Composed):
        _check_template(strategy, tasks[0])
        return
    samples = [task for task in tasks if not task.trial.index]
    for task in samples:
        _check_row(scenario, task)
    if samples[0].examples and scenario.declares_examples:
        _check_examples(scenario, samples)


def _check_row(scenario: Scenario, task: Task) -> None:
    sample, item = task.sample, dict(task.sample.fields)
    try:
        # All rows of a group share the examples, which the first prompt has shown to work.
        (replace(task, examples=()) if task.examples else task).prompt()
    except PumaError as error:
        raise _fault(scenario, sample.id, str(error)) from error
    cue = scenario.cue(item)
    for truth in sample.references:
        if begins_with(truth, cue):
            fault = (
                f"its truth {truth!r} begins with the cue {cue!r}, with which the reply already begins. No reply "
                "would equal it; return the truth without the cue"
            )
            raise _fault(scenario, sample.id, fault)


def warn_of_spaces(tasks: Sequence[Task]) -> None:
    """Warn of ground truths with white space around them, which no reply equals: that of a reply is stripped."""
    scenario = tasks[0].scenario
    if "exact_match" not in scenario.scores:
        return
    missed = {task.sample.id: truth for task in tasks for truth in task.sample.references if _is_missed(task, truth)}
    if missed:
        row, truth = next(iter(missed.items()))
        found = f"the truth {truth!r} of row {row} has white space around it, which replies lose"
        count = f" ({len(missed)} of {len({task.sample.id for task in tasks})} rows)"
        remedy = "return it stripped from truth(item)"
        msg = f"puma: scenario {scenario.name!r}: {found}, so that exact_match is always 0 there{count}; {remedy}"
        warnings.warn(msg, UserWarning, stacklevel=2)


def _is_missed(task: Task, truth: str) -> bool:
    """Whether the scenario reads another text in a reply that is the truth."""
    return truth != truth.strip() and task.read(truth) != truth


def _check_examples(scenario: Scenario, tasks: Sequence[Task]) -> None:
    questions = {_question(scenario, task.sample.fields): task.sample.id for task in tasks}
    examples = {id(example): example for task in tasks for example in task.examples}.values()
    for example in examples:
        sample_id = questions.get(_question(scenario, example))
        if sample_id is not None:
            fault = (
                "it is evaluated and is an example in the prompts too; remove it from the split "
                f"{scenario.fewshot_split!r}, or from what pick_examples() returns"
            )
            raise _fault(scenario, sample_id, fault)


def _question(scenario: Scenario, fields: Mapping[str, Any]) -> str:
    item = {name: value for name, value in fields.items() if name not in {"gold_label", "rationale"}}
    return scenario.question_text(item, scenario.options(item))


def _check_template(strategy: Strategy, task: Task) -> None:
    """Refuse a template that does not show the choices, or shows them where they are scored as if it did not."""
    text = "\n".join(message.content for message in task.prompt().messages)
    hidden = [choice.text for choice in task.choices if choice.text not in text]
    file = task.wording.place
    if hidden and not strategy.cloze:
        msg = (
            f"{file}: does not show the choice {hidden[0]!r}, which {strategy.name} needs; "
            "add {% for choice in choices %}{{ choice.letter }}. {{ choice.text }}{% endfor %}"
        )
        raise TemplateError(msg)
    if task.choices and strategy.cloze and all(line in text for line in lettered(task.labels).splitlines()):
        msg = (
            f"{file}: shows the choices, but {strategy.name} scores their texts as replies to the question alone; "
            "remove them from the template"
        )
        raise TemplateError(msg)


def _fault(scenario: Scenario, row: str, fault: str) -> DataError:
    return DataError(f"scenario {scenario.name!r}, row {row}: {fault}")
