"""The run folder: `.puma/runs/<id>/` with `predictions.jsonl`, written as cells finish, and `run.json` (see `record`).

`predictions.jsonl` has one line a prediction: `cell`, the `node_id` of its test and the `attempt` (2 where a plugin ran
the test again), `sample_id`, `gold`, `answer` (null: none could be read), `raw` (the text of each response),
`probabilities`, `logprobs`, `finish`, `units`, `usage`.
"""

from __future__ import annotations

import json
from pathlib import Path

from pytest_puma.core import DataError, Outcome, Run
from pytest_puma.files import make_folder, write_whole
from pytest_puma.report.record import as_json
from pytest_puma.report.wire import plain


class RunFolder:
    """Created for one run alone; `.puma/` carries its own `.gitignore`. An `OSError` where it cannot be written."""

    def __init__(self, root: Path, run_id: str) -> None:
        self.path = make_folder(root / ".puma" / "runs" / run_id)
        (root / ".puma" / ".gitignore").write_text("*\n", encoding="utf-8")

    def add(self, outcome: Outcome) -> None:
        """Append the predictions of a cell, so that a run that is cut off keeps what it had."""
        with (self.path / "predictions.jsonl").open("a", encoding="utf-8") as stream:
            for prediction in outcome.predictions:
                data = {"cell": outcome.cell, "node_id": outcome.node_id, "attempt": outcome.attempt}
                data = plain(data) | plain(prediction)
                # The prompt's end is for the failure report; the prompt itself follows from the data and template.
                del data["prompt"]
                stream.write(json.dumps(data, allow_nan=False, ensure_ascii=False) + "\n")

    def finish(self, run: Run) -> None:
        """Write `run.json`, or write it anew."""
        write_whole(self.path / "run.json", as_json(run))


def last_flips(root: Path) -> dict[str, frozenset[str]]:
    """The samples whose answers had turned, by cell, in the newest run; a `DataError` where there are none."""
    found = sorted((root / ".puma" / "runs").glob("*/run.json"), key=_age)
    if not found:
        msg = f"there is no run in {root / '.puma' / 'runs'}; run with a baseline and --puma-flips first"
        raise DataError(msg)
    flips = {cell: ids for cell, ids in _flips(found[-1]).items() if ids}
    if not flips:
        msg = f"no answer has turned in {found[-1].parent}; run with a baseline and --puma-flips first"
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
