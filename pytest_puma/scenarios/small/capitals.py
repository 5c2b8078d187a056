"""The capitals of 40 countries, asked for in English, German and Spanish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_puma.scenarios.completion import CompletionScenario

_CUES = {"en": "Answer:", "de": "Antwort:", "es": "Respuesta:"}


class CapitalsScenario(CompletionScenario):
    """The capital of a country; several spellings count. The three languages share their countries."""

    name = "capitals"
    data = {"test": "capitals.jsonl", "train": "capitals_dev.jsonl"}  # noqa: RUF012 - a declaration, read only
    key = "id"
    unit_columns = ("country_code",)
    group_columns = ("language", "continent")
    required = {"question": str, "answer": list}  # noqa: RUF012
    text_fields = ("question",)
    scores = ("contains", "exact_match.loose")
    stop = ("\n",)
    max_tokens = 24

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the question."""
        return str(item["question"])

    def truth(self, item: dict[str, Any]) -> Sequence[str]:
        """Return the names of the capital in the language of the question."""
        return list(item["answer"])

    def cue(self, item: dict[str, Any]) -> str:
        """Return `Answer:` in the language of the question."""
        return _CUES.get(item["language"], "Answer:")
