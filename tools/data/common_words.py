"""Lists of words of any length, three of which occur more often than all others.

python -m tools.data.common_words > data/common_words.jsonl
python -m tools.data.common_words --dev > data/common_words_dev.jsonl
python -m tools.data.common_words --words 4000 --languages fr --seed 7 > long.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from random import Random
from typing import Any

from tools.data.phrases import PHRASES
from tools.data.rows import write_texts

WORDS = (30, 60, 120)
SEED = 42
#: Lengths and seed of the few-shot examples.
DEV_WORDS, DEV_SEED = (30,), 7
_ROWS = 4  # for each language and length
_COMMON = 3
_SHARE = 8  # each common word is an eighth of the list


def rows(
    words: Sequence[int] = WORDS, languages: Sequence[str] = tuple(PHRASES), seed: int = SEED, *, dev: bool = False
) -> Iterator[dict[str, Any]]:
    """Four rows for each language and length."""
    prefix = "words-dev" if dev else "words"
    for language in languages:
        for length in words:
            for number in range(1, _ROWS + 1):
                yield {"id": f"{prefix}-{language}-{length}-{number}", **row(language, length, number, seed)}


def row(language: str, words: int, number: int, seed: int) -> dict[str, Any]:
    """A list of `words` words, the question, and the three common words in alphabetical order."""
    random = Random(f"words {seed} {language} {words} {number}")  # noqa: S311 - no secret
    phrases = PHRASES[language]
    shuffled = random.sample(phrases.words, len(phrases.words))
    common, others = shuffled[:_COMMON], shuffled[_COMMON:]
    listed = common * max(2, words // _SHARE)
    listed += islice(cycle(others), max(0, words - len(listed)))
    random.shuffle(listed)
    return {
        "language": language,
        "words": words,
        "text": ", ".join(listed),
        "question": phrases.words_question,
        "answer": sorted(common),
    }


def main() -> None:
    """Write the rows to standard output."""
    write_texts(rows, "lists with three common words", words=WORDS, seed=SEED, dev_words=DEV_WORDS, dev_seed=DEV_SEED)


if __name__ == "__main__":
    main()
