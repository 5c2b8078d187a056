"""A small scenario, a task about it, and a conversation with a strategy whose replies the test writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pytest_puma.core import (
    Answer,
    Conversation,
    Exchange,
    Generate,
    Generation,
    Request,
    Response,
    Scenario,
    Score,
)
from pytest_puma.strategies import Task
from pytest_puma.strategies.templates import find_template
from tests import factories
from tests.factories import Estimation, Triage, sample

TEMPLATE = """{% block system %}Be brief.{% endblock %}
{% block user %}{% for example in examples %}{{ example.title }} is {{ example.gold_label }}. {% endfor %}
{{ title }}?{% endblock %}
{% block decide %}So, {{ labels | join(" or ") }}?{% endblock %}
"""


class Taste(Triage):
    """Sweet, sour or bitter."""

    name: ClassVar[str] = "taste"
    labels: ClassVar[Sequence[str]] = ("SWEET", "SOUR", "BITTER")


class Weight(Estimation):
    """Grams."""

    name: ClassVar[str] = "weight"
    labels: ClassVar[Sequence[str]] = ("1", "2", "3", "5")


def task(
    root: Path, *, scenario: Scenario | None = None, template: str = TEMPLATE, sample_id: str = "f1", **fields: Any
) -> Task:
    """A task about a lemon, with a template written below `root`."""
    path = root / "prompts" / "fruit" / "strategy.jinja"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(template, encoding="utf-8")
    defaults = {"generation": Generation(max_tokens=16, temperature=0.0), "seed": 42}
    return factories.task(
        scenario or Taste(),
        sample=sample(sample_id, fields={"title": "Lemon", "taste": "SOUR"}, gold="SOUR"),
        template=find_template("fruit", ["strategy"], project=root),
        **defaults | fields,
    )


@dataclass(frozen=True)
class Play:
    """The requests, round by round, and the answer of the strategy."""

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


def responses(*texts: str) -> tuple[Response, ...]:
    """Responses with these texts."""
    return tuple(Response(text=text) for text in texts)


OVERFLOW = Response(finish="overflow")
