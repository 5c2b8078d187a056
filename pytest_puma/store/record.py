"""A run as JSON (format 2): what `run.json` of the run folder holds, and `--puma-report json:PATH` writes.

`format`, `id`, `started`, `environment`, `verdicts` of the run and `outcomes`: for each cell its names, the `node_id`
and the `attempt` of its test, signature, measures, confusion matrix, causes of missing answers, verdicts, flips,
warnings, determinism (null: not asked for), usage, seconds, and how many samples were `left_out` as the gates were
decided without them; `problems` are sentences that made the run fail although no cell did; `faults` are the tests that
ended in an error, or failed by something else than a gate; `notes` are sentences on the models; `gates` counts the
gates, with the run's chance of a false alarm; `robustness` is what perturbations did to cells, `unchanged` are
sentences on those that changed no prompt, `contrasts` are the comparison table.
"""

from __future__ import annotations

import json

from pytest_puma.core import Run
from pytest_puma.gates.tally import tally
from pytest_puma.store.serialize import plain

FORMAT = 2


def as_json(run: Run) -> str:
    """Strict JSON with null for NaN; predictions are in the run folder."""
    data = {"format": FORMAT} | plain(run) | {"gates": plain(tally(run)), "notes": list(run.notes)}
    for outcome in data["outcomes"]:
        # What the run's own verdicts, sentences and files were made of.
        for name in ("predictions", "shared_prompts", "across", "replicates", "contrasts", "drift", "notes"):
            del outcome[name]
    return json.dumps(data, allow_nan=False, ensure_ascii=False, indent=1) + "\n"
