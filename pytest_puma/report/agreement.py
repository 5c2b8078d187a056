"""How far judges agree with people: the kappa of each rubric, and how often people and the judge gave which verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_puma.core import Outcome
from pytest_puma.judges.agreement import AGREEMENT
from pytest_puma.phrases import named
from pytest_puma.report.rows import number


def judges(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a sentence for each judge, or set of judges, with what it was asked."""
    asked: dict[str, dict[str, None]] = {}
    for outcome in outcomes:
        signature = outcome.execution.signature
        if judge := signature.get("judge"):
            engines = judge if isinstance(judge, (list, tuple)) else [judge]
            who = " and ".join(_who(engine) for engine in engines)
            asked.setdefault(who, {}).update(dict.fromkeys(signature.get("rubrics", ())))
    for who, rubrics in asked.items():
        names = [name for name in rubrics if not name.endswith(AGREEMENT)]
        yield f"judged by {who}{f': {named(names)}' if names else ''}"


def _who(engine: Mapping[str, Any]) -> str:
    """The weights of an engine, the model of a server, or the file of recorded verdicts."""
    digest = engine.get("weights_sha256")
    return (
        f"the weights {digest[:12]}"
        if digest
        else str(engine.get("server_model") or engine.get("answers") or engine.get("backend") or "a plugin")
    )


def agreements(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a sentence for each rubric with labels of people.

    judge.polite.agreement of mail-zero_shot@q: kappa 0.6 [0.2, 0.9] with 20 labels; people-judge: yes-yes 9, yes-no 1
    """
    for outcome in outcomes:
        for name, table in outcome.tables.agreement.items():
            measure = outcome.measures[name]
            counts = ((f"{person}-{judge}", count) for person, row in table.items() for judge, count in row.items())
            listed = ", ".join(f"{pair} {count:g}" for pair, count in counts if count)
            value = f"kappa {number(measure.value)} [{number(measure.low)}, {number(measure.high)}]"
            yield f"{name} of {outcome.cell}: {value} with {measure.n} labels; people-judge: {listed}"
