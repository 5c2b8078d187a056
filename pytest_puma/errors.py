"""The errors a user can cause. Each message names the source, the value, the expected value, and what to do."""

from __future__ import annotations

import math
import traceback
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
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


class LostError(EngineError):
    """An engine that is gone with its machine; the cell may run again on another one."""


class MetricError(PumaError):
    """A metric that raised: names the metric and the sample. The predictions are kept."""


class NotRunError(PumaError):
    """A cell that cannot be run, which is no fault: a perturbation that changes no prompt, or a model that cannot."""


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Put the source, such as an option, before the message of an error in settings or data."""
    try:
        yield
    except (SettingsError, DataError) as error:
        msg = f"{source}: {error}"
        raise SettingsError(msg) from error


def raised_in(error: Exception, files: Collection[str] = ()) -> str:
    """Return the message of an error of the user's code and its line: `no such key (test_invoices.py:12)`.

    `files`: those whose last line is named, if the error passed one of them.
    """
    frames = traceback.extract_tb(error.__traceback__)
    frame = next((frame for frame in reversed(frames) if frame.filename in files), frames[-1])
    return f"{' '.join(str(error).split())} ({Path(frame.filename).name}:{frame.lineno})"


def check_limits(limits: Mapping[str, tuple[float | None, float, float]]) -> None:
    """Check that each value is a number from its minimum to its maximum; `None` (not set) is valid."""
    for name, (value, minimum, maximum) in limits.items():
        numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is not None and not (numeric and minimum <= value <= maximum):
            end = "" if maximum == math.inf else f" to {maximum}"
            msg = f"{name} is {value!r}; expected a number from {minimum}{end}"
            raise SettingsError(msg)
