"""The run folder: `.puma/runs/<id>/` with `predictions.jsonl`, written as cells finish, and `run.json` (see `record`).

`predictions.jsonl` has two kinds of lines. `cell`, the `node_id` of the test and the `attempt` (2 if a plugin ran the
test again) assign a prediction to its cell:

    {"kind": "cell", ..., "signature": {...}, "prompts": [[{"role": "user", "content": "Which team? "}]], ...}
    {"kind": "prediction", ..., "prompts": [[{"role": "user", "content": "No invoice came."}]], "sample_id": "T-1", ...}

The line of the cell comes first. `predictions` is the number of the lines after it: fewer are there if the process was
killed while it wrote them. Its `prompts` are the common beginnings of the first prompts of all samples, of the
second prompts, and so on. The first message of a prediction's prompt continues the last message of that beginning; null
repeats the preceding prompt. A prediction has `sample_id`, `trial`, `gold`, `answer` (null: parse failure), `failure`
(its cause), `parsed`, `raw` (the text of each response), `probabilities`, `logprobs`, `finish`, `units`, `scores`,
`usage`, the `fields` and `groups` of the sample, for choices and texts `references`, `choices`, `order`, `reply`,
`likelihoods` and `unconditional`, and `responses`: what else is needed to hold the conversation again without a model.
"""

from __future__ import annotations

import json
from pathlib import Path

from pytest_puma.core import DataError, Outcome, Run
from pytest_puma.core.atomic import appending, make_folder, write_whole
from pytest_puma.core.json_text import parse_json
from pytest_puma.store.record import as_json
from pytest_puma.store.serialize import plain, prediction_json

PREDICTIONS, RECORD = "predictions.jsonl", "run.json"


class RunFolder:
    """The folder of one run; `.puma/` has its own `.gitignore`. Raises an `OSError` if it cannot be written."""

    def __init__(self, root: Path, run_id: str) -> None:
        self.path = make_folder(root / ".puma" / "runs" / run_id)
        (root / ".puma" / ".gitignore").write_text("*\n", encoding="utf-8")

    def add(self, outcome: Outcome) -> None:
        """Append the predictions of a cell at once, so that an interrupted run keeps them."""
        names = {"cell": outcome.cell, "node_id": outcome.node_id, "attempt": outcome.attempt}
        with appending(self.path / PREDICTIONS) as stream:
            known = {
                "model": outcome.model,
                "signature": outcome.signature,
                "prompts": outcome.shared_prompts,
                "predictions": len(outcome.predictions),
            }
            stream.write(_line({"kind": "cell"} | plain(names | known)))
            head = _line({"kind": "prediction"} | plain(names)).removesuffix("}\n")
            stream.writelines(f"{head}, {prediction_json(each)[1:]}\n" for each in outcome.predictions)

    def finish(self, run: Run) -> None:
        """Write or overwrite `run.json`."""
        write_whole(self.path / RECORD, as_json(run))


def _line(data: dict[str, object]) -> str:
    return json.dumps(data, allow_nan=False, ensure_ascii=False) + "\n"


def newest_run(runs: Path) -> Path | None:
    """Return the `run.json` of the newest finished run in a folder of run folders, None if there is none."""
    return max(runs.glob(f"*/{RECORD}"), key=age, default=None)


def last_flips(root: Path) -> dict[str, frozenset[str]]:
    """Return the flipped samples of the newest run, by cell; a `DataError` if there are none."""
    newest = newest_run(root / ".puma" / "runs")
    if newest is None:
        msg = f"found no run in {root / '.puma' / 'runs'}; run with a baseline and --puma-flips first"
        raise DataError(msg)
    flips = {cell: ids for cell, ids in _flips(newest).items() if ids}
    if not flips:
        msg = f"found no flips in {newest.parent}; run with a baseline and --puma-flips first"
        raise DataError(msg)
    return flips


def age(path: Path) -> tuple[str, int]:
    """Return a sort key: the second in the name of the folder, which copying keeps, then the time of the file."""
    return path.parent.name.partition("-")[0], path.stat().st_mtime_ns


def _flips(path: Path) -> dict[str, frozenset[str]]:
    try:
        outcomes = parse_json(path.read_text(encoding="utf-8"))["outcomes"]
        return {each["cell"]: frozenset(flip["sample_id"] for flip in each["flips"]) for each in outcomes}
    except (OSError, ValueError, KeyError, TypeError) as error:
        msg = f"{path} cannot be read ({type(error).__name__}: {error}); delete {path.parent} or run again"
        raise DataError(msg) from error
