"""A changed run of puma-tiny: other prompts, other texts or other weights; its answers are computed once.

Each run answers all rows of a scenario by option scoring. A cache folder stores the answers as JSON.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from gguf import GGUFReader
from gguf.quants import dequantize, quantize
from numpy.typing import NDArray

from pytest_puma.core import Model, Prediction, Response, Transcript
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.perturbations import parse_perturbation
from pytest_puma.platform.bundled import bundled_folder
from pytest_puma.scenarios import BUILTIN
from pytest_puma.strategies import parse_strategy

#: All issues, and all pairs that share no issue.
ROWS = {"triage_jira": 200, "prioritization_jira": 100}
MODEL = bundled_folder("models") / "puma-tiny.gguf"

Values: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRun:
    """A run that differs in one thing: `prompts` by file name, the `perturbation`, or the `weights` of each tensor."""

    name: str
    kind: str
    prompts: Mapping[str, str] = field(default_factory=dict)
    perturbation: str | None = None
    weights: Callable[[str, Values], Values] | None = None


BASE = ChangedRun(name="as it is", kind="base")


def answers(scenario: str, changed: ChangedRun, cache: Path) -> list[Prediction]:
    """Return the predictions of a run, from the cache or computed now."""
    path = cache / scenario / f"{changed.kind}-{changed.name.replace(' ', '_')}.json"
    if not path.exists():
        rows = [_stored(each) for each in _computed(scenario, changed, cache / "work")]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(rows), encoding="utf-8")
    return [_read(row) for row in json.loads(path.read_text(encoding="utf-8"))]


def _read(row: dict[str, Any]) -> Prediction:
    transcript = Transcript.of(Response(finish=row.pop("finish")))
    return Prediction(**row, units=(row["sample_id"],), transcripts={"model": transcript})


def _stored(prediction: Prediction) -> dict[str, object]:
    return {name: getattr(prediction, name) for name in ("sample_id", "gold", "answer", "probabilities", "finish")}


def _computed(scenario: str, changed: ChangedRun, work: Path) -> Sequence[Prediction]:
    shutil.rmtree(work, ignore_errors=True)
    prompts = work / "prompts" / scenario
    shutil.copytree(bundled_folder("prompts") / scenario, prompts)
    for name, text in changed.prompts.items():
        (prompts / name).write_text(text, encoding="utf-8")
    path = MODEL if changed.weights is None else _rewritten(changed.weights, work / "changed.gguf")
    model = Model(name="puma-tiny", path=path)
    cell = Cell(
        scenario=BUILTIN[scenario](),
        strategy=parse_strategy("option_scoring"),
        model=model,
        perturbation=None if changed.perturbation is None else parse_perturbation(changed.perturbation),
        samples=ROWS[scenario],
    )
    engine = Engine(NativeBackend(model, threads=1))
    try:
        return evaluate(cell, engine, project=work).predictions
    finally:
        engine.close()


def _rewritten(change: Callable[[str, Values], Values], path: Path) -> Path:
    """A copy of the bundled model with changed tensors at their old offsets and in their old types."""
    shutil.copyfile(MODEL, path)
    with path.open("r+b") as file:
        for tensor in GGUFReader(MODEL).tensors:
            values = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
            stored = quantize(change(tensor.name, values), tensor.tensor_type)
            file.seek(tensor.data_offset)
            file.write(stored.tobytes())
    return path
