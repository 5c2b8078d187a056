"""Lines of `predictions.jsonl` with all that a prediction has: defaults, and the views of its transcript."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from pytest_puma.codec.plain import plain
from pytest_puma.codec.predictions import prediction_from
from pytest_puma.core import Prediction

_FIELDS = tuple(field.name for field in fields(Prediction) if field.name != "transcripts")
_VIEWS = ("raw", "finish", "logprobs")


def prediction_lines(file: Path) -> list[dict[str, Any]]:
    """The predictions of a file without what depends on the clock; `usage` has tokens, `turns` those of the model."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [_whole(line, data) for line in lines if (data := json.loads(line))["kind"] == "prediction"]


def _whole(line: str, data: dict[str, Any]) -> dict[str, Any]:
    prediction = prediction_from(line)
    views = {name: plain(getattr(prediction, name)) for name in (*_FIELDS, *_VIEWS, "usage")}
    del views["usage"]["seconds"]
    turns = data["transcripts"].get("model", [])
    for turn in turns:
        if "usage" in turn:
            *turn["usage"], _ = turn["usage"]
    return {name: data[name] for name in ("cell", "node_id", "attempt")} | views | {"turns": turns}
