"""The shape of `run.json`, checked where it is read: what has passed has these types everywhere.

Any part that another version may lack is optional. `core.shape` has the notation.
"""

from __future__ import annotations

_NUMBER = (None, float)
_SIGNATURE = {
    "data?": (None, {"file?": str, "sha256?": (None, str)}),
    "samples?": (str, int),
    "seed?": int,
    "repeats?": int,
    "retries?": int,
    "prompt_suffix?": str,
    "subjects?": [str],
    "generation?": {"temperature?": _NUMBER},
    "engine?": {str: object},
}
#: The parts of a signature that are needed to hold the conversations of a cell again.
RESCORED_SIGNATURE = _SIGNATURE | {
    "samples": (str, int),
    "seed": int,
    "generation": {"temperature": _NUMBER},
    "engine": {str: object},
}
#: The parts of `run.json` that are not fields of our nouns.
RECORD = {"outcomes": [{"signature?": _SIGNATURE}], "notes?": [str]}
