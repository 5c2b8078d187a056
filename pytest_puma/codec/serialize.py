"""An outcome as lines of strict JSON, its form on a test report, also between processes (back: `deserialize`).

JSON has no NaN and infinity: they become `null`, and NaN on the way back. UTF-8 has no lone surrogates: they become
U+FFFD. Any other object on a report would end an xdist worker.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from pytest_puma.codec import responses
from pytest_puma.core import Outcome, Prediction


def to_lines(outcome: Outcome) -> str:
    """Return a line for the outcome without its predictions, then a line for each prediction."""
    rest = {name: plain(getattr(outcome, name)) for name in _names(Outcome) if name != "predictions"}
    return "\n".join([_dumped(rest), *map(prediction_json, outcome.predictions)])


def prediction_json(prediction: Prediction) -> str:
    """Return the object of a prediction, in one line.

    Runs have thousands of predictions with a hundred values each, of which hardly one needs a conversion.
    """
    whole = {name: getattr(prediction, name) for name in _PREDICTION} | {"responses": responses.packed(prediction)}
    try:
        text = _dumped(whole)
        text.encode()
    except (TypeError, ValueError):  # a key that is no text, NaN, or a lone surrogate
        return _dumped(plain(prediction))
    return text


def _dumped(value: Any) -> str:
    return json.dumps(value, default=_shallow, allow_nan=False, ensure_ascii=False)


def _shallow(value: Any) -> Any:
    """Convert what JSON has no form for; the encoder converts its parts."""
    if is_dataclass(value):
        kind: object = type(value)
        return {name: getattr(value, name) for name in _names(kind)}
    return {str(key): entry for key, entry in value.items()} if isinstance(value, Mapping) else _other(value)


def plain(value: Any) -> Any:
    """Convert to JSON types: dictionaries, lists, text and numbers; anything else becomes text."""
    kind = type(value)
    if kind is str:
        return storable(value)
    return value if kind in _JSON_TYPES else _converted(value)


def _converted(value: Any) -> Any:
    """Convert anything that is more than a text or a whole number, for which these questions would be too slow."""
    if isinstance(value, Prediction):
        return _plain_prediction(value)
    if is_dataclass(value):
        kind: object = type(value)
        return {name: plain(getattr(value, name)) for name in _names(kind)}
    if isinstance(value, Mapping):
        return {storable(str(key)): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, str):
        return storable(value)
    return value if isinstance(value, (bool, int)) else _other(value)


def _plain_prediction(prediction: Prediction) -> dict[str, Any]:
    """The fields of a prediction; its responses in the compact form of `responses`, which has its continuations too."""
    whole = {name: plain(getattr(prediction, name)) for name in _PREDICTION}
    return whole | {"responses": plain(responses.packed(prediction))}


@cache
def _names(kind: object) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))  # type: ignore[arg-type]


_JSON_TYPES = frozenset({bool, int, type(None)})
_PREDICTION = tuple(name for name in _names(Prediction) if name not in {"responses", "continuations"})


def storable(text: str) -> str:
    """Return the text itself, with U+FFFD for each lone surrogate if it has any."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")
    return text


def _other(value: Any) -> Any:
    """Convert floats, NumPy arrays and scalars, and any other object, such as a cell of a data file."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return plain(value.tolist()) if hasattr(value, "tolist") else storable(str(value))
