"""A run as Markdown, for a comment on a pull request or the summary of a CI job: the terminal's table and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tabulate import tabulate

from pytest_puma.core import Change, Flip, Outcome, Run, Verdict
from pytest_puma.report import contrasts, escape, robustness
from pytest_puma.report.closing import closing
from pytest_puma.report.rows import HEADERS, all_rows, interval, number, signed
from pytest_puma.report.terminal import footnote, stopped, undecided, warnings

#: What a reader of a pull request has no use for.
_LEFT_OUT = ("tokens", "s")
_FLIPS = 20


def as_markdown(run: Run) -> str:
    """The verdict, the table, a sentence for each gate that is not kept, the tables that were asked for, the flips."""
    parts = [
        f"### puma: {_verdict(run)}",
        _table(run.outcomes),
        *_sentences(run),
        *_changes(run),
        *_perturbations(run),
        *_comparison(run),
        *map(_flips, run.outcomes),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _verdict(run: Run) -> str:
    """Everything that makes the run red, counted."""
    missed = sum(bool(outcome.failed) for outcome in run.outcomes)
    errors = sum(fault.error for fault in run.faults)
    counted = {
        f"{missed} of {_cells(run)} cells missed a gate": missed,
        _count(len(_failed(run)), "gate on several cells missed", "gates on several cells missed"): len(_failed(run)),
        _count(errors, "error", "errors"): errors,
        _count(len(run.faults) - errors, "test failed", "tests failed"): len(run.faults) - errors,
        _count(len(run.problems), "problem of the run", "problems of the run"): len(run.problems),
    }
    return ", ".join(text for text, count in counted.items() if count) or "no gate missed"


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _cells(run: Run) -> int:
    """Those that ran, and those that ended in an error before."""
    ran = [outcome.node_id for outcome in run.outcomes]
    return len(ran) + len({fault.node_id for fault in run.faults} - set(ran))


def _failed(run: Run) -> list[Verdict]:
    """The missed gates that are about several cells."""
    return [each for each in run.verdicts if each.fails]


def _table(outcomes: Sequence[Outcome]) -> str:
    if not outcomes:
        return ""
    shown = [place for place, name in enumerate(HEADERS) if name not in _LEFT_OUT]
    cells = [[row[place] for place in shown] for row in all_rows(outcomes)]
    return _github(cells, [HEADERS[place] for place in shown])


def _sentences(run: Run) -> Iterator[str]:
    """Those of what makes the run red first."""
    red: list[tuple[str, str]] = []
    red += [(each.status, f"{outcome.cell}: {each.reason}") for outcome in run.outcomes for each in outcome.failed]
    red += [(each.status, each.reason) for each in _failed(run)]
    red += [("ERROR" if each.error else "FAILED", f"{each.cell}: {each.message}") for each in run.faults]
    red += [("FAIL", problem) for problem in run.problems]
    rest = (*footnote(run.outcomes), *undecided(run), *stopped(run.outcomes), *closing(run), *warnings(run))
    lines = [f"**{word}** {escape.markdown(text)}" for word, text in red]
    lines += [escape.markdown(line) for line in rest]
    if lines:
        yield "\n".join(f"- {line}" for line in lines)


def _changes(run: Run) -> Iterator[str]:
    """What became of the metrics that gates hold against the baseline, also where they are kept."""
    rows = [
        (outcome.cell, str(each.gate), *_change(each.change), each.status)
        for outcome in run.outcomes
        for each in outcome.verdicts
        if each.change is not None and each.gate.naive is None
    ]
    if rows:
        yield "#### change since the baseline"
        yield _github(rows, ("cell", "gate", "metric", "was", "is", "change", "95 % interval", "verdict"))


def _change(change: Change) -> tuple[str, ...]:
    moved = f"x {number(change.value)}" if change.quotient else signed(change.value)
    return (change.metric, number(change.old), number(change.new), moved, interval(change))


def _perturbations(run: Run) -> Iterator[str]:
    if run.robustness or run.unchanged:
        yield "#### perturbations"
    if run.robustness:
        yield _github(robustness.rows(run.robustness), robustness.HEADERS)
    told = (*robustness.sentences(run.robustness), *robustness.not_run(run))
    yield "\n".join(f"- {escape.markdown(line)}" for line in told)


def _comparison(run: Run) -> Iterator[str]:
    if run.contrasts:
        yield "#### comparison"
        yield _github(contrasts.rows(run.contrasts), contrasts.HEADERS)


def _flips(outcome: Outcome) -> str:
    """Folded up: a table of the first flips, those for the worse before the others."""
    if not outcome.flips:
        return ""
    flips = sorted(outcome.flips, key=lambda flip: flip.better)
    worse = sum(not flip.better for flip in flips)
    rest = f"\n\nand {len(flips) - _FLIPS} more" if len(flips) > _FLIPS else ""
    table = _github([_flip(flip) for flip in flips[:_FLIPS]], ("sample", "gold", "was", "is", ""))
    said = f"{escape.html(outcome.cell)}: {worse} answers worse, {len(flips) - worse} better"
    return f"<details><summary>{said}</summary>\n\n{table}{rest}\n\n</details>"


def _flip(flip: Flip) -> tuple[str, ...]:
    return (flip.sample, flip.gold, flip.old or "-", flip.new or "-", "better" if flip.better else "worse")


def _github(rows: Sequence[Sequence[str]], headers: Sequence[str]) -> str:
    cells = [[escape.markdown(cell) for cell in row] for row in rows]
    return tabulate(cells, headers=headers, tablefmt="github", disable_numparse=True)
