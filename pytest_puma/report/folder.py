"""The run folder: `.puma/runs/<id>/` with `predictions.jsonl`, written as cells finish, and `run.json` (see `record`).

`predictions.jsonl` has one line a prediction: `cell`, `sample_id`, `gold`, `answer` (null: none could be read), `raw`
(the text of each response), `probabilities`, `logprobs`, `finish`, `units`, `usage`.
"""

from __future__ import annotations

import json
from pathlib import Path

from pytest_puma.core import DataError, Outcome, Run
from pytest_puma.report.record import as_json
from pytest_puma.report.wire import plain


class RunFolder:
    """Created with the first outcome; carries its own `.gitignore`."""

    def __init__(self, root: Path, run_id: str) -> None:
        self.path = root / ".puma" / "runs" / run_id

    def add(self, outcome: Outcome) -> None:
        """Append the predictions of a cell, so that a run that is cut off keeps what it had."""
        if not self.path.exists():
            self.path.mkdir(parents=True)
            (self.path.parents[1] / ".gitignore").write_text("*\n", encoding="utf-8")
        with (self.path / "predictions.jsonl").open("a", encoding="utf-8") as stream:
            for prediction in outcome.predictions:
                data = {"cell": outcome.cell} | plain(prediction)
                # The prompt's end is for the failure report; the prompt itself follows from the data and template.
                del data["prompt"]
                stream.write(json.dumps(data, allow_nan=False, ensure_ascii=False) + "\n")

    def finish(self, run: Run) -> None:
        """Write `run.json`."""
        (self.path / "run.json").write_text(as_json(run), encoding="utf-8")


def last_flips(root: Path) -> dict[str, frozenset[str]]:
    """The samples whose answers had turned, by cell, in the newest run; a `DataError` where there are none."""
    found = sorted((root / ".puma" / "runs").glob("*/run.json"))
    if not found:
        msg = f"there is no run in {root / '.puma' / 'runs'}; run with a baseline and --puma-flips first"
        raise DataError(msg)
    outcomes = json.loads(found[-1].read_text(encoding="utf-8"))["outcomes"]
    flips = {each["cell"]: frozenset(flip["sample_id"] for flip in each["flips"]) for each in outcomes if each["flips"]}
    if not flips:
        msg = f"no answer has turned in {found[-1].parent}; run with a baseline and --puma-flips first"
        raise DataError(msg)
    return flips
