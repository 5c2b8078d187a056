"""An outcome as one line of strict JSON, and back: its form on a test report, also between processes.

JSON has no NaN and infinity: they become `null`, and NaN on the way back. UTF-8 has no lone surrogates: they become
U+FFFD. Any other object on a report would end an xdist worker.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from pytest_puma.core import (
    BootstrapReplicates,
    Change,
    Contrast,
    DeclaredScore,
    Determinism,
    Drift,
    Flip,
    Gate,
    Kept,
    Likelihood,
    Measure,
    Message,
    Messages,
    Outcome,
    Power,
    Prediction,
    Speed,
    Task,
    Usage,
    Verdict,
)
from pytest_puma.store import responses


def to_json(outcome: Outcome) -> str:
    """Return one line of ASCII."""
    rest = {name: plain(getattr(outcome, name)) for name in _names(Outcome) if name != "predictions"}
    predictions = ", ".join(prediction_json(prediction, ascii_only=True) for prediction in outcome.predictions)
    return f'{_dumped(rest, ascii_only=True)[:-1]}, "predictions": [{predictions}]}}'


def from_json(text: str) -> Outcome:
    """Read the outcome that `to_json` wrote."""
    data = json.loads(text)
    data["predictions"] = tuple(_prediction(entry) for entry in data["predictions"])
    data["shared_prompts"] = tuple(messages_from(messages) for messages in data["shared_prompts"])
    data["measures"] = {name: measure_from(entry) for name, entry in data["measures"].items()}
    data["verdicts"] = tuple(_verdict(entry) for entry in data["verdicts"])
    data["determinism"] = data["determinism"] and _determinism(data["determinism"])
    data["drift"] = data["drift"] and Drift(**data["drift"])
    data["flips"] = tuple(map(_flip, data["flips"]))
    data["cross_cell_gates"] = tuple(Gate(**entry) for entry in data["cross_cell_gates"])
    data["contrasts"] = tuple(map(_contrast, data["contrasts"]))
    data["replicates"] = {name: _replicates(entry) for name, entry in data["replicates"].items()}
    data["naive_baselines"] = {
        baseline: {name: measure_from(entry) for name, entry in measures.items()}
        for baseline, measures in data["naive_baselines"].items()
    }
    data["kept"] = data["kept"] and Kept(**data["kept"] | {"runs": tuple(data["kept"]["runs"])})
    data["task"] = data["task"] and _task(data["task"])
    data["usage"], data["speed"] = Usage(**data["usage"]), Speed(**data["speed"])
    return Outcome(**data | {name: tuple(data[name]) for name in ("metrics", "warnings", "notes")})


def prediction_json(prediction: Prediction, *, ascii_only: bool = False) -> str:
    """Return the object of a prediction, in one line.

    Runs have thousands of predictions with a hundred values each, of which hardly one needs a conversion.
    """
    whole = {name: getattr(prediction, name) for name in _PREDICTION} | {"responses": responses.packed(prediction)}
    try:
        text = _dumped(whole)
        text.encode()
    except (TypeError, ValueError):  # a key that is no text, NaN, or a lone surrogate
        return _dumped(plain(prediction), ascii_only=ascii_only)
    return text if not ascii_only or text.isascii() else _dumped(whole, ascii_only=True)


def _dumped(value: Any, *, ascii_only: bool = False) -> str:
    return json.dumps(value, default=_shallow, allow_nan=False, ensure_ascii=ascii_only)


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


def _prediction(entry: dict[str, Any]) -> Prediction:
    """Read a prediction; those of older versions have no choices, references and likelihoods."""
    tuples: dict[str, Any] = {name: tuple(entry[name]) for name in ("raw", "logprobs", "units")}
    tuples |= {name: tuple(entry.get(name, ())) for name in ("references", "choices", "order")}
    for name in ("likelihoods", "unconditional"):
        tuples[name] = tuple(Likelihood(**each) for each in entry.get(name, ()))
    prompts = tuple(None if messages is None else messages_from(messages) for messages in entry["prompts"])
    scores = {name: tuple(value) if isinstance(value, list) else value for name, value in entry["scores"].items()}
    recorded, continuations = responses.unpacked(entry)
    return Prediction(
        **entry
        | tuples
        | {"prompts": prompts, "scores": scores, "usage": Usage(**entry["usage"])}
        | {"responses": recorded, "continuations": continuations}
    )


def messages_from(entries: Iterable[dict[str, Any]]) -> Messages:
    """Read messages that `plain` converted."""
    return tuple(Message(**entry) for entry in entries)


def measure_from(entry: dict[str, Any]) -> Measure:
    """Read a measure that `plain` converted."""
    return Measure(**_with_nan(entry, "value", "low", "high"))


def _verdict(entry: dict[str, Any]) -> Verdict:
    measure, change, power = entry["measure"], entry["change"], entry["power"]
    return Verdict(
        **entry
        | {
            "gate": Gate(**entry["gate"]),
            "measure": measure and measure_from(measure),
            "change": change and _change(change),
            "power": power and Power(**power | {"needed": math.inf if power["needed"] is None else power["needed"]}),
        }
    )


def _change(entry: dict[str, Any]) -> Change:
    return Change(**_with_nan(entry, "old", "new", "value", "low", "high"))


def _contrast(entry: dict[str, Any]) -> Contrast:
    return Contrast(**entry | {"change": _change(entry["change"])})


def _replicates(entry: dict[str, Any]) -> BootstrapReplicates:
    values = tuple(math.nan if value is None else value for value in entry["values"])
    lists = {name: tuple(entry[name]) for name in ("answers", "bounds", "questions")}
    lists["errors"] = tuple(math.nan if each is None else each for each in entry["errors"])
    lists["units"] = tuple(map(tuple, entry["units"]))
    lists["inputs"] = tuple(tuple(math.nan if each is None else each for each in row) for row in entry["inputs"])
    return BootstrapReplicates(**_with_nan(entry, "value") | lists | {"values": values})


def _with_nan(entry: dict[str, Any], *names: str) -> dict[str, Any]:
    """Replace null by NaN in these fields."""
    return entry | {name: math.nan if entry[name] is None else entry[name] for name in names}


def _task(entry: dict[str, Any]) -> Task:
    scores = tuple(DeclaredScore(**each | {"bounds": _bounds(each["bounds"])}) for each in entry["scores"])
    return Task(**entry | {"labels": tuple(entry["labels"]), "scores": scores})


def _bounds(entry: list[float | None] | None) -> tuple[float, float] | None:
    """Read bounds, of which either may be infinite."""
    if entry is None:
        return None
    low, high = entry
    return (-math.inf if low is None else low, math.inf if high is None else high)


def _flip(entry: dict[str, Any]) -> Flip:
    scores = entry.get("scores")
    return Flip(**entry | {"scores": None if scores is None else (scores[0], scores[1])})


def _determinism(entry: dict[str, Any]) -> Determinism:
    return Determinism(**entry | {"gaps": tuple(entry["gaps"])})
