"""The run folder: `.puma/runs/<id>/` with `predictions.jsonl`, written as cells finish, and `run.json`.

`predictions.jsonl` has two kinds of lines. `cell`, the `node_id` of the test and the `attempt` (2 if a plugin ran the
test again) assign a prediction to its cell:

    {"kind": "cell", ..., "signature": {...}, "prompts": [[{"role": "user", "content": "Which team? "}]], ...}
    {"kind": "prediction", ..., "sample_id": "T-1", "transcripts": {"model": [{"prompt": [...], "text": "Sales"}]}}

The line of the cell comes first, with the number of its `predictions`: fewer follow if the process was killed while it
wrote them. Its `prompts` are the common beginnings of the first prompts of all samples, of the second prompts, and so
on; null if the run keeps no prompts. `codec.predictions` has the format of a prediction: in its `transcripts`, the
first message of a prompt continues the last message of that beginning; a turn without a prompt repeats the one before.

`run.json`, and a report `json:PATH`, is a run as JSON (format 2):
`format`, `id`, `started`, `environment`, `verdicts` of the run and `outcomes`: for each cell its names, the `node_id`
and the `attempt` of its test, signature, measures, confusion matrix, bins of confidence, causes of missing answers,
verdicts, flips, warnings, determinism (null: not requested), usage, seconds, the numbers of `samples` and `trials`, and
the number of samples `left_out` because the gates were already decided. `problems`: sentences that fail the run
although no cell fails; `faults`: the tests that ended in an error, or failed for another reason than a gate; `notes`:
sentences on the models; `gates`: counts of the gates, with the chance of a false alarm; `variants`: the effect of what
was put on a model, and `fronts`, the trade-offs, if there was any; `best`: sentences, if cells were compared;
`robustness`: the effect of perturbations on cells; `unchanged`: sentences on perturbations that changed no prompt;
`contrasts`: the comparison table; `rescored_from`: the run whose answers were read again (null: the answers were
computed).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from pytest_puma.codec.outcomes import PredictionLines, flat
from pytest_puma.codec.plain import plain
from pytest_puma.codec.predictions import CellLine, cell_json, prediction_json
from pytest_puma.core import DataError, Outcome, Prediction, Run, Transcript
from pytest_puma.core.prediction import changed
from pytest_puma.platform.files import PRIVATE, append, make_folder, write_whole
from pytest_puma.platform.locks import locked
from pytest_puma.platform.project_folder import MODE, make_runs
from pytest_puma.runs.run_order import PREDICTIONS, RECORD, add_run

FORMAT = 2


def as_json(run: Run) -> str:
    """Return strict JSON with null for NaN; predictions are in the run folder."""
    outcomes = [flat(outcome) for outcome in run.outcomes]
    for outcome in outcomes:
        # Intermediate data: the verdicts, sentences and files of the run have the results.
        for name in ("shared_prompts", "cross_cell_gates", "replicates", "contrasts", "drift", "notes"):
            del outcome[name]
    data = {"format": FORMAT} | plain(replace(run, outcomes=()))
    for name in ("variants", "fronts", "best", "weights"):
        if not data[name]:
            del data[name]  # as before there were any
    for outcome in outcomes:
        if not outcome["peak_memory"]:
            del outcome["peak_memory"]
    data |= {"outcomes": outcomes, "gates": plain(run.tally), "notes": plain(run.notes)}
    return json.dumps(data, allow_nan=False, ensure_ascii=False, indent=1) + "\n"


class RunFolder:
    """The folder of one run, locked until `close`. Its methods raise an `OSError` if it cannot be written.

    `keep_prompts`: whether predictions have prompts, and the rows of the samples.
    """

    def __init__(self, root: Path, run_id: str, *, keep_prompts: bool = True) -> None:
        self._root, self._keep_prompts = root, keep_prompts
        self._end, self._lost = 0, False
        self.path = make_folder(make_runs(root) / run_id, mode=MODE)
        self._lock = ExitStack()
        # Without locks, no run removes files of another one, and their names tell their order.
        with suppress(OSError):
            self._lock.enter_context(locked(self.path))
            add_run(self.path)

    def add(self, outcome: Outcome) -> None:
        """Append the predictions of a cell at once, so that an interrupted run keeps them."""
        self._make_again()
        self._end = append(self.path / PREDICTIONS, self._lines(outcome), end=self._end, mode=PRIVATE)

    def finish(self, run: Run) -> None:
        """Write or overwrite `run.json`; a `DataError` if another program removed predictions of this run."""
        self._make_again()
        write_whole(self.path / RECORD, as_json(run), mode=PRIVATE)
        if self._lost:
            msg = f"{self.path / PREDICTIONS}: another program removed cells of this run while it went on; run again"
            raise DataError(msg)

    def close(self) -> None:
        """Release the lock: the run is over."""
        self._lock.close()

    def _make_again(self) -> None:
        """Make the folder again if another program removed it, so that the cells to come have a place."""
        make_runs(self._root)
        if not self.path.exists():
            self.path.mkdir(MODE, exist_ok=True)
            with suppress(OSError):
                add_run(self.path)
        file = self.path / PREDICTIONS
        size = file.stat().st_size if file.exists() else 0
        if size < self._end:
            self._end, self._lost = size, True

    def _lines(self, outcome: Outcome) -> Iterator[str]:
        cell = CellLine(
            cell=outcome.cell,
            node_id=outcome.execution.node_id,
            attempt=outcome.execution.attempt,
            model=outcome.name.model,
            signature=plain(outcome.execution.signature),
            predictions=len(outcome.predictions),
            prompts=outcome.execution.shared_prompts if self._keep_prompts else None,
        )
        yield f"{cell_json(cell)}\n"
        names = {"cell": outcome.cell, "node_id": outcome.execution.node_id, "attempt": outcome.execution.attempt}
        head = json.dumps({"kind": "prediction"} | plain(names), allow_nan=False, ensure_ascii=False)
        yield from (f"{head[:-1]}, {line[1:]}\n" for line in self._predictions(outcome))

    def _predictions(self, outcome: Outcome) -> Iterable[str]:
        """The JSON of each prediction."""
        predictions = outcome.predictions
        if not self._keep_prompts:
            return (prediction_json(_without_prompts(prediction)) for prediction in predictions)
        return predictions.lines if isinstance(predictions, PredictionLines) else map(prediction_json, predictions)


def _without_prompts(prediction: Prediction) -> Prediction:
    """The prediction without what was asked: prompts, the row of the sample, choices and scored texts."""
    transcripts = {
        role: Transcript(tuple(replace(turn, prompt=None, continuations=()) for turn in transcript.turns))
        for role, transcript in prediction.transcripts.items()
    }
    return changed(prediction, fields={}, choices=(), transcripts=transcripts)
