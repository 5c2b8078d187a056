"""A run as JSON (format 2), the content of `run.json` and of `--puma-report json:PATH`.

`format`, `id`, `started`, `environment`, `verdicts` of the run and `outcomes`: for each cell its names, the `node_id`
and the `attempt` of its test, signature, measures, confusion matrix, bins of confidence, causes of missing answers,
verdicts, flips, warnings, determinism (null: not requested), usage, seconds, the numbers of `samples` and `trials`, and
the number of samples `left_out` because the gates were already decided. `problems`: sentences that fail the run
although no cell fails; `faults`: the tests that ended in an error, or failed for another reason than a gate; `notes`:
sentences on the models; `gates`: counts of the gates, with the chance of a false alarm; `robustness`: the effect of
perturbations on cells; `unchanged`: sentences on perturbations that changed no prompt; `contrasts`: the comparison
table; `rescored_from`: the run whose answers were read again (null: the answers were computed).
"""

from __future__ import annotations

import json

from pytest_puma.codec.plain import plain
from pytest_puma.core import Run

FORMAT = 2


def as_json(run: Run) -> str:
    """Return strict JSON with null for NaN; predictions are in the run folder."""
    data = {"format": FORMAT} | plain(run) | {"gates": plain(run.tally), "notes": plain(run.notes)}
    for outcome in data["outcomes"]:
        # Intermediate data: the verdicts, sentences and files of the run have the results.
        for name in ("predictions", "shared_prompts", "cross_cell_gates", "replicates", "contrasts", "drift", "notes"):
            del outcome[name]
    return json.dumps(data, allow_nan=False, ensure_ascii=False, indent=1) + "\n"
