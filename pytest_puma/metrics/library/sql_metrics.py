"""Metrics of replies with an SQL query: `sql.runs`, `sql.only`, `sql.rows`, `sql.equal`.

context = {"sql_setup": "CREATE TABLE city (name TEXT, people INT); INSERT INTO city VALUES ('Graz', 303270);"}

`sql_setup` None: this sample's reply is no query, so none of them applies. The references are the gold queries.

The query of a reply is the whole text, with or without a Markdown fence, or its longest fenced block, or what begins
with SELECT, WITH or VALUES in it. SQLite runs it on a database in memory, which the statements of `sql_setup` build
and no query can change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

from pytest_puma.core import Prediction, Sample, SettingsError
from pytest_puma.metrics.library.reading import argument, completion_metric
from pytest_puma.platform.processes import SECONDS, BoundedFunction
from pytest_puma.replies.fences import content, unfenced

_SETUP = "sql_setup"
_EXPECTED = "statements that build the tables of its database, as text, or None if the reply is no query"
#: Where a query may begin among prose: at the beginning of a line, or SELECT and WITH anywhere.
_BEGINNING = re.compile(r"^[ \t]*(?i:select|with|values)\b|\b(?:SELECT|WITH)\b", re.MULTILINE)
#: Where it may end among prose, or within code in a line, JSON or quotes.
_END = re.compile(r"[;\n`\"]|'''")
#: Beginnings, and ends of each, that are tried.
_MAX_BEGINNINGS, _MAX_ENDS = 8, 40
_compare = BoundedFunction(Path(__file__).with_name("sqlite_rows.py"), "compare", ("", ["SELECT 1"], ["SELECT 1"]))


def candidates(text: str) -> list[str]:
    """Return the texts that may be the query of a reply, the likeliest one first: the whole reply."""
    return list(dict.fromkeys((unfenced(text), content(text), *_within(text))))


def _within(text: str) -> Iterator[str]:
    """The texts from each beginning of a query to the next semicolon, else to its ends, the last one first."""
    for beginning in islice(_BEGINNING.finditer(text), _MAX_BEGINNINGS):
        rest = text[beginning.start() :]
        ends = [end.start() for end in islice(_END.finditer(rest), _MAX_ENDS)]
        yield from (rest.partition(";")[0], rest, *(rest[:end] for end in reversed(ends)))


@lru_cache(maxsize=16)  # four metrics read the same reply
def _compared(setup: str, golds: tuple[str, ...], text: str) -> list[bool] | str:
    compared: list[bool] | str | None = _compare(setup, golds, candidates(text))
    if compared is not None:
        return compared
    # Not all of it ends within the limits: without the reply, the database and the gold queries must.
    alone: list[bool] | str | None = _compare(setup, golds, [])
    if alone is None:
        return f"the database and its gold queries need over {SECONDS} seconds of computing, or too much memory"
    return alone if isinstance(alone, str) else [False] * 4


def _score(place: int, metric: str) -> Callable[[Sample, Prediction], float | None]:
    def score(sample: Sample, prediction: Prediction) -> float | None:
        setup = argument(sample, _SETUP, str | None, metric=metric, expected=_EXPECTED)
        if setup is None or not sample.references:
            return None
        compared = _compared(setup, sample.references, prediction.text)
        if isinstance(compared, str):
            msg = (
                f"{metric}: sample {sample.id!r}: {compared}; expected statements of SQLite from the scenario's "
                "context(item), and a query that reads their tables from truth(item)"
            )
            raise SettingsError(msg)
        return float(compared[place])

    return score


METRICS = tuple(
    completion_metric(name=name, score=_score(place, name))
    for place, name in enumerate(("sql.runs", "sql.only", "sql.rows", "sql.equal"))
)
