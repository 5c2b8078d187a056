"""A stage for strategies: a small scenario, a task about it, and someone who plays the engine by hand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_puma.core import (
    Answer,
    Conversation,
    Exchange,
    Generate,
    Generation,
    Request,
    Response,
    Sample,
    Scenario,
    Score,
)
from pytest_puma.strategies import Task
from pytest_puma.strategies.templates import find_template

if TYPE_CHECKING:
    import pandas as pd

TEMPLATE = """{% block system %}Be brief.{% endblock %}
{% block user %}{% for example in examples %}{{ example.title }} is {{ example.gold_label }}. {% endfor %}
{{ title }}?{% endblock %}
{% block decide %}So, {{ labels | join(" or ") }}?{% endblock %}
"""


class Taste(Scenario):
    """Sweet or sour; its parser takes any word in capitals, as a careless scenario might."""

    name: ClassVar[str] = "taste"
    task_type: ClassVar[str] = "classification"

    def sample(self, n: int, seed: int = 42) -> pd.DataFrame:
        raise NotImplementedError

    def gold_label(self, instance: dict[str, Any]) -> str:
        return str(instance["taste"])

    def parse_response(self, response: str) -> str | None:
        match = re.search(r"[A-Z]{2,}", response)
        return match and match[0]

    def valid_labels(self) -> list[str]:
        return ["SWEET", "SOUR", "BITTER"]


class Weight(Taste):
    """Grams; its parser takes any last word."""

    name: ClassVar[str] = "weight"
    task_type: ClassVar[str] = "regression"

    def parse_response(self, response: str) -> str | None:
        return response.rsplit(maxsplit=1)[-1] if response.split() else "empty"

    def valid_labels(self) -> list[str]:
        return ["1", "2", "3", "5"]


def task(
    root: Path,
    *,
    scenario: Scenario | None = None,
    template: str = TEMPLATE,
    generation: Generation | None = None,
    sample_id: str = "f1",
    seed: int = 42,
    examples: tuple[dict[str, Any], ...] = (),
) -> Task:
    """A task about a lemon, with a template written below `root`."""
    path = root / "prompts" / "fruit" / "strategy.jinja"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(template, encoding="utf-8")
    return Task(
        scenario=scenario or Taste(),
        sample=Sample(id=sample_id, fields={"title": "Lemon", "taste": "SOUR"}, gold="SOUR", units=(sample_id,)),
        template=find_template("fruit", ["strategy"], project=root),
        examples=examples,
        generation=generation or Generation(max_tokens=16, temperature=0.0),
        seed=seed,
    )


@dataclass(frozen=True)
class Play:
    """What was asked, round by round, and what the strategy answered."""

    rounds: tuple[tuple[Request, ...], ...]
    answer: Answer

    @property
    def generates(self) -> list[Generate]:
        return [request for round_ in self.rounds for request in round_ if isinstance(request, Generate)]

    @property
    def scores(self) -> list[Score]:
        return [request for round_ in self.rounds for request in round_ if isinstance(request, Score)]


def play(conversation: Conversation, *replies: tuple[Response, ...]) -> Play:
    """Answer each round of requests with the next replies, to the end."""
    exchange = Exchange(conversation)
    rounds = [exchange.advance()]
    for reply in replies:
        assert len(reply) == len(rounds[-1]), "one response for each request"
        requests = exchange.advance(reply)
        if exchange.answer is not None:
            assert reply is replies[-1], "the strategy ended before the last replies"
            return Play(tuple(rounds), exchange.answer)
        rounds.append(requests)
    message = f"the strategy asks on after {len(replies)} rounds"
    raise AssertionError(message)


def said(*texts: str) -> tuple[Response, ...]:
    """Responses with these texts."""
    return tuple(Response(text=text) for text in texts)


OVERFLOW = Response(finish="overflow")
