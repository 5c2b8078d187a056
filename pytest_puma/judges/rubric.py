"""A rubric: the questions about a reply that a judge answers, in one or more languages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias, get_args

from pytest_puma.core import Direction, Sample, SettingsError
from pytest_puma.judges.scale import YES_NO, VerdictScale
from pytest_puma.judges.wording import words_of

#: What a judge may see of a sample. `pair`: the reply beside another one, the context's `rival`.
Part: TypeAlias = Literal["task", "truth", "reply", "pair"]
#: Tokens of the reasons before a verdict.
REASONS = 160


@dataclass(frozen=True, slots=True)
class Question:
    """A question by language, and the answers that it has."""

    texts: Mapping[str, str]
    scale: VerdictScale = YES_NO

    def text(self, language: str) -> str:
        """Return the question in a language, else in its first one."""
        return self.texts.get(language) or next(iter(self.texts.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """What a judge is asked about a reply.

    `questions`: by the part of the metric; one without a name for a metric without parts. All are asked after the same
    reasons. `shows`: what the judge sees. `better`: which values are better. `expected`: the value is the mean of all
    verdicts by probability, in place of the most probable one. `reasons`: the maximum number of their tokens, 0 for a
    verdict at once. With `expected`, a pair whose orders differ is the mean of both.
    """

    name: str
    questions: Mapping[str, Question]
    shows: tuple[Part, ...] = ("task", "reply")
    better: Direction = "high"
    expected: bool = False
    reasons: int = REASONS

    def __post_init__(self) -> None:
        """Refuse a rubric that asks nothing, or about nothing."""
        if not self.questions or not all(question.texts for question in self.questions.values()):
            msg = f"rubric {self.name!r} has no question; expected a text, or texts by language"
            raise SettingsError(msg)
        if ("reply" in self.shows) == ("pair" in self.shows) or not {*self.shows} <= {*get_args(Part)}:
            msg = f"rubric {self.name!r} shows {self.shows!r}; expected 'reply' or 'pair', and any of 'task', 'truth'"
            raise SettingsError(msg)

    @property
    def is_pair(self) -> bool:
        """Whether it compares two replies."""
        return "pair" in self.shows

    @property
    def digest(self) -> str:
        """The digest of everything that could change a prompt of the judge, or the value of a verdict."""
        words = [asdict(words_of(language)) for question in self.questions.values() for language in question.texts]
        return hashlib.sha256(json.dumps([asdict(self), words], sort_keys=True).encode()).hexdigest()

    def language_of(self, sample: Sample) -> str:
        """Return `language` of a sample's context or groups if the rubric has it, else the rubric's first language."""
        known = next(iter(self.questions.values())).texts
        code = str(sample.context.get("language") or sample.groups.get("language") or "")
        language = code.replace("_", "-").partition("-")[0].lower()
        return language if language in known else next(iter(known))
