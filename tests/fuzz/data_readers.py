"""Readers of data files: each reads a file and uses its content, as a run does."""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_puma.baseline.entry import Entry
from pytest_puma.baseline.folder import Baselines
from pytest_puma.core import Model, PumaError
from pytest_puma.datasets.table import read_records
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.metrics import source_of
from pytest_puma.planning.marker import as_recorded, recorded_models
from pytest_puma.planning.registry import Registry
from pytest_puma.planning.runspec import read_specs
from pytest_puma.planning.settings import BenchmarkSpec, Settings
from pytest_puma.report import escape
from pytest_puma.report.forecast import forecast_lines
from pytest_puma.responses.answer_file import read_answers
from pytest_puma.responses.answer_source import AnswerSource
from pytest_puma.responses.reading import ReadingResponder
from pytest_puma.runs.loaded import load_run
from pytest_puma.runs.past_run import last_flips
from pytest_puma.runs.recorded_run import RecordedRun, RunSource
from pytest_puma.runs.throughput import Throughput, read_throughput, write_throughput
from pytest_puma.scenarios import TriageJiraScenario
from tests.factories import cell, evaluated, model
from tests.fuzz.data_seeds import GATES, SEEDS


def read(value: list[str]) -> str:
    """The result of reading a file and of using what it says, or the sentence of its error."""
    name, data = value
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(base64.b64decode(data))
        try:
            return str(_READERS[name](path))[:200]
        except PumaError as error:
            return escape.terminal_lines(str(error))


def _rows(path: Path) -> Any:
    if path.name not in {"rows.json", "rows.jsonl.gz"}:
        scenario = TriageJiraScenario(path)
        evaluated(cell(scenario, samples=2))
    return read_records(path.read_bytes(), name=path.name)


def _answers(path: Path) -> Any:
    given = Model(name="gpt4", path=path, source="answers")
    scenario = TriageJiraScenario(_beside(path, "rows.csv"))
    evaluate(cell(scenario, samples=3), ReadingResponder(AnswerSource(given)))
    return read_answers(given)


def _spec(path: Path) -> Any:
    return read_specs(path, Settings(registry=Registry()))


def _predictions(path: Path) -> Any:
    recorded = RecordedRun(path)
    models = recorded_models(recorded)
    spec = BenchmarkSpec(scenario=TriageJiraScenario())
    options = as_recorded(spec, recorded, test="t.py::test_t").options
    planned = cell(samples=2)
    evaluate(planned, ReadingResponder(RunSource(recorded)))
    _beside(path, "run.json")
    return models, options, load_run(path.parent).predictions


def _run(path: Path) -> Any:
    _beside(path, "predictions.jsonl")
    loaded = load_run(path.parent)
    frames = [loaded.predictions, loaded.measures, loaded.verdicts]
    folder = path.parent / ".puma" / "runs" / "20260101T000000-1"
    folder.mkdir(parents=True)
    shutil.copy(path, folder)
    return frames, last_flips(path.parent)


def _baseline(path: Path) -> Any:
    for name in ("triage_jira.json", "triage_jira.answers.jsonl"):
        if name != path.name:
            _beside(path, name)
    _sign(path.parent)
    baselines = Baselines(path.parent)
    planned = cell(samples=2, gates=GATES)
    entry = baselines.find("triage_jira", planned.id)
    ran = evaluated(planned, baseline=entry)
    renewed = Entry.of(ran, commit="y", test="t.py::test_t", source_of=source_of, old=entry)
    return baselines.entries(), baselines.write([renewed])


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _sign(folder: Path) -> None:
    """Store the digests of changed answers, which would be refused as such."""
    with suppress(Exception):
        lines = (folder / "triage_jira.answers.jsonl").read_text(encoding="utf-8").split("\n")
        head = json.loads((folder / "triage_jira.json").read_text(encoding="utf-8"))
        (own,) = head["cells"].values()
        own["answers_sha256"], own["anchor"]["answers_sha256"] = (
            sha256(line.encode()).hexdigest() for line in lines[:2]
        )
        (folder / "triage_jira.json").write_text(json.dumps(head), encoding="utf-8")


def _throughput(path: Path) -> Any:
    own, root = model(), path.parent
    (root / "script.gguf").write_bytes(b"GGUF")
    own = Model(name=own.name, path=root / "script.gguf")
    (root / ".puma").mkdir()
    shutil.copy(path, root / ".puma" / "throughput.json")
    throughput: Throughput | None = read_throughput(root, own)
    planned = cell()
    lines = []
    if throughput is not None:
        throughput.time(10, throughput.reply_tokens(planned.name, trials=2, max_tokens=5))
        lines = forecast_lines([], {own.name: throughput}, 80, process_bytes=0)
    write_throughput(root, [own], [], day="2026-01-01")
    return lines


def _beside(path: Path, name: str) -> Path:
    other = path.with_name(name)
    other.write_bytes(SEEDS[name])
    return other


_READERS: dict[str, Callable[[Path], Any]] = {
    **dict.fromkeys((name for name in SEEDS if name.startswith("rows.")), _rows),
    "answers.jsonl": _answers,
    "spec.puma.yaml": _spec,
    "predictions.jsonl": _predictions,
    "run.json": _run,
    "triage_jira.json": _baseline,
    "triage_jira.answers.jsonl": _baseline,
    "throughput.json": _throughput,
}
