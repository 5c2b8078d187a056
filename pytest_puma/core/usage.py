"""The cost of responses: tokens and seconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self


class _Additive:
    """Numbers that are added field by field."""

    __slots__: tuple[str, ...] = ()

    def __add__(self, other: Self) -> Self:
        """Add each field."""
        return type(self)(**{name: getattr(self, name) + getattr(other, name) for name in self.__slots__})


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(_Additive):
    """The cost of a response. Additive: `sum(usages, Usage())`.

    `cached_tokens` of the `prompt_tokens` were in the cache; `seconds`: from admission to the end of the response.
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    decoded_tokens: int = 0
    seconds: float = 0.0

    @classmethod
    def total(cls, usages: Iterable[Usage]) -> Usage:
        """Return the sum of any number of usages."""
        one, *more = [*usages] or [cls()]  # most conversations have one response, which needs no addition
        return cls(**{n: sum((getattr(u, n) for u in more), getattr(one, n)) for n in cls.__slots__}) if more else one


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed(_Additive):
    """Computed tokens and their time, in prefill batches and in decode batches (one token per reply).

    Additive, like `Usage`. Tokens of scored continuations count as prefill. `open_seconds`: to open caches, and to make
    and load what is put on the weights first.
    """

    prefill_tokens: int = 0
    prefill_seconds: float = 0.0
    decode_tokens: int = 0
    decode_seconds: float = 0.0
    open_seconds: float = 0.0
