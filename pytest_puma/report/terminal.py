"""The run as a table for the terminal, and a failed cell as sentences and misses."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_puma.core import LEVEL, Change, Measure, Outcome, Prediction, Run
from pytest_puma.report import table
from pytest_puma.report.closing import closing
from pytest_puma.report.table import Column

COLUMNS = (
    Column(title="scenario", leaves=4, heads=True),
    Column(title="strategy", names=True),
    Column(title="model", leaves=3, heads=True),
    Column(title="n", right=True, leaves=5),
    Column(title="metric", names=True),
    Column(title="value", right=True),
    Column(title="95 % interval"),
    Column(title="unread", right=True, leaves=6),
    Column(title="tokens", right=True, leaves=1),
    Column(title="s", right=True, leaves=2),
    Column(title="verdict"),
)
HEADERS = tuple(column.title for column in COLUMNS)
MISSES = 5
_WIDTH = 100


def summary(run: Run, folder: str, width: int) -> list[str]:
    """The run for the end of pytest's output: the table, and below it what a reader must know."""
    lines = table.lines(COLUMNS, all_rows(run.outcomes), width)
    if any(measure.note for outcome in run.outcomes for measure in _shown_measures(outcome)):
        lines.append("* rests on few answers, or on the readable ones of many; the note is in run.json")
    lines += _sources(run.outcomes)
    lines += [f"warning: {warning}" for warning in run.warnings]
    lines += [f"determinism: {sentence}" for sentence in map(_agreement, run.outcomes) if sentence]
    lines += undecided(run)
    lines += stopped(run.outcomes)
    lines += closing(run)
    return [*lines, f"predictions: {folder}"] if folder else lines


def failure(outcome: Outcome) -> str:
    """Why a cell failed: the sentence of each missed gate, then the worst misses."""
    lines = [f"{outcome.cell}: {verdict.reason}" for verdict in outcome.failed]
    misses = worst_misses(outcome.predictions)
    if misses:
        lines += ["", f"the worst {len(misses)} of {sum(map(_is_wrong, outcome.predictions))} misses:"]
    for prediction in misses:
        lines += [
            f"  {prediction.sample_id}: answered {_answered(prediction)}, gold is {prediction.gold}",
            f"    prompt ... {_tail(_end(outcome, prediction))}",
            f"    raw        {_said(prediction)}",
        ]
    return "\n".join(lines)


def flips(outcome: Outcome) -> list[str]:
    """Which answers are no longer what they were in the baseline, those for the worse first."""
    if not outcome.flips:
        return []
    worse = [flip for flip in outcome.flips if not flip.better]
    better = [flip for flip in outcome.flips if flip.better]
    lines = [f"flips of {outcome.cell}: {len(worse)} worse, {len(better)} better"]
    for word, turned in (("worse", worse), ("better", better)):
        for flip in turned:
            said = f"gold is {flip.gold}, was {_spelled(flip.old)}, is {_spelled(flip.new)}"
            lines.append(f"  {word:6}  {flip.sample_id}: {said}")
    return lines


def worst_misses(predictions: Sequence[Prediction], most: int = MISSES) -> list[Prediction]:
    """Wrong answers, the farthest off or the surest first; unreadable ones lead."""
    wrong = [prediction for prediction in predictions if _is_wrong(prediction)]
    return sorted(wrong, key=_badness, reverse=True)[:most]


def number(value: float) -> str:
    """Three significant digits, no exponent for ordinary sizes."""
    if math.isnan(value):
        return "-"
    return f"{value:.2f}" if 1 <= abs(value) < 1000 else f"{value:.3g}"  # noqa: PLR2004 - three digits


def interval(measure: Measure | Change) -> str:
    """`[0.41, 0.52]`, empty where there is none; a level other than that of the header is stated."""
    level = "" if measure.level == LEVEL else f" at {100 * measure.level:g} %"
    return "" if math.isnan(measure.low) else f"[{number(measure.low)}, {number(measure.high)}]{level}"


def verdict(outcome: Outcome) -> str:
    """The worst of the cell's verdicts, a dash where no gate was set."""
    order = ("FAIL", "INCONCLUSIVE", "NO BASELINE", "NOT RUN", "PASS")
    found = {verdict.status for verdict in outcome.verdicts}
    return next((status for status in order if status in found), "-")


def undecided(run: Run) -> list[str]:
    """The gates that neither pass nor fail: of cells, a sentence that holds for several once, then of the run."""
    cells: dict[str, dict[str, None]] = {}
    for outcome in run.outcomes:
        for each in outcome.verdicts:
            if each.status != "PASS" and not each.fails:
                cells.setdefault(f"{each.status.lower()}: {{}}: {each.reason}", {})[outcome.cell] = None
    return [
        *(line.replace("{}", _named(list(names)), 1) for line, names in cells.items()),
        *(f"{verdict.status.lower()}: {verdict.reason}" for verdict in run.verdicts),
    ]


