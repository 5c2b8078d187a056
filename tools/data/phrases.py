"""Sentences and words of the texts in which `needle` and `common_words` hide their answers, in five languages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: Their first letter is a consonant: French and Italian shorten the preposition before a vowel.
NAMES = ("Boris", "Carla", "Dora", "Gustav", "Karl", "Lena", "Mira", "Nadia", "Pablo", "Rosa", "Tomas", "Vera")


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """The texts of one language."""

    #: States a number of a person: `{name}`, `{number}`.
    needle: str
    #: Asks for all numbers of a person: `{name}`.
    needle_question: str
    #: The answer if a person has no number.
    none: str
    #: Sentences without digits, persons or secret numbers.
    filler: tuple[str, ...]
    #: Asks for the three words that occur most often.
    words_question: str
    #: At least 39 different words.
    words: tuple[str, ...]


def load_phrases() -> Mapping[str, Phrases]:
    """Return the phrases by language."""
    languages = json.loads((Path(__file__).parent / "phrases.json").read_text(encoding="utf-8"))
    return {
        language: Phrases(**{**texts, "filler": tuple(texts["filler"]), "words": tuple(texts["words"].split())})
        for language, texts in languages.items()
    }


PHRASES = load_phrases()
