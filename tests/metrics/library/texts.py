"""Texts for the agreement with sacrebleu: words that repeat, scripts, marks that its tokenizer splits, empty texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from hypothesis import strategies as st

#: The replies of a cell, each with its references.
Corpus: TypeAlias = list[tuple[str, list[str]]]

WORDS = ("the", "The", "cat", "sat", "on", "mat.", "3,5", "x-ray", "&amp;", "Café", "中文", "(so)", "naïve", "—")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join) | st.text(st.characters(codec="utf-8"), max_size=12)


def corpora() -> st.SearchStrategy[Corpus]:
    """One to five replies, with one to three references each."""
    return st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=5)


def streams(corpus: Corpus) -> tuple[list[str], list[list[Any]]]:
    """The replies, and the first, second and third references, None where there are fewer, as sacrebleu takes them."""
    most = max(len(references) for _, references in corpus)
    texts = [text for text, _ in corpus]
    return texts, [[_at(references, place) for _, references in corpus] for place in range(most)]


def _at(references: Sequence[str], place: int) -> str | None:
    return references[place] if place < len(references) else None
