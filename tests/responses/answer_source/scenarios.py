"""Scenarios on two rows, whose answers a file has: texts, two turns, scored truths, choices, shuffled choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pytest_puma import ChoiceScenario, CompletionScenario
from pytest_puma.core import Outcome

ROWS = [
    {"id": "n", "country": "Norway", "capital": "Oslo", "choices": ["Oslo", "Bergen"]},
    {"id": "p", "country": "Peru", "capital": "Lima", "choices": ["Cusco", "Lima"]},
]


class Capitals(CompletionScenario):
    name = "capitals"
    key = "id"
    text_fields = ("country",)

    def instruction(self, item: dict[str, Any]) -> str:
        return f"What is the capital of {item['country']}?"

    def truth(self, item: dict[str, Any]) -> str:
        return str(item["capital"])


class TwoTurns(Capitals):
    name = "two_turns"

    def turns(self, item: dict[str, Any]) -> Sequence[str]:
        return (self.instruction(item), "Write it again, please.")


class Scored(Capitals):
    name = "scored"
    scores: ClassVar[tuple[str, ...]] = ("exact_match", "bits_per_byte")


class Cities(ChoiceScenario):
    name = "cities"
    key = "id"
    text_fields = ("country",)

    def question(self, item: dict[str, Any]) -> str:
        return f"What is the capital of {item['country']}?"

    def choices(self, item: dict[str, Any]) -> list[str]:
        return list(item["choices"])

    def answer(self, item: dict[str, Any]) -> str:
        return str(item["capital"])


class Shuffled(Cities):
    name = "shuffled"
    orders = 2


def texts(outcome: Outcome) -> dict[str, list[str]]:
    replies: dict[str, list[str]] = {}
    for prediction in outcome.predictions:
        replies.setdefault(prediction.sample_id, []).extend(prediction.raw)
    return replies
