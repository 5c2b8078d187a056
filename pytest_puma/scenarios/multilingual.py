"""Small data sets in several languages: capitals, translations, and two with a text and a question about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

from pytest_puma.datasets.frames import to_records
from pytest_puma.scenarios.completion import WordedScenario

_CUES = {"en": "Answer:", "de": "Antwort:", "es": "Respuesta:", "fr": "Réponse :", "it": "Risposta:"}
_LANGUAGES = {"en": "English", "de": "German", "es": "Spanish"}
_DIRECTIONS = (("en", "de"), ("de", "en"), ("en", "es"), ("es", "en"))


class QuestionScenario(WordedScenario):
    """The base of those with questions in several languages."""

    key = "id"
    stop = ("\n",)

    def cue(self, item: dict[str, Any]) -> str:
        """Return `Answer:` in the language of the question."""
        return _CUES.get(item["language"], "Answer:")


class CapitalsScenario(QuestionScenario):
    """The capital of a country; several spellings count. The three languages share their countries."""

    name = "capitals"
    data = {"test": "capitals.jsonl", "train": "capitals_dev.jsonl"}  # noqa: RUF012 - a declaration, read only
    unit_columns = ("country_code",)
    group_columns = ("language", "continent")
    required = {"question": str, "answer": list}  # noqa: RUF012
    text_fields = ("question",)
    scores = ("contains", "exact_match.loose")
    max_tokens = 24
    instruction_pattern = "{question}"


class TranslateMiniScenario(WordedScenario):
    """Everyday sentences between English, German and Spanish; the four directions of a sentence are one unit."""

    name = "translate_mini"
    data = {"test": "translate_mini.jsonl", "train": "translate_mini_dev.jsonl"}  # noqa: RUF012 - a declaration
    key = "id"
    unit_columns = ("sentence",)
    group_columns = ("direction",)
    text_fields = ("source",)
    scores = ("chrf", "bleu", "exact_match.loose")
    stop = ("\n",)
    max_tokens = 64
    truth_column = "target"

    def records(self, path: Path) -> Iterable[Mapping[str, Any]]:
        """Return a row for each sentence and direction."""
        return chain.from_iterable(map(_directions, super().records(path)))

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the request and the sentence."""
        source, target = (_LANGUAGES[language] for language in item["direction"].split("-"))
        return f"Translate this sentence from {source} into {target}. Write only the translation.\n{item['source']}"


class SearchScenario(QuestionScenario):
    """A text and a question about it. Groups are finer than languages, so it picks the examples itself."""

    required = {"text": str, "question": str, "answer": list, "language": str}  # noqa: RUF012 - a declaration
    text_fields = ("text",)
    max_tokens = 32
    instruction_pattern = "{text}\n\n{question}"

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


def _directions(record: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    for source, target in _DIRECTIONS:
        yield {
            "id": f"{record['id']}-{source}-{target}",
            "sentence": record["id"],
            "direction": f"{source}-{target}",
            "source": record[source],
            "target": record[target],
        }
