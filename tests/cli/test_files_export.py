"""`pytest-puma export`: measures and predictions of a run as a file for other programs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from pytest_puma.core import Outcome
from pytest_puma.platform.project_folder import runs_of
from tests.cli.console import lines
from tests.runs.runs import keep, triaged

FIRST = "20261101T100000-1"


@pytest.fixture
def answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    monkeypatch.chdir(tmp_path)
    cell = triaged("=1+1")
    keep(tmp_path, FIRST, [cell])
    return cell


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl", "parquet"])
def test_measures_are_exported_with_all_digits(
    answered: Outcome, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    count = len(answered.measures)
    assert lines(capsys, "export", "last", "-o", f"run.{suffix}") == [f"run.{suffix}: {count} rows"]
    frame = read(suffix)
    assert list(frame["metric"]) == list(answered.measures)
    assert frame["value"].to_numpy(dtype=float) == pytest.approx(
        [each.value for each in answered.measures.values()], rel=0, abs=0, nan_ok=True
    )


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl", "parquet"])
def test_predictions_are_exported_with_their_texts(
    answered: Outcome, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    assert lines(capsys, "export", "1", "--predictions", "-o", f"run.{suffix}") == [f"run.{suffix}: 12 rows"]
    frame = read(suffix)
    assert list(frame["sample_id"]) == [each.sample_id for each in answered.predictions]
    assert list(frame["raw"]) == ["'=1+1" if suffix == "csv" else "=1+1"] * 12, "no spreadsheet calculates it"


def read(suffix: str) -> pd.DataFrame:
    path = Path(f"run.{suffix}")
    if suffix == "csv":
        with path.open(encoding="utf-8", newline="") as stream:
            return pd.DataFrame(list(csv.DictReader(stream))).replace("", None)
    if suffix == "parquet":
        return pd.read_parquet(path)
    text = path.read_text(encoding="utf-8")
    return pd.DataFrame(json.loads(text) if suffix == "json" else [json.loads(line) for line in text.splitlines()])


@pytest.mark.usefixtures("answered")
def test_a_cell_that_was_cut_off_is_left_out_of_an_export_with_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = runs_of(tmp_path) / FIRST / "predictions.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    first, second = lines(capsys, "export", "last", "--predictions", "-o", "run.jsonl")
    assert first == "run.jsonl: 0 rows"
    assert second.startswith("warning: load_run: ")
    assert "11 of the 12 predictions of triage_jira-zero_shot@script are there; the cell is left out" in second
