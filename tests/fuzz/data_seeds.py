"""Valid data files: one of each kind that is read."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from pathlib import Path

import pandas as pd

from pytest_puma.baseline.entry import Entry
from pytest_puma.baseline.folder import Baselines
from pytest_puma.metrics import source_of
from pytest_puma.runs.run_folder import RunFolder
from tests.factories import cell, evaluated, flip, outcome, run

GATES = ("accuracy >= baseline - 0.02", "no_regression", "no_drift")

_ROWS = [
    {"issue_key": f"A-{row}", "title": f"Login fails {row}", "description": "Nobody.", "priority": "Critical"}
    for row in range(3)
]

_CSV = "".join(",".join(row) + "\n" for row in ([*_ROWS[0]], *(list(row.values()) for row in _ROWS)))
_JSON_LINES = "".join(json.dumps(row) + "\n" for row in _ROWS)

_SPEC = """\
id: smoke
scenario: triage_jira
adaptation: {strategy: [zero-shot, few-shot-3], cot: false}
inference: {temperature: 0, seed: 42, max_tokens: 16}
sample_size: 8
perturbations: [typos_5pct]
gates: ["f1_macro >= 0.45"]
"""

_ANSWERS = "".join(json.dumps({"id": row["issue_key"], "text": "Major"}) + "\n" for row in _ROWS)
_SCORED = json.dumps({"prompt": "What?", "logprobs": {"desk": -0.2, "house": -1.9}}) + "\n"


def _made(folder: Path) -> dict[str, bytes]:
    """The files of a run, of its baseline and of its throughput."""
    ran = evaluated(cell(samples=2))
    made = RunFolder(folder, "20260101T000000-1")
    made.add(ran)
    made.finish(run(ran, outcome("triage_jira-egi@m", flips=(flip(),), samples=0, trials=0)))
    entry = Entry.of(ran, commit="main@3f2c1d9", test="t.py::test_t", source_of=source_of)
    Baselines(folder / "baselines").write(
        [Entry.of(ran, commit="x", test="t.py::test_t", source_of=source_of, old=entry)]
    )
    (folder / "script.gguf").write_bytes(b"GGUF")
    throughput = {"script.gguf:4": {"prefill": 9.5, "decode": 3.0, "day": "2026-01-01", "replies": {"a-b": 2.5}}}
    files = {
        "predictions.jsonl": made.path / "predictions.jsonl",
        "run.json": made.path / "run.json",
        "triage_jira.json": folder / "baselines" / "triage_jira.json",
        "triage_jira.answers.jsonl": folder / "baselines" / "triage_jira.answers.jsonl",
    }
    return {name: path.read_bytes() for name, path in files.items()} | {
        "throughput.json": json.dumps(throughput).encode()
    }


def _parquet() -> bytes:
    stream = io.BytesIO()
    pd.DataFrame(_ROWS).to_parquet(stream)
    return stream.getvalue()


with tempfile.TemporaryDirectory() as _folder:
    _MADE = _made(Path(_folder))

#: A valid file of each kind.
SEEDS: dict[str, bytes] = {
    "rows.csv": _CSV.encode(),
    "rows.tsv": _CSV.replace(",", "\t").encode(),
    "rows.jsonl": _JSON_LINES.encode(),
    "rows.json": json.dumps(_ROWS).encode(),
    "rows.parquet": _parquet(),
    "rows.jsonl.gz": gzip.compress(_JSON_LINES.encode()),
    "answers.jsonl": (_ANSWERS + _SCORED).encode(),
    "spec.puma.yaml": _SPEC.encode(),
    **_MADE,
}
