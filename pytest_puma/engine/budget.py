"""The budget of a template's rendering: characters of text it may make, and processor time."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, ValuesView
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import Any

from jinja2 import TemplateError

#: Characters of budget for a rendering, and for each character of its variables.
CHARACTERS, CHARACTERS_PER_CHARACTER = 10_000_000, 100
#: Processor seconds of a rendering; usual ones take less than a thousandth.
SECONDS = 5.0
#: Steps from one look at the clock to the next: reading it takes longer than a step, and few renderings have as many.
_STEPS = 100
#: Price of an element of a list, in characters.
ELEMENT = 50


class LimitError(TemplateError):
    """A template exceeds its budget."""


class Budget(threading.local):
    """The budget of this thread's rendering; without a rendering, it is empty."""

    left = 0
    until = 0.0
    steps = 0
    variables: Callable[[], int] | None = None

    @contextmanager
    def granted(self, variables: Callable[[], int]) -> Iterator[None]:
        """Grant the budget for one rendering; `variables` counts their characters, which hardly any rendering needs."""
        self.left, self.variables = CHARACTERS, variables
        self.steps, self.until = 0, math.inf
        try:
            yield
        finally:
            self.left, self.variables = 0, None

    def spend(self, characters: int) -> None:
        """Pay for characters; errors as in `require`."""
        self.require(characters)
        self.left -= characters

    def require(self, characters: int) -> None:
        """Raise a `LimitError` if the budget has not as many characters, or the time is used up."""
        if characters > self.left and not (self._extended() and characters <= self.left):
            msg = f"it makes too much text, or loops too often (limit: {CHARACTERS:,} characters)"
            raise LimitError(msg)
        self.steps += 1
        if self.steps % _STEPS:
            return
        now = time.thread_time()
        self.until = min(self.until, now + SECONDS)
        if now > self.until:
            msg = f"it takes more than {SECONDS:.0f} seconds"
            raise LimitError(msg)

    def size(self, value: Any) -> int:
        """Approximate characters of a value as text; counting stops when the budget is exceeded."""
        characters = size(value, self.left)
        return size(value, self.left) if characters > self.left and self._extended() else characters

    def _extended(self) -> bool:
        """Add the part of the budget for the variables; return False if it was added before."""
        if self.variables is None:
            return False
        self.left += CHARACTERS_PER_CHARACTER * self.variables()
        self.variables = None
        return True


def size(value: Any, limit: int) -> int:
    """Approximate characters of a value as text; counting stops above the limit."""
    characters, values = 0, [value]
    while values and characters <= limit:
        each = values.pop()
        if isinstance(each, str | bytes):
            characters += len(each)
        elif isinstance(each, Mapping):
            characters += ELEMENT * len(each)
            values += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple | AbstractSet | ValuesView):
            characters += ELEMENT * len(each)
            values += each
        elif isinstance(each, range):
            characters += ELEMENT * len(each)
        else:
            characters += each.bit_length() // 3 + 1 if isinstance(each, int) else 1
    return characters
