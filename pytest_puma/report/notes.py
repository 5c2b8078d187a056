"""Sentences on a run beside the tables of a report, each with the cells that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_puma.core import LEVEL, Determinism, Outcome, Run, StoreShare, Verdict
from pytest_puma.phrases import counted, megabytes, named
from pytest_puma.report.agreement import agreements, judges
from pytest_puma.report.gates import closing
from pytest_puma.report.gates import sentence as gate_sentence
from pytest_puma.report.remedies import remedies
from pytest_puma.report.rows import metric_rows, number, throughput

_DIGITS = re.compile(r"\d[\d.,]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A sentence after a `word` that names its kind; `cells`: those that it is about, none for the whole run."""

    word: str
    cells: tuple[str, ...] = ()
    text: str

    def __str__(self) -> str:
        return f"{self.word}: {self.sentence}"

    @property
    def sentence(self) -> str:
        """The text behind the name of its cell, or of the first of several."""
        return f"{named(self.cells, 1)}: {self.text}" if self.cells else self.text


def heading(run: Run) -> str:
    """Return a count of everything that fails the run: `2 of 12 cells missed a gate, 1 error`.

    If nothing does, the gates that had no baseline are counted.
    """
    missed = sum(bool(outcome.failed) for outcome in run.outcomes)
    errors = sum(fault.error for fault in run.faults)
    gates = len(_failed(run))
    counts = {
        f"{missed} of {_cells(run)} cells missed a gate": missed,
        f"{counted(gates, 'gate')} on several cells missed": gates,
        counted(errors, "error"): errors,
        f"{counted(len(run.faults) - errors, 'test')} failed": len(run.faults) - errors,
        f"{counted(len(run.problems), 'problem')} of the run": len(run.problems),
    }
    return ", ".join(text for text, count in counts.items() if count) or f"no gate missed{_without_baseline(run)}"


def failures(run: Run) -> list[Note]:
    """Return a note on each missed gate, error, failed test and problem of the run."""
    return [
        *(
            Note(word=verdict.status, cells=(outcome.cell,), text=gate_sentence(verdict))
            for outcome in run.outcomes
            for verdict in outcome.failed
        ),
        *(Note(word=verdict.status, text=verdict.reason) for verdict in _failed(run)),
        *(
            Note(word="ERROR" if fault.error else "FAILED", cells=(fault.cell,), text=fault.message)
            for fault in run.faults
        ),
        *(Note(word="FAIL", text=problem) for problem in run.problems),
    ]


def undecided(run: Run) -> list[Note]:
    """Return the gates that neither pass nor fail, those of cells first; equal sentences appear once."""
    of_cells = (
        (verdict.status.lower(), verdict.reason, outcome.cell)
        for outcome in run.outcomes
        for verdict in outcome.judgement.verdicts
        if verdict.status != "PASS" and not verdict.fails
    )
    of_run = (Note(word=verdict.status.lower(), text=verdict.reason) for verdict in run.verdicts if not verdict.fails)
    return [*_folded(of_cells), *of_run]


def passed(run: Run) -> list[Note]:
    """Return the kept gates, those of cells first."""
    return [
        *(
            Note(word=verdict.status, cells=(outcome.cell,), text=gate_sentence(verdict))
            for outcome in run.outcomes
            for verdict in outcome.judgement.verdicts
            if verdict.status == "PASS"
        ),
        *(Note(word=verdict.status, text=verdict.reason) for verdict in run.verdicts if verdict.status == "PASS"),
    ]


def warnings(run: Run) -> list[Note]:
    """Return warnings on models, then on cells; a warning on several cells appears once."""
    of_cells = (
        ("warning", warning.removeprefix(f"{outcome.cell}: "), outcome.cell)
        for outcome in run.outcomes
        for warning in outcome.judgement.warnings
    )
    of_models = (*run.notes, *remedies(run.outcomes))
    return [*(Note(word="warning", text=note) for note in of_models), *_folded(of_cells)]


def remarks(run: Run) -> list[str]:
    """Return the sentences on samples that were not needed, on what the gates can show, and on the answers' origin."""
    return [
        *_stopped(run.outcomes),
        *judges(run.outcomes),
        *agreements(run.outcomes),
        *closing(run),
        *throughputs(run.outcomes),
        *_rescored(run),
        *_kept(run),
    ]


