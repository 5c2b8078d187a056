"""The errors a user can cause. Each message names the source, the value, the expected value, and what to do."""

from __future__ import annotations

import math
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path


class PumaError(Exception):
    """Base class of all errors of pytest-puma; the message is one sentence for the user."""


class SettingsError(PumaError):
    """An invalid option, ini value, marker or run-spec."""


class ModelError(SettingsError):
    """A model argument without a usable GGUF file."""


class DataError(PumaError):
    """Data that cannot be scored; the message names the file, the row and the column."""


class TemplateError(PumaError):
    """A prompt template that is missing, malformed, or uses an unknown variable."""


class EngineError(PumaError):
    """A failure of llama.cpp, or of the backend in its place."""


class MetricError(PumaError):
    """A metric that raised: names the metric and the sample. The predictions are kept."""


class UnchangedError(PumaError):
    """A perturbation that changes no prompt of a cell, so that the model would get the same prompts again."""


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Put the source, such as an option, before the message of an error in settings or data."""
    try:
        yield
    except (SettingsError, DataError) as error:
        msg = f"{source}: {error}"
        raise SettingsError(msg) from error


def one_line(text: object, limit: int = 200) -> str:
    """Return a text, such as the message of an error that quotes a file, in one line of at most `limit` characters."""
    return " ".join(str(text).split())[:limit]


def raised_in(error: Exception) -> str:
    """Return the message of an error of the user's code and its line: `no such key (test_invoices.py:12)`."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{' '.join(str(error).split())} ({Path(frame.filename).name}:{frame.lineno})"


def did_you_mean(name: str, names: Iterable[str], *, similarity: float = 0.6) -> str:
    """Return `did you mean 'few_shot_3'? `, or an empty text if no name has the similarity (equal names have 1)."""
    nearest = get_close_matches(name, list(names), n=1, cutoff=similarity)
    return f"did you mean {nearest[0]!r}? " if nearest else ""


def check_limits(limits: Mapping[str, tuple[float | None, float, float]]) -> None:
    """Check that each value is a number from its minimum to its maximum; `None` (not set) is valid."""
    for name, (value, minimum, maximum) in limits.items():
        numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is not None and not (numeric and minimum <= value <= maximum):
            end = "" if maximum == math.inf else f" to {maximum}"
            msg = f"{name} is {value!r}; expected a number from {minimum}{end}"
            raise SettingsError(msg)


def listed(names: Iterable[str], limit: int) -> str:
    """Return up to `limit` names, and the number of the others: `a, b and 3 more`."""
    shown = [*names]
    more = f" and {len(shown) - limit} more" if len(shown) > limit else ""
    return ", ".join(shown[:limit]) + more
