"""The run folder: `.puma/runs/<id>/` with `predictions.jsonl`, written as cells finish, and `run.json` (see `record`).

`predictions.jsonl` has two kinds of lines, which `cell`, the `node_id` of its test and the `attempt` (2 where a plugin
ran the test again) tie together:

    {"kind": "cell", ..., "prompts": [[{"role": "user", "content": "Which team? "}]]}
    {"kind": "prediction", ..., "prompts": [[{"role": "user", "content": "No invoice came."}]], "sample_id": "T-1", ...}

That of the cell comes first, with what its prompts begin with: the first prompts of all samples, the second ones, and
so on. The first message of a prediction's prompt continues the last message there; null is the prompt before, again.
A prediction has `sample_id`, `gold`, `answer` (null: none could be read), `failure` (why), `parsed`, `raw` (the text of
each response), `probabilities`, `logprobs`, `finish`, `units`, `usage`, and the sample's `fields`.
"""

from __future__ import annotations

import json
from pathlib import Path

from pytest_puma.core import DataError, Outcome, Run
from pytest_puma.core.atomic import make_folder, write_whole
from pytest_puma.store.record import as_json
from pytest_puma.store.serialize import plain

PREDICTIONS, RECORD = "predictions.jsonl", "run.json"


class RunFolder:
    """Created for one run alone; `.puma/` carries its own `.gitignore`. An `OSError` where it cannot be written."""

    def __init__(self, root: Path, run_id: str) -> None:
        self.path = make_folder(root / ".puma" / "runs" / run_id)
        (root / ".puma" / ".gitignore").write_text("*\n", encoding="utf-8")

    def add(self, outcome: Outcome) -> None:
        """Append the predictions of a cell, so that a run that is cut off keeps what it had."""
        names = {"cell": outcome.cell, "node_id": outcome.node_id, "attempt": outcome.attempt}
        with (self.path / PREDICTIONS).open("a", encoding="utf-8") as stream:
            stream.write(_line({"kind": "cell"} | names | {"prompts": outcome.shared_prompts}))
            for prediction in outcome.predictions:
                stream.write(_line({"kind": "prediction"} | names | plain(prediction)))

    def finish(self, run: Run) -> None:
        """Write `run.json`, or write it anew."""
        write_whole(self.path / RECORD, as_json(run))


def _line(data: dict[str, object]) -> str:
    return json.dumps(plain(data), allow_nan=False, ensure_ascii=False) + "\n"


def newest_run(runs: Path) -> Path | None:
    """The `run.json` of the newest run in a folder of run folders, None where it holds no finished one."""
    return max(runs.glob(f"*/{RECORD}"), key=_age, default=None)


def last_flips(root: Path) -> dict[str, frozenset[str]]:
    """The samples whose answers had turned, by cell, in the newest run; a `DataError` where there are none."""
    newest = newest_run(root / ".puma" / "runs")
    if newest is None:
        msg = f"there is no run in {root / '.puma' / 'runs'}; run with a baseline and --puma-flips first"
        raise DataError(msg)
    flips = {cell: ids for cell, ids in _flips(newest).items() if ids}
    if not flips:
        msg = f"no answer has turned in {newest.parent}; run with a baseline and --puma-flips first"
        raise DataError(msg)
    return flips


def _age(path: Path) -> tuple[str, int]:
    """By the second in the folder's name, which copying keeps; within it by the clock of the file."""
    return path.parent.name.partition("-")[0], path.stat().st_mtime_ns


def _flips(path: Path) -> dict[str, frozenset[str]]:
    try:
        outcomes = json.loads(path.read_text(encoding="utf-8"))["outcomes"]
        return {each["cell"]: frozenset(flip["sample_id"] for flip in each["flips"]) for each in outcomes}
    except (OSError, ValueError, KeyError, TypeError) as error:
        msg = f"{path} cannot be read ({type(error).__name__}: {error}); delete {path.parent}, or run again"
        raise DataError(msg) from error
