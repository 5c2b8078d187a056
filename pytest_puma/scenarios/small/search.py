"""A scenario with a text and a question about it, in several languages; the examples are in the language of the row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from random import Random
from typing import Any

from pytest_puma.datasets.frames import to_records
from pytest_puma.scenarios.completion import CompletionScenario

_CUES = {"en": "Answer:", "de": "Antwort:", "es": "Respuesta:", "fr": "Réponse :", "it": "Risposta:"}


class SearchScenario(CompletionScenario):
    """The base of `needle` and `common_words`. Groups are finer than languages, so it picks the examples itself."""

    key = "id"
    required = {"text": str, "question": str, "answer": list, "language": str}  # noqa: RUF012 - a declaration
    text_fields = ("text",)
    stop = ("\n",)
    max_tokens = 32

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the text and the question."""
        return f"{item['text']}\n\n{item['question']}"

    def cue(self, item: dict[str, Any]) -> str:
        """Return `Answer:` in the language of the row."""
        return _CUES.get(item["language"], "Answer:")

    def target(self, item: dict[str, Any]) -> str:
        """Return the cue and all parts of the answer."""
        return f"{self.cue(item)} {', '.join(item['answer'])}"

    def pick_examples(self, item: dict[str, Any], k: int, random: Random) -> Sequence[dict[str, Any]] | None:  # noqa: ARG002
        """Return the first examples in the language of the row; None if there are too few."""
        examples = [each for each in self._examples if each["language"] == item["language"]]
        return examples[:k] if len(examples) >= k else None

    @cached_property
    def _examples(self) -> list[dict[str, Any]]:
        frame = self.examples()
        return [] if frame is None else to_records(frame)
