"""A program that a metric runs, and what happened to it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pytest_puma.core.programming_language import LANGUAGES, PYTHON
from pytest_puma.errors import SettingsError, check_limits
from pytest_puma.phrases import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program, to be run in the sandbox. It passes if it reaches its last line, so tests are a part of it.

    `seconds` of computing and `megabytes` of memory are its limits. `packages`: it may import
    installed packages, beside the standard library. `language`: one of `programming_language.LANGUAGES` in place of
    Python. Two equal programs are run once.
    """

    text: str
    seconds: int = 5
    megabytes: int = 512
    packages: bool = False
    language: str = PYTHON

    def __post_init__(self) -> None:
        """Refuse limits under which no program starts, and unknown languages."""
        if self.language not in {PYTHON, *LANGUAGES}:
            msg = f"a program is in {shown(self.language)}; expected one of {PYTHON}, {', '.join(LANGUAGES)}"
            raise SettingsError(msg)
        check_limits({"seconds": (self.seconds, 1, 250), "megabytes": (self.megabytes, 64, math.inf)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What happened to a program.

    `passed`: it reached its end. `timed_out`: it was ended at its limit of time. `output`: the end of what it wrote,
    with the exception or the signal that ended it. `seconds`: wall-clock time.
    """

    passed: bool
    timed_out: bool = False
    output: str = ""
    seconds: float = 0.0


class Sandbox(Protocol):
    """Programs in, what happened to them out."""

    @property
    def signature(self) -> Mapping[str, str]:
        """Everything that could change what happens, as reports show it."""

    @property
    def warnings(self) -> Sequence[str]:
        """Sentences that each report repeats."""

    def versions(self, languages: Iterable[str]) -> Mapping[str, str]:
        """The versions of the compilers and interpreters of languages other than Python."""

    def run(self, programs: Sequence[Program]) -> Sequence[Ran]:
        """Run programs, several at once, each apart from all others; return what happened in their order."""
