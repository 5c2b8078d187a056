"""Rows of a generated data set as JSON Lines, each with the canary of the project."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

#: Stands in every row of the small data sets: a training corpus that contains it contains them.
CANARY = "d6c69eff-2891-4f76-a2ca-0583e920c128"


def json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the rows as JSON Lines, the canary in the last field of each."""
    return "".join(json.dumps({**row, "canary": CANARY}, ensure_ascii=False) + "\n" for row in rows)
