"""The rows of the small sets, as their files have them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pytest_puma.platform.bundled import bundled_folder

Rows = list[dict[str, Any]]

#: The fields of each file, and its number of rows.
FIELDS: dict[str, tuple[set[str], int]] = {
    "capitals": ({"country_code", "country", "continent", "language", "question", "answer"}, 120),
    "capitals_dev": ({"country_code", "country", "continent", "language", "question", "answer"}, 45),
    "arithmetic_word": ({"steps", "question", "answer"}, 100),
    "arithmetic_word_dev": ({"steps", "question", "answer"}, 8),
    "commonsense_mini": ({"question", "choices", "answer"}, 80),
    "commonsense_mini_dev": ({"question", "choices", "answer"}, 5),
    "knowledge_mini": ({"subject", "question", "choices", "answer"}, 90),
    "knowledge_mini_dev": ({"subject", "question", "choices", "answer"}, 24),
    "formats": ({"kind", "prompt"}, 60),
    "instructions_mini": ({"prompt", "instruction_id_list", "kwargs"}, 58),
    "needle": ({"language", "kind", "words", "text", "question", "answer"}, 60),
    "needle_dev": ({"language", "kind", "words", "text", "question", "answer"}, 15),
    "common_words": ({"language", "words", "text", "question", "answer"}, 60),
    "common_words_dev": ({"language", "words", "text", "question", "answer"}, 20),
    "translate_mini": ({"en", "de", "es"}, 30),
    "translate_mini_dev": ({"en", "de", "es"}, 4),
    "summaries_mini": ({"text", "summary"}, 40),
    "dialogue_mini": ({"category", "first", "second", "answer"}, 72),
}
#: More fields of `formats`, by kind.
FORMATS = {
    "json": {"schema", "expected"},
    "csv": {"columns", "separator", "expected"},
    "length": {"unit", "bound", "count"},
}
DEV = sorted(name for name in FIELDS if name.endswith("_dev"))
#: The number of choices.
CHOICES = {"commonsense_mini": 5, "knowledge_mini": 4}


def text_of(name: str) -> str:
    """The text of a file."""
    return (bundled_folder("data") / f"{name}.jsonl").read_bytes().decode("utf-8")


SETS: dict[str, Rows] = {name: [json.loads(line) for line in text_of(name).splitlines()] for name in FIELDS}


def texts(value: Any) -> Iterator[str]:
    """All texts in a value, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for each in value.values() for text in texts(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in texts(each))


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return re.findall(r"\w+", text.casefold())


def occurs(answer: str, text: str) -> bool:
    """Return True if an answer is in a text as whole words."""
    return re.search(rf"(?<!\w){re.escape(answer.casefold())}(?!\w)", text.casefold()) is not None
