"""A run, or the comparison of two runs, as Markdown: for a comment on a pull request or the summary of a CI job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, zip_longest

from tabulate import tabulate

from pytest_puma.core import Change, Flip, Outcome, Run
from pytest_puma.phrases import counted
from pytest_puma.report import comparison, costs, escape, notes, robustness, variants
from pytest_puma.report.commands import commands_of
from pytest_puma.report.rows import COLUMNS, brief, difference, interval, metric_rows, number
from pytest_puma.report.table import texts, titles
from pytest_puma.runs.comparison import RunComparison

#: Columns that do not interest the reader of a pull request.
_OMITTED = ("tokens", "s")
_MAX_FLIPS = 20
#: A comment on GitHub has at most 65,536 characters.
_MAX_CHARACTERS, _MAX_OF_SENTENCES = 65_000, 25_000


def as_markdown(run: Run) -> str:
    """Return a heading, the failures, the table, what is undecided, the requested tables, statistics, and the flips."""
    parts = [
        f"### puma: {notes.heading(run)}",
        *_listed(list(_failures(run))),
        _table(run.outcomes),
        *_listed(_lines((*notes.undecided(run), *notes.warnings(run)))),
        *_changes(run),
        *_perturbations(run),
        *_variants(run),
        *_comparison(run),
        *_statistics(run),
    ]
    details = [_folded(outcome.cell, outcome.judgement.flips) for outcome in run.outcomes if outcome.judgement.flips]
    return "\n\n".join(filter(None, [*parts, *_fitting(details, sum(map(len, parts)))])) + "\n"


def comparison_as_markdown(compared: RunComparison, *, flips: bool) -> str:
    """Return a heading, the table, a list of sentences, and the `flips` folded up if they are requested."""
    rows = comparison.change_rows(compared)
    parts = [
        f"### puma: {escape.markdown(comparison.title(compared))}",
        _github_table(rows, titles(comparison.CHANGES)) if rows else "",
        "\n".join(f"- {escape.markdown(sentence)}" for sentence in comparison.sentences(compared)),
        *(_folded(cell.cell, cell.flips) for cell in compared.cells if flips),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _fitting(details: Sequence[str], used: int) -> Iterator[str]:
    """The details that fit into a comment beside the characters used, and a sentence on the others."""
    for index, detail in enumerate(details):
        used += len(detail) + 2
        if used > _MAX_CHARACTERS:
            left = counted(len(details) - index, "cell")
            yield f"The changed answers of {left} are left out, as a comment is limited; other reports have them."
            return
        yield detail


def _table(outcomes: Sequence[Outcome]) -> str:
    if not outcomes:
        return ""
    shown = [column for column in COLUMNS if column.title not in _OMITTED]
    return _github_table([texts(shown, row) for row in metric_rows(outcomes)], titles(shown))


def _failures(run: Run) -> Iterator[str]:
    """Yield a line for each failure, and below the last one of a cell the commands for it."""
    failures = notes.failures(run)
    for note, following in zip_longest(failures, failures[1:]):
        yield f"- **{note.word}** {escape.markdown(note.sentence)}"
        if note.cells and (following is None or following.cells != note.cells):
            for name, command in commands_of(run, *note.cells).items():
                yield f"  - {name}: {escape.markdown_code(command)}"


def _lines(sentences: Iterable[object]) -> list[str]:
    return [f"- {escape.markdown(str(sentence))}" for sentence in sentences]


def _listed(lines: list[str]) -> Iterator[str]:
    """Yield as many lines of a list as a comment has room for."""
    lengths = accumulate(len(line) + 1 for line in lines)
    shown = sum(length <= _MAX_OF_SENTENCES for length in lengths)
    if shown < len(lines):
        lines[shown:] = [f"- and {counted(len(lines) - shown, 'more line')}, which other reports have"]
    if lines:
        yield "\n".join(lines)


def _statistics(run: Run) -> Iterator[str]:
    """Return the notes on values and the remarks on power, false alarms and times, folded up."""
    for text in _listed(_lines((*notes.footnotes(run.outcomes), *notes.remarks(run)))):
        yield f"<details><summary>notes: statistics, origin of the answers, times</summary>\n\n{text}\n\n</details>"


def _changes(run: Run) -> Iterator[str]:
    """Return a table of the metrics that gates compare with the baseline, kept or missed."""
    rows = [
        (outcome.cell, str(verdict.gate), *_change(verdict.change), verdict.status)
        for outcome in run.outcomes
        for verdict in outcome.judgement.verdicts
        if verdict.change is not None and verdict.gate.naive is None
    ]
    if rows:
        yield "#### change since the baseline"
        yield _github_table(rows, ("cell", "gate", "metric", "n", "was", "is", "change", "95 % interval", "verdict"))


def _change(change: Change) -> tuple[str, ...]:
    return (change.metric, str(change.n), number(change.old), number(change.new), difference(change), interval(change))


def _perturbations(run: Run) -> Iterator[str]:
    if run.robustness or run.unchanged:
        yield f"#### {robustness.title(run)}"
    if run.robustness:
        yield _github_table(robustness.rows(run.robustness), titles(robustness.COLUMNS))
    yield "\n".join(f"- {escape.markdown(sentence)}" for sentence in robustness.sentences(run))


def _variants(run: Run) -> Iterator[str]:
    if run.variants:
        yield "#### variants"
        yield _github_table(variants.rows(run), titles(variants.columns(run)))
    if found := costs.rows(run):
        yield _github_table(found, titles(costs.columns(run)))
    yield "\n".join(f"- {escape.markdown(sentence)}" for sentence in variants.sentences(run))


def _comparison(run: Run) -> Iterator[str]:
    if run.contrasts:
        yield "#### comparison"
        yield _github_table(comparison.contrast_rows(run.contrasts), titles(comparison.CONTRASTS))


def _folded(cell: str, flips: Sequence[Flip]) -> str:
    """Return a collapsed table of the first flips of a cell, changes for the worse first; nothing without flips."""
    if not flips:
        return ""
    flips = sorted(flips, key=lambda flip: flip.better)
    worse = sum(not flip.better for flip in flips)
    rest = f"\n\nand {len(flips) - _MAX_FLIPS} more" if len(flips) > _MAX_FLIPS else ""
    table = _github_table([_flip(flip) for flip in flips[:_MAX_FLIPS]], ("sample", "gold", "was", "is", ""))
    title = f"{escape.html(cell)}: {worse} answers worse, {len(flips) - worse} better"
    return f"<details><summary>{title}</summary>\n\n{table}{rest}\n\n</details>"


def _flip(flip: Flip) -> tuple[str, ...]:
    old, new = (brief(answer or "-") for answer in (flip.old, flip.new))
    if flip.scores is not None:
        old, new = (f"{text} ({number(score)})" for text, score in zip((old, new), flip.scores, strict=True))
    return (flip.sample, brief(flip.gold), old, new, "better" if flip.better else "worse")


def _github_table(rows: Sequence[Sequence[str]], headers: Sequence[str]) -> str:
    """Return a table in the Markdown of GitHub."""
    cells = [[escape.markdown(cell) for cell in row] for row in rows]
    return tabulate(cells, headers=headers, tablefmt="github", disable_numparse=True)
