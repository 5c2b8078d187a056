"""A run of the past as pandas frames."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_puma import load_run
from pytest_puma.core import DataError, Likelihood
from pytest_puma.runs.run_folder import RunFolder
from tests import factories
from tests.factories import fault, revised, run
from tests.runs.loaded_runs import BEST, GATES, evaluated, finished_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return finished_folder(tmp_path)


def test_a_row_of_predictions_has_every_field_of_an_answer(folder: Path) -> None:
    predictions = load_run(folder).predictions
    assert len(predictions) == 24
    assert list(predictions["cell"].unique()) == ["triage_jira-zero_shot@script", "triage_jira-egi@script"]
    row = predictions.iloc[0]
    assert (row["scenario"], row["strategy"], row["model"]) == ("triage_jira", "zero_shot", "script")
    assert (row["answer"], row["raw"], row["finish"], row["failure"]) == ("Major", "Answer: Major", "stop", None)
    assert row["gold"] == row["fields.priority"]
    assert f"Title: {row['fields.title']}\nDescription: {row['fields.description']}" in row["prompt"]
    assert row["prompt"].startswith("[system]\nYou are")
    assert row["usage.prompt_tokens"] > 100


def test_likelihoods_and_the_order_of_choices_are_columns(tmp_path: Path) -> None:
    likelihood = Likelihood(total=-1.5, end=None, tokens=2, greedy=True)
    scored = factories.prediction(
        "1", likelihoods=(likelihood,), choices=("a", "b"), order=(1, 0), reply="b", references=("b", "c")
    )
    written = RunFolder(tmp_path, "r")
    outcome = revised(factories.outcome(predictions=(scored,)), trials=1)
    written.add(outcome)
    written.finish(run(outcome))
    row = load_run(tmp_path).predictions.iloc[0]
    assert row["likelihoods"] == [{"total": -1.5, "end": None, "tokens": 2, "greedy": True}]
    assert (row["order"], row["reply"], row["references"], row["unconditional"]) == ([1, 0], "b", ["b", "c"], [])
    assert row["choices"] == ["a", "b"]


def test_every_request_of_a_sample_is_there_with_its_reply(folder: Path) -> None:
    row = load_run(folder).predictions.query("strategy == 'egi'").iloc[0]
    assert [[message["role"] for message in prompt] for prompt in row["messages"]] == [
        ["system", "user"],
        ["system", "user", "assistant", "user"],
    ]
    assert row["messages"][1][:2] == row["messages"][0]
    assert row["replies"] == ["Answer: Major", "Answer: Major"]
    assert row["prompt"].endswith(row["messages"][1][3]["content"])


def test_of_a_test_that_ran_again_the_last_attempt_counts(folder: Path) -> None:
    predictions = load_run(folder).predictions
    assert set(predictions.query("strategy == 'egi'")["attempt"]) == {2}
    assert predictions["failure"].isna().all()


def test_probabilities_have_a_column_for_each_label(tmp_path: Path) -> None:
    written = RunFolder(tmp_path, "r")
    outcome = evaluated("option_scoring", "Minor")
    written.add(outcome)
    written.finish(run(outcome))
    predictions = load_run(tmp_path).predictions
    labels = [f"probabilities.{label}" for label in ("Critical", "Major", "Minor", "Trivial")]
    assert predictions[labels].sum(axis=1).tolist() == pytest.approx([1.0] * 12)
    assert (predictions[labels].idxmax(axis=1) == "probabilities.Minor").all()


def test_measures_and_verdicts_are_frames_too(folder: Path) -> None:
    loaded = load_run(folder)
    measures, columns = loaded.measures, ["low", "value", "high", "n"]
    low, value, high, n = measures.query("strategy == 'zero_shot' and metric == 'accuracy'")[columns].iloc[0].tolist()
    assert (value, n) == (0.25, 12)
    assert low < 0.25 < high
    assert list(loaded.verdicts["gate"]) == [*GATES * 2, str(BEST.gate)]
    assert list(loaded.verdicts["status"]) == ["PASS", "NO BASELINE", "PASS", "NO BASELINE", "FAIL"]
    assert list(loaded.verdicts["fails"]) == [False, False, False, False, True]
    assert loaded.verdicts["value"].tolist()[0] == 0.25
    assert loaded.verdicts["cell"].isna().tolist() == [False, False, False, False, True]


def test_a_run_is_found_by_its_folder_its_record_and_its_project(folder: Path, tmp_path: Path) -> None:
    newer = RunFolder(tmp_path, "20250101T000000-1")
    newer.finish(run(id="2"))
    for place in (folder, folder / "run.json", str(folder)):
        assert load_run(place).record["id"] == "1"
    for place in (newer.path, tmp_path, tmp_path / ".puma", folder.parent):
        assert load_run(place).record["id"] == "2"
    assert load_run(newer.path).measures.empty


def test_nothing_to_load_says_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"load_run: .*nowhere: no such file or folder; expected a run folder"):
        load_run(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"no finished run in it; expected a run folder, its run.json or the folder"):
        load_run(tmp_path)


def test_the_shared_beginning_is_written_once(folder: Path) -> None:
    lines = [json.loads(line) for line in (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]
    kinds = [line["kind"] for line in lines]
    assert kinds == ["cell", *["prediction"] * 12] * 3
    system = lines[0]["prompts"][0][0]["content"]
    assert not any(system in json.dumps(line) for line in lines if line["kind"] == "prediction")


def test_a_run_whose_every_cell_was_an_error_has_empty_frames(tmp_path: Path) -> None:
    written = RunFolder(tmp_path, "20260101T000000-1")
    written.finish(run(faults=(fault("a-b@c", "setup", "no"),)))

    loaded = load_run(tmp_path)
    assert loaded.predictions.empty
    assert loaded.measures.empty
    assert loaded.record["faults"][0]["message"] == "no"
