"""A scenario over a data frame, for tests of sampling."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pytest_puma.core import Scenario
from pytest_puma.scenarios import (
    draw,
)


class Custom(Scenario):
    """A user's scenario: the contract's four methods over a frame of its own."""

    name = "custom"
    task_type: str = "classification"  # type: ignore[misc]
    text_fields = ("text",)

    def __init__(self, frame: Any, pool: pd.DataFrame | None = None, **declared: Any) -> None:
        self.frame, self.pool = frame, pool
        for name, value in declared.items():
            setattr(self, name, value)

    def sample(self, n: int, seed: int = 42) -> pd.DataFrame:
        del seed
        frame: pd.DataFrame = self.frame.head(n) if isinstance(self.frame, pd.DataFrame) else self.frame
        return frame

    def gold_label(self, instance: dict[str, Any]) -> str:
        gold: str = instance["gold"]
        return gold

    def parse_response(self, response: str) -> str | None:
        return response

    def valid_labels(self) -> list[str]:
        return ["yes", "no"]

    def examples(self) -> pd.DataFrame | None:
        return self.pool


def frame(n: int = 4, **columns: Any) -> pd.DataFrame:
    rows = {
        "id": [f"Q-{i}" for i in range(n)],
        "text": [f"text {i}" for i in range(n)],
        "gold": ["yes", "no"] * (n // 2),
    }
    return pd.DataFrame(rows | columns)


def ids(scenario: Scenario, n: int, seed: int = 42) -> list[str]:
    return [sample.id for sample in draw(scenario, n, seed)]


def repeated(**declared: Any) -> Custom:
    rows = frame(6, id=list("aabcab"), text=list("xxyzxy"), gold=["yes", "yes", "no", "yes", "yes", "no"])
    return Custom(rows, **declared)
