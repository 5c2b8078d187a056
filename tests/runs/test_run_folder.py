"""The folder of a run: private, whole after a full disk, and continued where somebody removed it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pytest_puma import load_run
from pytest_puma.core import DataError, Message, Outcome
from pytest_puma.platform.locks import is_locked
from pytest_puma.runs.recorded_run import RecordedRun
from pytest_puma.runs.run_folder import RunFolder
from tests.disk import limited
from tests.factories import outcome, prediction, revised, run

SIGNATURE = {"samples": 2, "seed": 42, "generation": {"temperature": 0.0}, "engine": {}, "data": None}
QUOTE = "No invoice came"


def cell(name: str, *, size: int = 1) -> Outcome:
    """A cell with two predictions, which quote the sample everywhere."""
    predictions = [
        prediction(
            sample_id=sample,
            raw=("Billing" * size,),
            fields={"text": QUOTE},
            choices=(QUOTE, "other"),
            prompts=((Message(role="user", content=QUOTE),),),
            continuations=((QUOTE, "other"),),
        )
        for sample in ("a", "b")
    ]
    return outcome(name, predictions=predictions, node_id="t", signature=SIGNATURE)


def lines_of(folder: RunFolder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder.path / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]


def test_folders_and_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "r")
    folder.add(cell("triage-egi@m"))
    folder.finish(run())
    folder.close()
    modes = {str(path.relative_to(tmp_path)): path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {
        ".puma": 0o700,
        ".puma/.gitignore": 0o600,
        ".puma/runs": 0o700,
        ".puma/runs.txt": 0o600,
        ".puma/runs/r": 0o700,
        ".puma/runs/r/predictions.jsonl": 0o600,
        ".puma/runs/r/run.json": 0o600,
    }


def test_modes_and_ignored_files_that_a_user_changed_stay(tmp_path: Path) -> None:
    RunFolder(tmp_path, "r").close()
    (tmp_path / ".puma").chmod(0o755)
    (tmp_path / ".puma" / ".gitignore").write_text("runs\n", encoding="utf-8")
    RunFolder(tmp_path, "r").close()
    assert (tmp_path / ".puma").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / ".puma" / ".gitignore").read_text(encoding="utf-8") == "runs\n"


def test_a_run_folder_is_locked_until_the_run_is_over(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "r")
    assert (folder.path / ".lock").exists()
    folder.close()
    assert list(folder.path.iterdir()) == []
    assert not is_locked(folder.path)


def test_a_cell_that_does_not_fit_leaves_the_others_whole(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "r")
    folder.add(cell("triage-egi@m"))
    with limited(30_000), pytest.raises(OSError, match="File too large"):
        folder.add(cell("triage-rcoif@m", size=5_000))
    folder.add(cell("triage-zero_shot@m"))
    folder.close()
    assert [line["kind"] for line in lines_of(folder)] == ["cell", "prediction", "prediction"] * 2
    assert list(RecordedRun(folder.path / "predictions.jsonl").cells) == ["triage-egi@m", "triage-zero_shot@m"]


def test_a_folder_that_is_removed_meanwhile_is_made_again_and_the_loss_is_an_error(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "r")
    folder.add(cell("triage-egi@m"))
    folder.finish(run())
    shutil.rmtree(tmp_path / ".puma")
    folder.add(cell("triage-rcoif@m"))
    with pytest.raises(
        DataError, match=r"predictions.jsonl: another program removed cells of this run while it went on"
    ):
        folder.finish(run())
    folder.close()
    assert [line["cell"] for line in lines_of(folder)] == ["triage-rcoif@m"] * 3
    assert {path.name for path in folder.path.iterdir()} == {"predictions.jsonl", "run.json"}
    assert (tmp_path / ".puma" / ".gitignore").exists()
    assert (tmp_path / ".puma").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_removed_before_anything_is_in_it_is_no_loss(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "r")
    shutil.rmtree(tmp_path / ".puma")
    folder.add(cell("triage-egi@m"))
    folder.finish(run())
    folder.close()
    assert len(lines_of(folder)) == 3


def test_without_prompts_only_answers_are_kept(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "r", keep_prompts=False)
    folder.add(cell("triage-egi@m"))
    folder.finish(run())
    folder.close()
    first, line, _ = lines_of(folder)
    assert first["prompts"] is None
    assert line.keys().isdisjoint({"fields", "choices"})
    assert (line["sample_id"], line["transcripts"]) == ("a", {"model": [{"text": "Billing", "finish": "stop"}]})
    assert QUOTE not in (folder.path / "predictions.jsonl").read_text(encoding="utf-8")


def test_a_run_without_prompts_is_loaded_without_them(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "r", keep_prompts=False)
    folder.add(cell("triage-egi@m"))
    folder.finish(run(revised(cell("triage-egi@m"), trials=2)))
    folder.close()
    predictions = load_run(tmp_path).predictions
    assert list(predictions["sample_id"]) == ["a", "b"]
    assert predictions["prompt"].isna().all()
    assert "fields.text" not in predictions
