"""Two runs compared cell by cell, sample by sample: with the code of a gate on a baseline, so with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from pytest_puma.analysis.remeasure import scored_by_task
from pytest_puma.baseline.columns import rounded
from pytest_puma.baseline.entry import Entry, other_label
from pytest_puma.core import Contrast, DataError, Flip, Key, Outcome, PumaError
from pytest_puma.core.metric_name import MetricName
from pytest_puma.metrics import PairedPredictions, contrast, pair, source_of
from pytest_puma.phrases import one_line
from pytest_puma.responses.recipe import changes
from pytest_puma.runs.past_run import Older
from pytest_puma.stats.significance import holm
from pytest_puma.task_types import KINDS

#: Reads the predictions of an outcome.
_Answered = Callable[[Outcome], Outcome]
#: Characters of the text of a sample.
_TEXT = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """A metric in both runs, without a test; None if it was not measured."""

    metric: str
    old: float | None
    new: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CellComparison:
    """A cell that both runs have, or two cells.

    `against`: the other cell that takes its place in the old run, "" if it is the same one.
    `contrasts`: the paired comparison of the primary metric, and of those that gates limit. `untested`: the values of
    the other ones of these, and `why` there is no test, empty if all metrics have one. `differs`: sentences on the
    signatures. `flips`: answers that are better or worse. `changed`: the number of other answers to the same trial.
    `only_old`, `only_new`: ids of samples that one run alone has. `trials_old`, `trials_new`: the id of the sample of
    each trial that one run alone has, of samples that both have.
    """

    cell: str
    against: str = ""
    contrasts: tuple[Contrast, ...] = ()
    untested: tuple[Values, ...] = ()
    why: str = ""
    differs: tuple[str, ...] = ()
    flips: tuple[Flip, ...] = ()
    changed: int = 0
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    trials_old: tuple[str, ...] = ()
    trials_new: tuple[str, ...] = ()

    @property
    def unchanged(self) -> tuple[str, ...]:
        """The metrics to which every sample contributes as before."""
        tested = [contrast.change.metric for contrast in self.contrasts if not contrast.change.changed]
        return (*tested, *(values.metric for values in self.untested if values.old == values.new))

    @property
    def same(self) -> bool:
        """Whether both runs have the same answers, for the same requests."""
        alone = self.only_old or self.only_new or self.trials_old or self.trials_new
        metrics = len(self.contrasts) + len(self.untested)
        return len(self.unchanged) == metrics and not (self.changed or self.differs or alone)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """The new run against the old one, by their names in sentences; p-values are adjusted for all contrasts.

    `only_old`, `only_new`: the cells that one run alone has.
    """

    old: str
    new: str
    cells: tuple[CellComparison, ...] = ()
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The contrasts of all cells."""
        return tuple(contrast for cell in self.cells for contrast in cell.contrasts)

    @property
    def same(self) -> bool:
        """Whether both runs have the same cells with the same answers."""
        return not self.only_old and not self.only_new and all(cell.same for cell in self.cells)


def compare(
    outcomes: Sequence[Outcome], answered: _Answered, old: Older, *, name: str, pattern: str = "*"
) -> RunComparison:
    """Compare the outcomes of a run, called `name`, with an older one; `answered` reads predictions.

    `pattern`: of the cells to compare. One cell after the other is in memory.
    """
    new = {outcome.cell: outcome for outcome in outcomes if fnmatchcase(outcome.cell, pattern)}
    old_cells = [cell for cell in old.cells if fnmatchcase(cell, pattern)]
    cells = [_compared(outcome, answered, old) for cell, outcome in new.items() if cell in old_cells]
    return RunComparison(
        old=old.name,
        new=name,
        cells=tuple(_adjusted(cells)),
        only_old=tuple(cell for cell in old_cells if cell not in new),
        only_new=tuple(cell for cell in new if cell not in old_cells),
    )


def _adjusted(cells: Sequence[CellComparison]) -> Iterator[CellComparison]:
    adjusted = iter(holm([contrast.p for cell in cells for contrast in cell.contrasts]))
    for cell in cells:
        contrasts = tuple(replace(contrast, adjusted=next(adjusted)) for contrast in cell.contrasts)
        yield replace(cell, contrasts=contrasts)


