"""The shapes of the files of a run folder, checked where a file is read: what has passed has these types everywhere.

Any part that another version may lack is optional. `core.shape` has the notation.
"""

from __future__ import annotations

_NUMBER = (None, float)
_MESSAGES = [{"role": str, "content": str}]
_USAGE = {"prompt_tokens": int, "cached_tokens": int, "decoded_tokens": int, "seconds": float}
_LIKELIHOOD = {"total": _NUMBER, "end": _NUMBER, "tokens": int, "greedy": bool}
_OWNER = {"cell": str, "node_id": str, "attempt?": int}
_SIGNATURE = {
    "data?": (None, {"file?": str, "sha256?": (None, str)}),
    "samples?": (str, int),
    "seed?": int,
    "repeats?": int,
    "subjects?": [str],
    "generation?": {"temperature?": _NUMBER},
    "engine?": {str: object},
}
#: The first line of a cell in `predictions.jsonl`.
CELL = _OWNER | {"prompts": (None, [_MESSAGES]), "predictions?": int, "signature?": _SIGNATURE}
#: Parts of the signature that are needed to hold the conversations of a cell again.
RECORDED_CELL = CELL | {
    "signature": _SIGNATURE
    | {"samples": (str, int), "seed": int, "generation": {"temperature": _NUMBER}, "engine": {str: object}}
}
#: A line of a prediction there.
PREDICTION = {
    "sample_id": str,
    "trial": int,
    "gold?": str,
    **dict.fromkeys(("answer?", "failure?", "parsed?", "reply?"), (None, str)),
    "prompts": [(None, _MESSAGES)],
    "raw": [str],
    "finish": str,
    "logprobs": [_NUMBER],
    "probabilities?": (None, {str: _NUMBER}),
    "usage": _USAGE,
    "units?": [str],
    "references?": [str],
    "choices?": [str],
    "order?": [int],
    "likelihoods?": [_LIKELIHOOD],
    "unconditional?": [_LIKELIHOOD],
    "fields?": {str: object},
    "groups?": {str: str},
    "scores?": {str: (None, bool, float, [_NUMBER])},
    "responses?": [
        {
            "text?": str,
            "finish?": str,
            "usage?": [float],
            "logprobs?": (int, [_NUMBER]),
            "likelihoods?": [[(None, bool, float)]],
            "continuations?": [str],
        }
    ],
}
#: The parts of `run.json` that are not fields of our nouns.
RECORD = {"outcomes": [{"signature?": _SIGNATURE}], "notes?": [str]}
