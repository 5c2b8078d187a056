"""A real run on scripted models, with a cell of each kind of task.

run = recorded(tmp_path, every_kind(tmp_path))
page = Page(as_page(run.run, run.path))
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_puma.analysis.contrasts import contrasts_of
from pytest_puma.analysis.naive_baselines import NaiveBaselines
from pytest_puma.analysis.robustness import robustness
from pytest_puma.core import Generation, Outcome, Prediction, Run
from pytest_puma.planning.registry import Registry
from pytest_puma.planning.scores import own_scores
from pytest_puma.runs.prediction_file import PredictionFile, StoredCell
from pytest_puma.runs.run_folder import RunFolder
from pytest_puma.scenarios import EstimationTawosScenario
from pytest_puma.testing import ScriptedBackend
from tests.composed import CAPITALS, Capitals, Quiz, written
from tests.factories import cell, entry, evaluated, revised

Script = Callable[[str], str]


@dataclass(frozen=True)
class Recorded:
    """A run and its folder."""

    run: Run
    path: Path

    @property
    def record(self) -> dict[str, Any]:
        """`run.json`."""
        data: dict[str, Any] = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        return data

    def cell(self, cell_id: str) -> StoredCell:
        """A cell in `predictions.jsonl`."""
        (cell,) = (cell for cell in self._file.cells if cell.head.cell == cell_id)
        return cell

    def predictions(self, cell_id: str) -> list[Prediction]:
        """Those of a cell."""
        return list(self._file.predictions(self.cell(cell_id)))

    @property
    def _file(self) -> PredictionFile:
        return PredictionFile(self.path / "predictions.jsonl")


def recorded(
    root: Path,
    outcomes: Sequence[Outcome],
    *,
    name: str = "20260102T030405-6",
    keep_prompts: bool = True,
    **fields: Any,
) -> Recorded:
    """Write the run of these outcomes, as a session does."""
    folder = RunFolder(root, name, keep_prompts=keep_prompts)
    named = [revised(each, node_id=f"test_t.py::test_t[{each.cell}]") for each in outcomes]
    for each in named:
        folder.add(each)
    run = Run(
        id=folder.path.name,
        started="2026-01-02T03:04:05+00:00",
        environment={"pytest-puma": "0.1.0"},
        outcomes=tuple(revised(each, predictions=(), shared_prompts=()) for each in named),
        robustness=robustness(named),
        contrasts=contrasts_of(named, ("strategy", "baseline")),
    )
    run = replace(run, **fields)
    folder.finish(run)
    folder.close()
    return Recorded(run, folder.path)


def moody(prompt: str) -> str:
    """An answer that depends on the issue: often right, sometimes none."""
    issue = prompt.rpartition("<issue>")[2]
    words = len(issue.split())
    if words % 7 == 0:
        return "I cannot say."
    return ("Critical", "Major", "Minor", "Trivial")[words % 4]


def classification(*, samples: int = 40) -> list[Outcome]:
    """Two strategies with a baseline, gates on it and flips, and perturbed twins."""
    fields: dict[str, Any] = {"samples": samples, "compared_metrics": ("f1_macro", "accuracy")}
    gated: dict[str, Any] = {"gates": ("f1_macro >= 0.9", "accuracy >= baseline - 0.02", "parse_failure_rate <= 0.5")}
    outcomes = []
    for strategy in ("zero_shot", "few_shot_3"):
        before = evaluated(cell(strategy=strategy, **fields), "Major")
        options = {"baseline": entry(before), "naive_baselines": NaiveBaselines()}
        outcomes.append(evaluated(cell(strategy=strategy, **fields, **gated), moody, **options))
    outcomes += [evaluated(cell(perturbation=name, **fields), moody) for name in ("case_upper", "typos_20pct")]
    return outcomes


def scoring(*, samples: int = 40) -> Outcome:
    """A cell with probabilities."""
    return evaluated(cell(strategy="option_scoring", samples=samples), ScriptedBackend(moody, confidence=7.0))


def regression(*, samples: int = 30) -> Outcome:
    """A cell whose answers are numbers, or none."""

    def script(prompt: str) -> str:
        words = len(prompt.rpartition("<issue>")[2].split())
        return "no idea" if words % 9 == 0 else str((1, 2, 3, 5, 8, 3.0)[words % 6])

    return evaluated(cell(EstimationTawosScenario(), samples=samples), script)


def choice(folder: Path) -> Outcome:
    """A cell whose answers are choices."""
    rows = [
        {"question": f"Which is {word}?", "choices": [word, "sea", "sky"], "answer": 0}
        for word in ("desk", "oak", "tin")
    ]
    scenario = Quiz(written(folder / "quiz.jsonl", rows))
    return evaluated(cell(scenario, "option_scoring", samples=3), ScriptedBackend({}, default="A", confidence=3.0))


def completion(folder: Path, script: Script = lambda prompt: "A: Rome" if "Italy" in prompt else "A: Oslo") -> Outcome:
    """A cell whose answers are texts."""
    scenario = Capitals(written(folder / "capitals.jsonl", CAPITALS))
    return evaluated(cell(scenario, samples=4, scores=own_scores(scenario, Registry())), script)


def every_kind(folder: Path) -> list[Outcome]:
    """Cells of all kinds of tasks."""
    return [*classification(), scoring(), regression(), choice(folder), completion(folder)]


def repeats(*, samples: int = 6) -> Outcome:
    """A cell that asks each sample three times."""
    backend = ScriptedBackend({}, default="Major", confidence=7.0)
    return evaluated(cell(samples=samples, repeats=3, generation=Generation(temperature=1.0)), backend)