def stopped(outcomes: Sequence[Outcome]) -> list[str]:
    """How many samples were not asked, as the gates of their cells were decided before."""
    early = [outcome for outcome in outcomes if outcome.left_out]
    if not early:
        return []
    saved = sum(outcome.left_out for outcome in early)
    samples = saved + sum(outcome.measures["parse_failure_rate"].n for outcome in outcomes)
    level = f"{100 * early[0].measures['parse_failure_rate'].level:g} %"
    told = (
        f"stopped early: {len(early)} of {len(outcomes)} cells; {saved:,} of {samples:,} samples were not needed; "
        f"intervals at {level} hold together at all interim analyses with {100 * LEVEL:g} %"
    )
    return [told]


def _named(cells: Sequence[str]) -> str:
    return cells[0] if len(cells) == 1 else f"{cells[0]} and {len(cells) - 1} more"


def _agreement(outcome: Outcome) -> str:
    """How many answers changed when asked alone, nothing where that was not asked."""
    found = outcome.determinism
    if found is None:
        return ""
    gaps = f"; largest logit gap {number(max(found.gaps))}" if found.gaps else ""
    return f"{outcome.cell}: {found.flips} of {found.samples} answers change when asked alone{gaps}"


def _sources(outcomes: Sequence[Outcome]) -> list[str]:
    """Which file each scenario was run on, with the beginning of its digest."""
    found = {outcome.scenario: outcome.signature.get("data") for outcome in outcomes}
    return [f"{scenario}: {data['file']} (sha256 {data['sha256'][:12]})" for scenario, data in found.items() if data]


def _shown_measures(outcome: Outcome) -> list[Measure]:
    """Those of the metrics to be shown that the cell has: a strategy without probabilities has no ece."""
    return [outcome.measures[name] for name in outcome.metrics if name in outcome.measures]


def all_rows(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """The rows under `HEADERS`: those of the cells, and behind a scenario's last one those of trivial programs."""
    last = {outcome.scenario: outcome.cell for outcome in outcomes}
    known = {outcome.scenario: _references(outcome) for outcome in outcomes if outcome.references}
    return [
        row
        for outcome in outcomes
        for row in [
            *_rows(outcome),
            *(known.get(outcome.scenario, ()) if last[outcome.scenario] == outcome.cell else ()),
        ]
    ]


def _rows(outcome: Outcome) -> list[tuple[str, ...]]:
    unread = outcome.measures["parse_failure_rate"].value
    computed = outcome.usage.prompt_tokens - outcome.usage.cached_tokens + outcome.usage.decoded_tokens
    names = (outcome.scenario, outcome.shown, outcome.model)
    costs = (f"{unread:.0%}", f"{computed:,}", f"{outcome.seconds:.1f}", verdict(outcome))
    return _measured(names, _shown_measures(outcome), costs)


def _references(outcome: Outcome) -> list[tuple[str, ...]]:
    """A row for what each trivial program scores on the same samples, without costs and verdict."""
    return [
        row
        for name, measures in outcome.references.items()
        for row in _measured((outcome.scenario, f"reference.{name}", ""), list(measures.values()), ("", "", "", ""))
    ]


def _measured(names: tuple[str, ...], measures: Sequence[Measure], costs: tuple[str, ...]) -> list[tuple[str, ...]]:
    """A row for each measure; names and costs stand in the first."""
    blank = tuple("" for _ in names), tuple("" for _ in costs)
    return [
        (*(blank[0] if row else names), *_cells(measure), *(blank[1] if row else costs))
        for row, measure in enumerate(measures)
    ]


def _cells(measure: Measure) -> tuple[str, ...]:
    value = number(measure.value) + ("*" if measure.note else "")
    return (str(measure.n), measure.metric, value, interval(measure))


def _is_wrong(prediction: Prediction) -> bool:
    if prediction.answer is None:
        return True
    try:
        return float(prediction.answer) != float(prediction.gold)
    except ValueError:
        return prediction.answer != prediction.gold


def _badness(prediction: Prediction) -> float:
    if prediction.answer is None:
        return math.inf
    if prediction.probabilities:
        return prediction.probabilities.get(prediction.answer, 0.0)
    try:
        return abs(float(prediction.answer) - float(prediction.gold))
    except ValueError:
        return 0.0


def _said(prediction: Prediction) -> str:
    """The texts of the responses; where labels were scored there are none, but probabilities."""
    if any(prediction.raw) or not prediction.probabilities:
        return repr(_tail(" | ".join(prediction.raw)))
    ranked = sorted(prediction.probabilities.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{label} {probability:.1%}" for label, probability in ranked[:4])


def _end(outcome: Outcome, prediction: Prediction) -> str:
    """The last message that the model was sent about a sample."""
    prompts = outcome.prompts(prediction)
    return prompts[-1][-1].content if prompts else ""


def _answered(prediction: Prediction) -> str:
    """The answer, or what became of it."""
    if prediction.parsed is not None:
        return f"{prediction.parsed!r} ({_words(prediction.failure)})"
    cause = f" ({_words(prediction.failure)})" if prediction.failure else ""
    return f"{_spelled(prediction.answer)}{cause}"


def _words(cause: str | None) -> str:
    return (cause or "").replace("_", " ")


def _spelled(answer: str | None) -> str:
    return "nothing readable" if answer is None else answer


def _tail(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDTH else "..." + flat[-_WIDTH:]