def sources(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the data file of each scenario, with the beginning of its digest."""
    files = {outcome.name.scenario: outcome.execution.signature.get("data") for outcome in outcomes}
    return [f"{scenario}: {data['file']} (sha256 {data['sha256'][:12]})" for scenario, data in files.items() if data]


def determinism(outcomes: Iterable[Outcome]) -> list[str]:
    """Return a sentence for each cell of which samples were run again alone."""
    return [
        f"determinism: {outcome.cell}: {_agreement(outcome.execution.determinism)}"
        for outcome in outcomes
        if outcome.execution.determinism is not None
    ]


def _stopped(outcomes: Sequence[Outcome]) -> list[str]:
    """Count the samples that were not run because the gates of their cells were already decided."""
    early = [outcome for outcome in outcomes if outcome.execution.left_out]
    if not early:
        return []
    saved = sum(outcome.execution.left_out for outcome in early)
    samples = saved + sum(outcome.execution.samples for outcome in outcomes)
    level = f"{100 * early[0].measures['parse_failure_rate'].level:g} %"
    sentence = (
        f"stopped early: {len(early)} of {len(outcomes)} cells; {saved:,} of {samples:,} samples were not needed; "
        f"intervals at {level} hold jointly at all interim analyses with {100 * LEVEL:g} %"
    )
    return [sentence]


def throughputs(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the throughput of each model over the cells whose answers were all computed, and its peak of memory."""
    of_models: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        of_models.setdefault(outcome.name.model, []).append(outcome)
    rates = ((model, throughput(cells), _peak(cells)) for model, cells in of_models.items())
    return [f"throughput: {model}: {rate}{memory}" for model, rate, memory in rates if rate]


def _peak(cells: Iterable[Outcome]) -> str:
    size = max(cell.execution.peak_memory for cell in cells)
    return f", {megabytes(size)} MB of memory at the peak of its process" if size else ""


def _rescored(run: Run) -> list[str]:
    """Name the run that computed the answers, if this one did not."""
    return [] if run.rescored_from is None else [f"rescored from: the answers of the run {run.rescored_from}"]


def _kept(run: Run) -> list[str]:
    """Count the answers that come from the response store, and name the runs that computed them."""
    executions = [outcome.execution for outcome in run.outcomes]
    return [
        *_shares("kept answers", [execution.kept for execution in executions]),
        *_shares("kept answers of judges", [execution.kept_of_judges for execution in executions]),
    ]


def _shares(what: str, shares: Iterable[StoreShare | None]) -> list[str]:
    cells = [share for share in shares if share is not None]
    if not cells:
        return []
    runs = list(dict.fromkeys(name for cell in cells for name in cell.runs))
    kept, of_all = sum(cell.kept for cell in cells), sum(cell.responses for cell in cells)
    share = f"all {kept:,} of" if kept == of_all else f"{kept:,} of {of_all:,} in"
    return [f"{what}: {share} {counted(len(cells), 'cell')}, from run {named(runs, 1)}"]


def footnotes(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the notes behind the stars of values."""
    rows = metric_rows(outcomes)
    return starred((row.measure.note, row.named) for row in rows if row.measure is not None)


def starred(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each note, with the name of its number; those that differ in numbers alone are one line."""
    noted: dict[str, dict[str, str]] = {}
    for note, name in notes:
        if note:
            # A metric with several gates has several rows.
            noted.setdefault(_DIGITS.sub("0", note), {}).setdefault(name, note)
    return [f"* {next(iter(of_names.values()))} ({named(of_names, 1)})" for of_names in noted.values()]


def _failed(run: Run) -> list[Verdict]:
    """Return the missed gates on several cells."""
    return [verdict for verdict in run.verdicts if verdict.fails]


def _without_baseline(run: Run) -> str:
    """Count the gates that compared nothing, so that a run without baselines does not look judged."""
    verdicts = [*(verdict for outcome in run.outcomes for verdict in outcome.judgement.verdicts), *run.verdicts]
    absent = sum(verdict.status == "NO BASELINE" for verdict in verdicts)
    return f"; {absent} of {len(verdicts)} gates had no baseline to compare with" if absent else ""


def _cells(run: Run) -> int:
    """Count the cells that ran and those that ended in an error."""
    ran = [outcome.execution.node_id for outcome in run.outcomes]
    return len(ran) + len({fault.node_id for fault in run.faults} - set(ran))


def _folded(notes: Iterable[tuple[str, str, str]]) -> Iterator[Note]:
    """Yield each word and text once, with all its cells."""
    cells: dict[tuple[str, str], dict[str, None]] = {}
    for word, text, cell in notes:
        cells.setdefault((word, text), {})[cell] = None
    return (Note(word=word, text=text, cells=tuple(names)) for (word, text), names in cells.items())


def _agreement(determinism: Determinism) -> str:
    """Count the texts and answers that changed in a re-run of each sample alone."""
    gaps = f"; largest logit gap {number(max(determinism.gaps))}" if determinism.gaps else ""
    texts = f"{determinism.texts} of {determinism.samples} texts"
    answers = f"{determinism.answers} of {determinism.samples} answers"
    return f"{texts} and {answers} change when run alone{gaps}"
