"""The figures of the model card, measured by the product itself, and those of simple programs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from tabulate import tabulate

from pytest_puma.codec.nouns import read
from pytest_puma.core import Measure
from pytest_puma.datasets.sampling import draw
from pytest_puma.report.rows import interval, number
from pytest_puma.scenarios import BUILTIN
from tools.training.recipe import MODEL, SMOKE, Recipe
from tools.training.simple_programs import simple_programs

CARD = Path(__file__).parent / "README.md"
OPENING, CLOSING = "<!-- figures -->", "<!-- end of figures -->"
#: Rows of data/ that are evaluated: all issues, as many pairs of them, all backlog items.
SAMPLES = {"triage_jira": 200, "prioritization_jira": 200, "estimation_tawos": 500}
#: Columns of the card: a scenario, a metric of it, a heading.
COLUMNS = (
    ("triage_jira", "f1_macro", "triage: macro-F1"),
    ("triage_jira", "within_one", "within one class"),
    ("prioritization_jira", "accuracy", "pairs: accuracy"),
    ("estimation_tawos", "mae", "points: MAE"),
)

#: By scenario, and by strategy or program.
Figures: TypeAlias = Mapping[tuple[str, str], Mapping[str, Measure]]


def evaluate(folder: Path, recipe: Recipe) -> None:
    """Measure the model and the simple programs; the full recipe's figures go into the model card."""
    if recipe is SMOKE:
        print(_strategies(measured(folder, dict.fromkeys(SAMPLES, 4))))
        return
    figures = measured(folder, SAMPLES)
    simple = simple_programs({name: draw(BUILTIN[name](), samples, 42) for name, samples in SAMPLES.items()})
    tables = "\n\n".join((_strategies(figures), _calibration(figures), _programs(simple)))
    print(tables)
    _into_card(tables)


def measured(folder: Path, samples: Mapping[str, int]) -> Figures:
    """Return the measures of every strategy, from the records of runs in `folder`."""
    return {key: measures for name, count in samples.items() for key, measures in _run(folder, name, count).items()}


def _run(folder: Path, scenario: str, samples: int) -> Figures:
    place = folder / "runs" / scenario
    place.mkdir(parents=True, exist_ok=True)
    test = f"import pytest\n\n@pytest.mark.puma({scenario!r})\ndef test_all(puma): pass\n"
    (place / "test_all.py").write_text(test, encoding="utf-8")
    (place / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    arguments = [f"--puma-model={(folder / MODEL).resolve()}", "--puma-strategy=all", f"--puma-samples={samples}"]
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=place, check=False, capture_output=True, text=True)  # noqa: S603 - our own
    if done.returncode:
        msg = f"{' '.join(command)} in {place} ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-500:]}"
        raise RuntimeError(msg)
    record = max((place / ".puma" / "runs").iterdir(), key=lambda run: run.stat().st_mtime) / "run.json"
    outcomes = json.loads(record.read_text(encoding="utf-8"))["outcomes"]
    return {(scenario, each["strategy"]): _measures(each) for each in outcomes}


def _measures(outcome: Mapping[str, Any]) -> dict[str, Measure]:
    return {name: read(Measure, entry) for name, entry in outcome["measures"].items()}


def _strategies(figures: Figures) -> str:
    rows = []
    for strategy in dict.fromkeys(strategy for _, strategy in figures):
        cells = [_cell(figures[name, strategy][metric]) for name, metric, _ in COLUMNS]
        parse_failures = max(figures[name, strategy]["parse_failure_rate"].value for name in SAMPLES)
        rows.append([f"`{strategy}`", *cells, f"{parse_failures:.1%}"])
    headings = ["strategy", *(heading for *_, heading in COLUMNS), "parse failures"]
    return tabulate(rows, headers=headings, tablefmt="github")


def _calibration(figures: Figures) -> str:
    metrics = {"ece": "expected calibration error", "mce": "maximum calibration error", "brier": "Brier"}
    rows = [[f"`{name}`", *(_cell(figures[name, "option_scoring"][each]) for each in metrics)] for name in SAMPLES]
    return tabulate(rows, headers=["`option_scoring` of", *metrics.values()], tablefmt="github")


def _programs(figures: Figures) -> str:
    rows = [
        [program, *(_cell(measures[metric]) if name == scenario else "" for name, metric, _ in COLUMNS)]
        for (scenario, program), measures in figures.items()
    ]
    return tabulate(rows, headers=["program", *(heading for *_, heading in COLUMNS)], tablefmt="github")


def _cell(measure: Measure) -> str:
    return f"{number(measure.value)} {interval(measure)}"


def _into_card(tables: str) -> None:
    """Write the tables between the two marks of the model card."""
    before, opening, rest = CARD.read_text(encoding="utf-8").partition(OPENING)
    _, closing, after = rest.partition(CLOSING)
    if not opening or not closing:
        msg = f"{CARD} lacks {OPENING} or {CLOSING}; put the two marks around the place of the tables"
        raise ValueError(msg)
    CARD.write_text(f"{before}{OPENING}\n\n{tables}\n\n{CLOSING}{after}", encoding="utf-8")
