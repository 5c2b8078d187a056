"""The nouns of eval-framework that a task of it uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

#: The only subject of a task without subjects.
NO_SUBJECT = "no_subject"


class ResponseType(Enum):
    """The kind of response that a model gives: a text, or the likelihoods of given texts."""

    COMPLETION = "completion"
    LOGLIKELIHOODS = "loglikelihoods"


class Language(Enum):
    """Languages of a task, by their codes of ISO 639-3; the value is the code of ISO 639-1."""

    ENG = "en"
    DEU = "de"
    FRA = "fr"
    ITA = "it"
    SPA = "es"
    POR = "pt"
    NLD = "nl"
    FIN = "fi"
    SWE = "sv"
    ARB = "ar"
    POL = "pl"
    RUS = "ru"
    UKR = "uk"
    HRV = "hr"
    SRP = "sr"


class Role(Enum):
    """The role of a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(slots=True)
class Message:
    """One message of a chat; one of the assistant at the end is the cue."""

    role: Role
    content: str


class BaseMetricContext:
    """Arguments of a metric, as attributes. A subclass may annotate them."""

    def __init__(self, **arguments: Any) -> None:
        vars(self).update(arguments)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments by name, with the defaults of the class."""
        names = {name for kind in type(self).__mro__ for name in vars(kind).get("__annotations__", {})}
        defaults = {name: getattr(type(self), name) for name in sorted(names) if hasattr(type(self), name)}
        return defaults | vars(self)


@dataclass(slots=True, kw_only=True)
class Sample:
    """One question: messages, and the right answers or None; `possible_completions` are the texts to score."""

    id: int
    subject: str
    messages: list[Message]
    ground_truth: str | list[str] | None
    possible_completions: list[str] | None = None
    context: BaseMetricContext | Mapping[str, Any] | list[BaseMetricContext] | None = None
