"""Hostile data files: valid ones of every kind that is read, with parts changed, and texts that no parser likes."""

from __future__ import annotations

import base64
import gzip
import io
import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from pytest_puma.baseline import Baselines, Entry
from pytest_puma.core import Model, PumaError
from pytest_puma.planning.rescoring import as_recorded, recorded_models
from pytest_puma.planning.runspec import read_specs
from pytest_puma.planning.settings import BenchmarkSpec, Registry, Settings
from pytest_puma.report import escape
from pytest_puma.report.forecast import forecast_lines
from pytest_puma.run.evaluate import evaluate
from pytest_puma.scenarios import TriageJiraScenario
from pytest_puma.scenarios.records import read_records
from pytest_puma.store.answers import read_answers
from pytest_puma.store.loaded import load_run
from pytest_puma.store.recorded_answers import RecordedAnswers
from pytest_puma.store.recorded_run import RecordedRun
from pytest_puma.store.replay import Replay
from pytest_puma.store.run_folder import RunFolder, last_flips
from pytest_puma.store.throughput import Throughput, read_throughput, write_throughput
from tests.factories import cell, evaluated, flip, model, outcome, run

_GATES = ("accuracy >= baseline - 0.02", "no_regression", "no_drift")
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
    entry = Entry.of(ran, commit="main@3f2c1d9", test="t.py::test_t")
    Baselines(folder / "baselines").write([Entry.of(ran, commit="x", test="t.py::test_t", old=entry)])
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

# -- changes -------------------------------------------------------------------------------------------

_VALUES = st.sampled_from(
    [
        "null", "true", "0", "-1", "1.5", "1e308", "NaN", "Infinity", "-Infinity", "1" + "0" * 400, "1e999",
        "1000000000", '""', '"x"', '"NaN"', '"0"', '"1e999"', '"\\u0000"', '"\\u001b[2J"', '"\\u202e"', '"\\ud800"',
        '"\\n"', '"a,b"', '"A-0"', '"' + "x" * 9999 + '"', "[]", "[[]]", "{}", "[1]", '["x"]', "[null]", '{"x": 1}',
        '{"": null}', "0.1", '{"role": "user"}', "[" * 400 + "]" * 400, '"last"', '"../../x"', "9223372036854775808",
    ]
).map(json.loads)  # fmt: skip


def _nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(each for key, part in inner for each in _nodes(part, (*path, key)))]


@st.composite
def _changed_json(draw: st.DrawFn, name: str, data: bytes) -> bytes:
    """A JSON file, or a line of one, with some values replaced, removed or renamed."""
    lines = data.decode().splitlines() if name.endswith("jsonl") else [data.decode()]
    at = draw(st.integers(0, len(lines) - 1))
    value = json.loads(lines[at])
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from(_nodes(value)))
        if not path:
            value = draw(_VALUES)
            continue
        parent = value
        for key in path[:-1]:
            parent = parent[key]
        match draw(st.integers(0, 3)):
            case 0 if isinstance(parent, dict):
                del parent[path[-1]]
            case 1 if isinstance(parent, dict):
                parent[draw(st.sampled_from(["", "x", "\x1b", "id"]))] = parent.pop(path[-1])
            case _:
                parent[path[-1]] = draw(_VALUES)
        if not isinstance(value, (dict, list)):
            break
    lines[at] = json.dumps(value)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


_PIECES = st.sampled_from(
    [
        b"\x00", b"\xff", b"\xef\xbb\xbf", b'"', b"'", b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\x1b[2J", b"-",
        b":", "\u202e\u2028\x85".encode(), b"\xed\xa0\x80", b"[" * 5000, b"{" * 5000, b'{"a":' * 3000, b"x" * 200_000,
        b"&a ", b"9" * 5000, b"9" * 400, b"NaN", b"Infinity", b"1e999", b'"\\ud800"', b'"\\x1b"', b"null", b"{}",
        b"[]", b"=", b"@", b"*a", b"[*a, *a]", b"<<: *a", b"a: &x [*x]\n", b"!!timestamp x", b"!!bool x", b"!!int x",
        b"!!int ''", b"!<x> ", b"!!float x", b"!!binary x", b"!!python/object:os.system x", b"!!null x", b"!!set x",
        b"2026-13-01", b"? ", b"| ", b"1:" * 200 + b"1", b"---\n", b"...\n", b"%YAML 9.9\n", b"#", b"`", b"%",
        b"0x" + b"f" * 5000, b"0b1_", b"2026-01-01 00:00:00 +99:99",
    ]
)  # fmt: skip


@st.composite
def _changed_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """A file with pieces put in, or in place of some bytes, or cut off."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        match draw(st.integers(0, 3)):
            case 0:
                data = data[:start]
            case 1:
                data = data[:start] + draw(_PIECES) + data[start + draw(st.integers(0, 20)) :]
            case 2:
                data = data[:start] + draw(st.binary(min_size=1, max_size=4)) + data[start + 1 :]
            case _:
                data = data[:start] + draw(_PIECES) + data[start:]
    return data


@st.composite
def _files(draw: st.DrawFn) -> tuple[str, str]:
    name = draw(st.sampled_from(sorted(SEEDS)))
    data = SEEDS[name]
    if name.endswith((".json", ".jsonl")) and draw(st.booleans()):
        changed = draw(_changed_json(name, data))
    elif name.endswith(".gz"):
        inner = draw(_changed_bytes(gzip.decompress(data)))
        changed = gzip.compress(inner) if draw(st.booleans()) else draw(_changed_bytes(data))
    else:
        changed = draw(_changed_bytes(data))
    return name, base64.b64encode(changed).decode()


#: The name of a file and its bytes in base64.
FILES = _files()

# -- readers -------------------------------------------------------------------------------------------


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
    evaluate(cell(scenario, samples=3), RecordedAnswers(given))
    return read_answers(given)


def _spec(path: Path) -> Any:
    return read_specs(path, Settings(registry=Registry()))


def _predictions(path: Path) -> Any:
    recorded = RecordedRun(path)
    models = recorded_models(recorded)
    spec = BenchmarkSpec(scenario=TriageJiraScenario())
    options = as_recorded(spec, recorded, test="t.py::test_t").options
    asked = cell(samples=2)
    evaluate(asked, Replay(recorded))
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
    asked = cell(samples=2, gates=_GATES)
    entry = baselines.find("triage_jira", asked.id)
    ran = evaluated(asked, baseline=entry)
    renewed = Entry.of(ran, commit="y", test="t.py::test_t", old=entry)
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
    asked = cell()
    if throughput is not None:
        throughput.seconds(asked.name, prompt_tokens=10, trials=2, max_tokens=5)
    lines = forecast_lines([], {own.name: throughput}, 80)
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
