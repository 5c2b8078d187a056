from __future__ import annotations

from typing import Any, ClassVar

import pandas as pd
import pytest

from pytest_puma import Scenario
from pytest_puma.scenarios import (
    EstimationTawosScenario,
    PrioritizationJiraScenario,
    TriageJiraScenario,
    draw,
    hidden_fields,
)


class Sums(Scenario):
    """Its question is about the fields from which the gold answer is computed."""

    name = "sums"
    task_type = "regression"
    text_fields: ClassVar[tuple[str, ...]] = ()

    def sample(self, n: int, seed: int = 42) -> pd.DataFrame:  # noqa: ARG002
        return pd.DataFrame([{"a": a, "b": 2, "sum": f"{a + 2}.0"} for a in range(6)][:n])

    def gold_label(self, instance: dict[str, Any]) -> str:
        return str(instance["a"] + instance["b"])

    def parse_response(self, response: str) -> str | None:
        return response

    def valid_labels(self) -> list[str]:
        return ["1", "2"]


class Stored(Sums):
    def gold_label(self, instance: dict[str, Any]) -> str:
        return str(instance.get("sum"))


class Said(Stored):
    text_fields = ("sum",)


@pytest.mark.parametrize(
    ("scenario", "hidden"),
    [
        (TriageJiraScenario(), {"priority"}),
        (EstimationTawosScenario(), {"story_points"}),
        (PrioritizationJiraScenario(), {"priority_a", "priority_b"}),
        (Sums(), set()),
        (Stored(), {"sum"}),
        (Said(), set()),
    ],
)
def test_what_tells_the_gold_answer_is_hidden(scenario: Scenario, hidden: set[str]) -> None:
    assert hidden_fields(scenario, draw(scenario, 6, seed=42)) == hidden
