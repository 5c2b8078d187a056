"""Rows of a generated data set as JSON Lines, each with the canary of the project."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tools.data.phrases import PHRASES

#: Stands in every row of the small data sets: a training corpus that contains it contains them.
CANARY = "d6c69eff-2891-4f76-a2ca-0583e920c128"


def json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the rows as JSON Lines, the canary in the last field of each."""
    return "".join(json.dumps({**row, "canary": CANARY}, ensure_ascii=False) + "\n" for row in rows)


def write_texts(
    rows: Callable[..., Iterable[Mapping[str, Any]]],
    what: str,
    *,
    words: Sequence[int],
    seed: int,
    dev_words: Sequence[int],
    dev_seed: int,
) -> None:
    """Write `rows(words, languages, seed, dev=)` to standard output, as the command line asks; `what` they are."""
    parser = argparse.ArgumentParser(description=f"Write {what} as JSON Lines.")
    parser.add_argument("--words", type=int, nargs="+", help="lengths of the texts")
    parser.add_argument("--languages", nargs="+", choices=tuple(PHRASES), default=tuple(PHRASES))
    parser.add_argument("--seed", type=int)
    parser.add_argument("--dev", action="store_true", help="the rows that are lent as examples")
    options = parser.parse_args()
    words, seed = (dev_words, dev_seed) if options.dev else (words, seed)
    seed = seed if options.seed is None else options.seed
    sys.stdout.write(json_lines(rows(options.words or words, options.languages, seed, dev=options.dev)))
