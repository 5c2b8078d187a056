"""Replies of two real models, each with the answer that a person reads in it; the rule is at the head of the table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from pytest_puma.replies.answers import snap_fibonacci
from pytest_puma.scenarios import EstimationTawosScenario, PrioritizationJiraScenario, TriageJiraScenario
from pytest_puma.task_types.regression import number_text
from tests.factories import task

_SCENARIOS = {each.name: each for each in (TriageJiraScenario, EstimationTawosScenario, PrioritizationJiraScenario)}
_ANSWER_LINE = frozenset({"zero_shot_cot", "egi"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledReply:
    """One row of the table; `answer` is `None` where a person reads none."""

    model: str
    scenario: str
    strategy: str
    part: str
    answer: str | None
    reply: str

    def expected(self) -> str | None:
        """The answer as the scenario writes it: story points lie on the point series where it is near."""
        if self.answer is None or self.scenario != EstimationTawosScenario.name:
            return self.answer
        return number_text(snap_fibonacci(float(self.answer)))

    def read(self) -> str | None:
        """The answer that the strategy and the scenario read."""
        question = task(_SCENARIOS[self.scenario]())
        return question.read_final(self.reply) if self.strategy in _ANSWER_LINE else question.read(self.reply)


def load(part: str) -> list[LabelledReply]:
    """The rows of a part of the table."""
    table = Path(__file__).with_name("replies.yaml").read_text(encoding="utf-8")
    rows = [LabelledReply(**row) for row in yaml.safe_load(table)]
    return [row for row in rows if row.part == part]


def disagreements(rows: list[LabelledReply]) -> list[tuple[str | None, str | None, str]]:
    """Expected answer, read answer and reply, where the two differ."""
    return [(row.expected(), row.read(), row.reply) for row in rows if row.read() != row.expected()]
