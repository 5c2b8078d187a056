"""A run as Markdown, for a comment on a pull request or the summary of a CI job: the terminal's table and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tabulate import tabulate

from pytest_puma.core import Flip, Outcome, Run
from pytest_puma.report import contrasts, robustness
from pytest_puma.report.closing import closing
from pytest_puma.report.terminal import HEADERS, all_rows, stopped, undecided

#: What a reader of a pull request has no use for.
_LEFT_OUT = ("tokens", "s")
_FLIPS = 20


def as_markdown(run: Run) -> str:
    """The verdict, the table, a sentence for each gate that is not kept, the tables that were asked for, the flips."""
    parts = [
        f"### puma: {_verdict(run)}",
        _table(run.outcomes),
        *_sentences(run),
        *_perturbations(run),
        *_comparison(run),
        *map(_flips, run.outcomes),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _verdict(run: Run) -> str:
    failed = sum(bool(outcome.failed) for outcome in run.outcomes)
    missed = f"{failed} of {len(run.outcomes)} cells missed a gate" if failed else "no gate missed"
    return f"{missed}, but the run as a whole failed" if run.problems and not failed else missed


def _table(outcomes: Sequence[Outcome]) -> str:
    shown = [place for place, name in enumerate(HEADERS) if name not in _LEFT_OUT]
    cells = [[row[place] for place in shown] for row in all_rows(outcomes)]
    return _github(cells, [HEADERS[place] for place in shown])


def _sentences(run: Run) -> Iterator[str]:
    lines = [
        f"**{verdict.status}** {_escaped(f'{outcome.cell}: {verdict.reason}')}"
        for outcome in run.outcomes
        for verdict in outcome.failed
    ]
    lines += [f"**FAIL** {_escaped(problem)}" for problem in run.problems]
    lines += [_escaped(line) for line in (*undecided(run), *stopped(run.outcomes), *closing(run))]
    lines += [f"warning: {_escaped(warning)}" for warning in run.warnings]
    if lines:
        yield "\n".join(f"- {line}" for line in lines)


def _perturbations(run: Run) -> Iterator[str]:
    if run.robustness or run.unchanged:
        yield "#### perturbations"
    if run.robustness:
        yield _github(robustness.rows(run.robustness), robustness.HEADERS)
    told = (*robustness.sentences(run.robustness), *robustness.not_run(run))
    yield "\n".join(f"- {_escaped(line)}" for line in told)


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
    table = tabulate(
        [_flip(flip) for flip in flips[:_FLIPS]],
        headers=["sample", "gold", "was", "is", ""],
        tablefmt="github",
        disable_numparse=True,
    )
    return (
        f"<details><summary>{outcome.cell}: {worse} answers worse, {len(flips) - worse} better</summary>\n\n"
        f"{table}{rest}\n\n</details>"
    )


def _flip(flip: Flip) -> tuple[str, ...]:
    said = (flip.sample_id, flip.gold, flip.old or "-", flip.new or "-")
    return (*map(_escaped, said), "better" if flip.better else "worse")


def _github(rows: Sequence[Sequence[str]], headers: Sequence[str]) -> str:
    cells = [[_escaped(cell) for cell in row] for row in rows]
    return tabulate(cells, headers=headers, tablefmt="github", disable_numparse=True)


def _escaped(text: str) -> str:
    """Text that means nothing to Markdown."""
    for character in "\\|*<`":
        text = text.replace(character, f"\\{character}")
    return text.replace("\n", " ")
