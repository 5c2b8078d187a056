"""A run as profiles of AISteer360: its functions for tables and plots of a sweep read them unchanged.

{"baseline": [...], "polite": [{"trial_id": 0, "params": {"polite": {"strength": 0.5, "layers": "10"}},
                                "evaluations": {"accuracy": {"value": 0.66, "low": 0.52, "high": 0.77, "n": 50}},
                                "generations": [{"response": "...", "prompt": "...", "question_id": "T-1", ...}]}]}

A *pipeline* is the controls of a variant without their values, each configuration an entry of its list.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_puma.codec.plain import plain
from pytest_puma.core import Messages, Outcome, Prediction, Run
from pytest_puma.core.shared import whole_prompts
from pytest_puma.core.variant import PLUS, settings_of
from pytest_puma.planning.reports import PageSettings
from pytest_puma.runs.prediction_file import owner_of, stored_cells

#: The pipeline of a plain model.
_PLAIN = "baseline"


def as_profiles(run: Run, folder: Path | None, settings: PageSettings) -> str:
    """Return the profiles as JSON; generations are read from the run folder, and are empty without it."""
    generations: dict[Any, list[dict[str, Any]]] = {}
    owners = {owner_of(outcome): outcome for outcome in run.outcomes}
    for cell, predictions in stored_cells(folder, owners) if folder is not None else ():
        shared = cell.shared if settings.texts == "all" else ()
        of_cell = [_generation(prediction, shared, texts=settings.texts == "all") for prediction in predictions]
        generations[cell.owner] = of_cell
    profiles: dict[str, list[dict[str, Any]]] = {}
    for owner, outcome in owners.items():
        profiles.setdefault(_pipeline(outcome, run), []).append(_entry(outcome, generations.get(owner, [])))
    return json.dumps(plain(profiles), allow_nan=False, ensure_ascii=False, indent=1) + "\n"


def _pipeline(outcome: Outcome, run: Run) -> str:
    """The names of the controls; before them the cell and the model if the run has several."""
    controls = PLUS.join(settings_of(outcome.name.variant or "")) or _PLAIN
    cells = {(each.name.scenario, each.name.shown) for each in run.outcomes}
    models = {each.name.plain for each in run.outcomes}
    cell = f"{outcome.name.scenario}-{outcome.name.shown}" if len(cells) > 1 else ""
    return " ".join(filter(None, [cell, outcome.name.plain if len(models) > 1 else "", controls]))


def _entry(outcome: Outcome, generations: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "trial_id": 0,
        "params": {
            name: {"strength": setting.strength, "layers": setting.layers or None}
            for name, setting in settings_of(outcome.name.variant or "").items()
        },
        "evaluations": {
            name: {"value": measure.value, "low": measure.low, "high": measure.high, "n": measure.n}
            for name, measure in outcome.measures.items()
        },
        "generations": generations,
    }


def _generation(prediction: Prediction, shared: tuple[Messages, ...], *, texts: bool) -> dict[str, Any]:
    """A reply with its last prompt: its text if it is one message, else a list of messages."""
    question = {"question_id": prediction.sample_id}
    if not texts:
        return question
    prompts = whole_prompts(shared, prediction.transcript.prompts)
    messages = prompts[-1] if prompts else ()
    prompt = [{"role": message.role, "content": message.content} for message in messages]
    return {
        "response": prediction.raw[-1] if prediction.raw else prediction.answer,
        "prompt": prompt[0]["content"] if len(prompt) == 1 else prompt,
        **question,
        "reference_answer": prediction.golds[0],
    }
