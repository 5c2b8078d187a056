"""Everyday sentences between English, German and Spanish: each row of the data has four directions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_puma.scenarios.completion import CompletionScenario

_LANGUAGES = {"en": "English", "de": "German", "es": "Spanish"}
_DIRECTIONS = (("en", "de"), ("de", "en"), ("en", "es"), ("es", "en"))


class TranslateMiniScenario(CompletionScenario):
    """A sentence to be translated; the directions of a sentence are one unit."""

    name = "translate_mini"
    data = {"test": "translate_mini.jsonl", "train": "translate_mini_dev.jsonl"}  # noqa: RUF012 - a declaration
    key = "id"
    unit_columns = ("sentence",)
    group_columns = ("direction",)
    text_fields = ("source",)
    scores = ("chrf", "bleu", "exact_match.loose")
    stop = ("\n",)
    max_tokens = 64

    def records(self, path: Path) -> Iterable[Mapping[str, Any]]:
        """Return a row for each sentence and direction."""
        return chain.from_iterable(map(_directions, super().records(path)))

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the request and the sentence."""
        source, target = (_LANGUAGES[language] for language in item["direction"].split("-"))
        return f"Translate this sentence from {source} into {target}. Write only the translation.\n{item['source']}"

    def truth(self, item: dict[str, Any]) -> str:
        """Return the translation."""
        return str(item["target"])


def _directions(record: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    for source, target in _DIRECTIONS:
        yield {
            "id": f"{record['id']}-{source}-{target}",
            "sentence": record["id"],
            "direction": f"{source}-{target}",
            "source": record[source],
            "target": record[target],
        }
