"""A benchmark with choices: rows of a question, its choices and the places of the right ones.

    {"question": "Where do fish live?", "choices": ["in water", "on trees"], "answer": [0]}

Published data have a few questions with two equal choices, which neither a text nor a probability can distinguish. Such
choices are one; it is right if one of them is. The reports of a run give the number of such questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_puma.core import Sample
from pytest_puma.scenarios.benchmarks.benchmark import Benchmark
from pytest_puma.scenarios.choice import ChoiceScenario

#: The column with the texts of equal choices.
_EQUAL = "equal_choices"
#: Maximum number of questions in a sentence.
_SHOWN = 3


class ChoiceBenchmark(Benchmark, ChoiceScenario):
    """The base of loaders with choices. `row` returns `question`, `choices` and `answer`, and perhaps more."""

    text_fields = ("question",)

    def question(self, item: dict[str, Any]) -> str:
        """Return the question."""
        return str(item["question"])

    def choices(self, item: dict[str, Any]) -> Sequence[str]:
        """Return the choices, no two of them equal."""
        return tuple(item["choices"])

    def answer(self, item: dict[str, Any]) -> Sequence[int]:
        """Return the places of the right choices."""
        return tuple(item["answer"])

    def records(self, path: Path) -> Iterator[dict[str, Any]]:
        """The rows, in which equal choices are one."""
        return map(_distinct, super().records(path))

    def remarks(self, samples: Sequence[Sample]) -> Sequence[str]:
        """Return a sentence on questions with equal choices."""
        equal = [sample for sample in samples if sample.fields[_EQUAL]]
        if not equal:
            return ()
        shown = ", ".join(f"{each.row} ({', '.join(map(repr, each.fields[_EQUAL]))})" for each in equal[:_SHOWN])
        more = ", ..." if len(equal) > _SHOWN else ""
        counts = f"{len(equal)} of {len(samples)} questions have equal choices"
        return (f"{counts}, which count as one, right if one of them is: {shown}{more}",)


def _distinct(row: dict[str, Any]) -> dict[str, Any]:
    texts, right = list(row["choices"]), {row["choices"][place] for place in row["answer"]}
    distinct = list(dict.fromkeys(texts))
    answer = [place for place, text in enumerate(distinct) if text in right]
    equal = [text for text in distinct if texts.count(text) > 1]
    return row | {"choices": distinct, "answer": answer, _EQUAL: equal}