def _compared(outcome: Outcome, answered: _Answered, old: Older) -> CellComparison:
    metrics = _metrics(outcome)
    bases = {MetricName.parse(metric).base for metric in metrics}
    entry = old.cells[outcome.cell](bases)
    values = CellComparison(
        cell=outcome.cell,
        against=entry.cell if entry.cell != outcome.cell else "",
        untested=tuple(_values(metrics, outcome, entry)),
        differs=tuple(changes(entry.signature, outcome.execution.signature)),
    )
    try:
        return _paired(values, answered(outcome), entry, old.name)
    except PumaError as error:
        return replace(values, why=str(error))


def _paired(values: CellComparison, new: Outcome, old: Entry, name: str) -> CellComparison:
    """The comparison sample by sample in place of `values` alone; a `PumaError` if there is none."""
    pairs = _pairs(new, old, name)
    replicates = {value.metric: pairs.replicates(value.metric) for value in values.untested}
    untested = tuple(value for value in values.untested if replicates[value.metric] is None)
    answers = {prediction.key: prediction.answer for prediction in new.predictions}
    only_old, trials_old = _missing(old.answers, answers)
    only_new, trials_new = _missing(answers, old.answers)
    return replace(
        values,
        contrasts=tuple(contrast(new.cell, name, *both, seed=_seed(new)) for both in replicates.values() if both),
        untested=untested,
        why="only its scenario can compute it" if untested else "",
        flips=_flips(pairs, new),
        changed=sum(answers[key] != before.answer for key, before in old.answers.items() if key in answers),
        only_old=only_old,
        only_new=only_new,
        trials_old=trials_old,
        trials_new=trials_new,
    )


def _flips(pairs: PairedPredictions, new: Outcome) -> tuple[Flip, ...]:
    """The flips, with the part of the prompt that is theirs alone."""
    texts = {prediction.sample_id: one_line(new.own_text(prediction), _TEXT) for prediction in new.predictions}
    return tuple(replace(flip, text=texts[flip.sample_id]) for flip in pairs.flips())


def _pairs(new: Outcome, old: Entry, name: str) -> PairedPredictions:
    task = new.task
    if not old.answers:
        msg = f"{name} has no predictions of it any more"
        raise DataError(msg)
    if task.type not in KINDS:
        msg = "this version does not know its task"
        raise DataError(msg)
    if task.kind.form == "labels" and (label := other_label(old.answers, task.labels)):
        msg = f"{name} has the answer {label!r}, which is no label any more"
        raise DataError(msg)
    if task.kind.form == "choices" and not all(prediction.choices for prediction in new.predictions):
        msg = "its choices were not stored (puma_keep_prompts)"
        raise DataError(msg)
    pairs = pair(scored_by_task(task, new.predictions, seed=_seed(new)), old.answers)
    if not len(pairs):
        msg = "they have no sample in common"
        raise DataError(msg)
    return pairs


def _metrics(outcome: Outcome) -> list[str]:
    """The primary metric, and those that gates limit, but what the clock measures, as in baselines."""
    limited = (verdict.gate.metric for verdict in outcome.judgement.verdicts if not verdict.gate.word)
    names = dict.fromkeys((outcome.primary, *limited))
    return [name for name in names if name in outcome.measures and source_of(name) not in {"clock", "energy"}]


def _values(metrics: Sequence[str], outcome: Outcome, entry: Entry) -> Iterator[Values]:
    for metric in metrics:
        old: Mapping[str, float | None] = entry.measures.get(metric, {})
        yield Values(metric=metric, old=old.get("value"), new=rounded(outcome.measures[metric].value))


def _seed(outcome: Outcome) -> int:
    """The seed of the run, so that resamples are those of its own numbers."""
    return int(outcome.execution.signature.get("seed", 0))


def _missing(keys: Collection[Key], others: Collection[Key]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of the samples that `others` lack, and that of each further trial that they lack, in order."""
    other_ids = {sample_id for sample_id, _ in others}
    lacking = sorted(set(keys).difference(others))
    samples = dict.fromkeys(sample_id for sample_id, _ in lacking if sample_id not in other_ids)
    return tuple(samples), tuple(sample_id for sample_id, _ in lacking if sample_id in other_ids)
