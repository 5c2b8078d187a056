"""Small data sets with a text and a question about it, in five languages, of which the examples have the same one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from random import Random
from typing import Any

from pytest_puma.datasets.frames import to_records
from pytest_puma.scenarios.worded import WordedScenario

_CUES = {"en": "Answer:", "de": "Antwort:", "es": "Respuesta:", "fr": "Réponse :", "it": "Risposta:"}


class SearchScenario(WordedScenario):
    """The base of both. Groups are finer than languages, so it picks the examples itself."""

    key = "id"
    required = {"text": str, "question": str, "answer": list, "language": str}  # noqa: RUF012 - a declaration
    text_fields = ("text",)
    stop = ("\n",)
    max_tokens = 32
    instruction_pattern = "{text}\n\n{question}"

    def cue(self, item: dict[str, Any]) -> str:
        """Return `Answer:` in the language of the row."""
        return _CUES.get(item["language"], "Answer:")

    def target(self, item: dict[str, Any]) -> str:
        """Return the cue and all parts of the answer."""
        return f"{self.cue(item)} {', '.join(item['answer'])}"

    def pick_examples(self, item: dict[str, Any], k: int, random: Random) -> Sequence[dict[str, Any]] | None:  # noqa: ARG002
        """Return the first examples in the language of the row; None if there are too few."""
        examples = [example for example in self._examples if example["language"] == item["language"]]
        return examples[:k] if len(examples) >= k else None

    @cached_property
    def _examples(self) -> list[dict[str, Any]]:
        frame = self.examples()
        return [] if frame is None else to_records(frame)


class NeedleScenario(SearchScenario):
    """All secret numbers of one person, or a word for none; texts have 50 to 400 words, and numbers of others."""

    name = "needle"
    data = {"test": "needle.jsonl", "train": "needle_dev.jsonl"}  # noqa: RUF012 - a declaration, read only
    group_columns = ("language", "kind", "words")
    scores = ("needle",)


class CommonWordsScenario(SearchScenario):
    """Three words that occur more often than all others. The order does not matter; every other word costs precision.

    `cwe` would not do: a reply that repeats the list has all words.
    """

    name = "common_words"
    data = {"test": "common_words.jsonl", "train": "common_words_dev.jsonl"}  # noqa: RUF012 - a declaration, read only
    group_columns = ("language", "words")
    scores = ("f1_squad",)

    def truth(self, item: dict[str, Any]) -> str:
        """Return the words."""
        return ", ".join(item["answer"])
