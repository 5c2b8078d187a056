"""The figures of the model card, measured by the product itself, beside those of simple programs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import yaml
from tabulate import tabulate

from pytest_puma.core import Measure, Prediction, Sample
from pytest_puma.metrics import measure_all
from pytest_puma.report.terminal import interval, number
from pytest_puma.scenarios import BUILTIN
from pytest_puma.scenarios.sampling import draw
from tools.training.dialogues import POINTS, PRIORITIES
from tools.training.phrases import FOLDER, load_phrases
from tools.training.recipe import MODEL, SMOKE, Recipe
from tools.training.texts import Text, Writer

ROOT = Path(__file__).parents[2]
CARD = Path(__file__).parent / "README.md"
#: Rows of data/ that are evaluated: all issues, as many pairs, all backlog items.
SAMPLES = {"triage_jira": 200, "prioritization_jira": 200, "estimation_tawos": 500}
#: Columns of the card: a scenario, a metric of it, a heading.
COLUMNS = (
    ("triage_jira", "f1_macro", "triage: macro-F1"),
    ("triage_jira", "within_one", "within one class"),
    ("prioritization_jira", "accuracy", "pairs: accuracy"),
    ("estimation_tawos", "mae", "points: MAE"),
)
#: Made-up texts of each scenario that the simple programs learn from.
LEARNED = 4000

Figures = dict[tuple[str, str], dict[str, Measure]]


def evaluate(folder: Path, recipe: Recipe) -> None:
    """Measure the model and the simple programs; the full recipe's figures go into the model card."""
    samples = {name: 4 for name in SAMPLES} if recipe is SMOKE else SAMPLES
    found = {key: value for name in SAMPLES for key, value in _measured(folder, name, samples[name]).items()}
    tables = f"{_table(found)}\n\n{_calibration(found)}"
    if recipe is not SMOKE:
        tables += f"\n\n{_simple_programs()}"
    print(tables)  # noqa: T201
    if recipe is not SMOKE:
        _into_card(tables)


def _measured(folder: Path, scenario: str, samples: int) -> Figures:
    """The measures of every strategy, by scenario and strategy, from the record of a run."""
    model, place = (folder / MODEL).resolve(), folder / "runs" / scenario
    place.mkdir(parents=True, exist_ok=True)
    test = f"import pytest\n\n@pytest.mark.puma({scenario!r})\ndef test_all(puma): pass\n"
    (place / "test_all.py").write_text(test, encoding="utf-8")
    (place / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    asked = [f"--puma-model={model}", "--puma-strategy=all", f"--puma-samples={samples}", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "--quiet", *asked]
    done = subprocess.run(command, cwd=place, check=False, capture_output=True, text=True)  # noqa: S603 - our own
    if done.returncode:
        msg = f"{' '.join(command)} in {place} ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-500:]}"
        raise RuntimeError(msg)
    record = max((place / ".puma" / "runs").iterdir(), key=lambda run: run.stat().st_mtime) / "run.json"
    outcomes = json.loads(record.read_text(encoding="utf-8"))["outcomes"]
    return {(scenario, each["strategy"]): _measures(each["measures"]) for each in outcomes}


def _measures(said: Mapping[str, Mapping[str, Any]]) -> dict[str, Measure]:
    missing = float("nan")
    return {
        name: Measure(**{**each, **{key: missing for key in ("value", "low", "high") if each[key] is None}})
        for name, each in said.items()
    }


def _table(found: Figures) -> str:
    strategies = list(dict.fromkeys(strategy for _, strategy in found))
    rows = []
    for strategy in strategies:
        unread = max(found[name, strategy]["parse_failure_rate"].value for name in SAMPLES)
        rows.append([f"`{strategy}`", *(_cell(found[name, strategy][metric]) for name, metric, _ in COLUMNS), f"{unread:.1%}"])
    return tabulate(rows, headers=["strategy", *(heading for *_, heading in COLUMNS), "unread, worst"], tablefmt="github")


def _calibration(found: Figures) -> str:
    rows = [[f"`{name}`", *(_cell(found[name, "option_scoring"][each]) for each in ("ece", "brier"))] for name in SAMPLES]
    return tabulate(rows, headers=["option_scoring on", "expected calibration error", "Brier"], tablefmt="github")


def _cell(measure: Measure) -> str:
    return f"{number(measure.value)} {interval(measure)}"


# -- simple programs -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple:
    """Answers of a simple program, and what it is called."""

    name: str
    scenario: str
    answers: Sequence[str]


def _simple_programs() -> str:
    """What programs score that learned from as many made-up texts, or from nothing."""
    writer = Writer(
        load_phrases(), yaml.safe_load((FOLDER / "common.yaml").read_text(encoding="utf-8")), Random(1)  # noqa: S311
    )
    issues = [writer.issue(PRIORITIES[number % 4]) for number in range(LEARNED)]
    weights = list(POINTS.values())
    items = [writer.item(points) for points in Random(1).choices(list(POINTS), weights, k=LEARNED)]  # noqa: S311
    samples = {name: draw(BUILTIN[name](), SAMPLES[name], 42) for name in SAMPLES}
    golds = [float(sample.gold) for sample in samples["estimation_tawos"]]
    mean = repr(sum(golds) / len(golds))
    programs = [
        Simple(name="TF-IDF, logistic regression", scenario="triage_jira", answers=_classified(issues, samples["triage_jira"])),
        Simple(name="TF-IDF, ridge regression", scenario="estimation_tawos", answers=_estimated(items, samples["estimation_tawos"])),
        Simple(name="the mean of the rows themselves", scenario="estimation_tawos", answers=[mean] * len(golds)),
    ]
    rows = [[each.name, *_scored(each, samples[each.scenario])] for each in programs]
    headings = ["program", *(heading for *_, heading in COLUMNS)]
    return tabulate(rows, headers=headings, tablefmt="github")


def _scored(program: Simple, samples: Sequence[Sample]) -> list[str]:
    scenario = BUILTIN[program.scenario]()
    predictions = [
        Prediction(sample_id=each.id, gold=each.gold, answer=answer, units=each.units)
        for each, answer in zip(samples, program.answers, strict=True)
    ]
    measures = measure_all(scenario, predictions, seed=42)
    return [_cell(measures[metric]) if name == program.scenario else "" for name, metric, _ in COLUMNS]


def _classified(texts: Sequence[Text], samples: Sequence[Sample]) -> list[str]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    program = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LogisticRegression(max_iter=1000))
    program.fit([f"{each.title}\n{each.description}" for each in texts], [each.gold for each in texts])
    return [str(answer) for answer in program.predict(_texts(samples))]


def _estimated(texts: Sequence[Text], samples: Sequence[Sample]) -> list[str]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    program = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), Ridge())
    program.fit([f"{each.title}\n{each.description}" for each in texts], [float(each.gold) for each in texts])
    return [repr(float(answer)) for answer in program.predict(_texts(samples))]


def _texts(samples: Sequence[Sample]) -> list[str]:
    return [f"{each.fields['title']}\n{each.fields['description']}" for each in samples]


def _into_card(tables: str) -> None:
    """Between the two marks of the model card."""
    before, opening, rest = CARD.read_text(encoding="utf-8").partition("<!-- figures -->\n")
    _, closing, after = rest.partition("<!-- end of figures -->")
    if not opening or not closing:
        msg = f"{CARD} has no <!-- figures --> ... <!-- end of figures -->; put the two marks where the tables belong"
        raise ValueError(msg)
    CARD.write_text(f"{before}{opening}\n{tables}\n\n{closing}{after}", encoding="utf-8")
