"""What to try where most replies of a model have no readable answer: a sentence for each such model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_puma.core import Outcome
from pytest_puma.phrases import named

#: A larger share of missing answers has a sentence.
_MOST = 0.5


def remedies(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the sentences.

    q: most replies of triage-zero_shot@q and 1 more have no readable answer; try --puma-strategy option_scoring or
    constrained, which always give one; or chat=off, if it is a base model
    """
    cells: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if _unread(outcome.tables.failures) > _MOST * outcome.execution.trials:
            cells.setdefault(outcome.name.model, []).append(outcome)
    for model, unread in cells.items():
        if advice := list(dict.fromkeys(text for outcome in unread for text in _advice(outcome))):
            where = named([outcome.cell for outcome in unread], 1)
            yield f"{model}: most replies of {where} have no readable answer; try {'; or '.join(advice)}"


def _unread(failures: Mapping[str, int]) -> int:
    """The number of replies without an answer; a prompt that is too long has no reply."""
    return sum(count for cause, count in failures.items() if cause != "overflow")


def _advice(outcome: Outcome) -> Iterator[str]:
    failures, engine = outcome.tables.failures, _engine(outcome)
    if "weights_sha256" in engine:
        form = outcome.task.kind.form
        if form in {"labels", "choices"}:
            yield "--puma-strategy option_scoring or constrained, which always give one"
        elif form == "numbers":
            yield "--puma-strategy constrained, which always gives one"
    if failures.get("truncated", 0) > _MOST * _unread(failures):
        yield "a larger --puma-max-tokens, as most were cut off"
    if "weights_sha256" in engine and engine.get("chat") == "True":
        yield "chat=off, if it is a base model"


def _engine(outcome: Outcome) -> Mapping[str, Any]:
    engine: Mapping[str, Any] = outcome.execution.signature.get("engine") or {}
    return engine
