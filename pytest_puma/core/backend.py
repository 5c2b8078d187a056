"""The interface between the engine and the backend that computes: llama.cpp, or a script in its place.

A model may write marks around its thoughts:

    <|channel|>analysis<|message|>Nobody can log in.<|end|><|start|>assistant<|channel|>final<|message|>Critical
    <think>Nobody can log in.</think>Critical

A reply shows its thoughts between `<think>` and `</think>`, whatever the model writes, so that parsers and reports know
one spelling. Thoughts that the prompt opened get their first tag, too: a reply that is cut off inside has no answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from pytest_puma.core.conversation import Prompt
from pytest_puma.core.variant import Variant

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Logits: TypeAlias = NDArray[np.float32]
    Mask: TypeAlias = NDArray[np.bool_]


OPEN, CLOSE = "<think>", "</think>"


def split_thoughts(text: str) -> tuple[str, str]:
    """Return the thoughts with which a reply begins, and the text behind them; both may be empty."""
    if not text.lstrip().startswith(OPEN):
        return "", text
    thoughts, _, said = text.lstrip().removeprefix(OPEN).partition(CLOSE)
    return thoughts.rstrip(), said


@dataclass(frozen=True, slots=True, kw_only=True)
class Thoughts:
    """The marks that a model may write after a prompt; all are empty if it has none.

    `begun`: the prompt ends inside thoughts. `answer`: the mark of an answer without thoughts.
    """

    open: str = ""
    close: str = ""
    begun: bool = False
    answer: str = ""

    def shown(self, text: str) -> str:
        """Return a reply with its thoughts between `<think>` and `</think>`."""
        for mark, tag in ((self.open, OPEN), (self.close, CLOSE)):
            if mark and mark != tag:
                text = text.replace(mark, tag)
        return f"{OPEN}{text}" if self.begun else text.removeprefix(self.answer)

    def unfinished(self, text: str) -> bool:
        """Whether a reply so far ends inside thoughts."""
        if not self.close:
            return False
        opened = text.rfind(self.open) if self.open else -1
        closed = text.rfind(self.close)
        return opened > closed or (self.begun and closed < 0)

    def goes_on(self, text: str, end: str) -> bool:
        """Whether a token that ends turns ends only the thoughts of a reply so far: their mark begins with it."""
        return bool(end) and self.close.startswith(end) and self.unfinished(text)


@dataclass(frozen=True, slots=True)
class Step:
    """Consecutive tokens of one sequence, to be decoded in the next batch.

    `start` is the position of the first token; `tokens[rows_from:]` need logits. `prompt` is the number of tokens with
    which the sequence begins that are its prompt and no reply; None for a prefix that several prompts share.
    """

    sequence: int
    start: int
    tokens: Sequence[int]
    rows_from: int
    prompt: int | None = None


class Grammar(Protocol):
    """The state of a GBNF grammar along one response."""

    def allows(self, token: int) -> bool:
        """Whether the token may come next; an end-of-generation token may if the text is complete."""

    def mask(self) -> Mask:
        """Return which tokens may come next, as a mask over the vocabulary."""

    def accept(self, token: int) -> None:
        """Advance by an allowed token."""

    def close(self) -> None:
        """Free its resources."""


class AnyText:
    """A grammar that allows everything, for a backend that computes nothing. `size`: that of the vocabulary."""

    def __init__(self, size: int) -> None:
        self._size = size

    def allows(self, token: int) -> bool:  # noqa: ARG002 - any
        """Return True."""
        return True

    def mask(self) -> Mask:
        """Return True for each token."""
        import numpy as np

        return np.ones(self._size, dtype=np.bool_)

    def accept(self, token: int) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class Backend(Protocol):
    """A model with a KV cache of several sequences.

    Sizes: `context_limit` is the maximum of tokens of a sequence; `kv_slots` the size of the KV cache if the user fixed
    it; `good_kv_slots` the unshared slots that a batch may visit before it gets slow; `stream_kv_slots` the maximum of
    slots of all streams together, 0 without streams; `batch` and `rows` the maximum of tokens and of rows of logits of
    one decode; `sequences` the maximum of sequences at once (ids from 0). Requests at once: `parallel` in a shared
    cache, `parallel_streams` in streams; `encoders` threads may encode at once. `copied`: tokens of the last decode
    whose keys and values were copied from an earlier cache, with the same result.

    Texts: `ends_of_turn` are the tokens that may follow an answer, in a chat or in plain text, whichever the model's
    options ask for; `stops` the strings that end every reply in a chat; `signature` the properties that could change a
    number; `notes` warnings for the report.
    """

    context_limit: int
    kv_slots: int | None
    good_kv_slots: int
    stream_kv_slots: int
    batch: int
    rows: int
    sequences: int
    parallel: int
    parallel_streams: int
    encoders: int
    copied: int
    ends_of_turn: Sequence[int]
    signature: Mapping[str, str]
    stops: Sequence[str]
    notes: Sequence[str]

    def encode(self, prompt: Prompt, continuation: str = "", *, answer: bool = False) -> list[int]:
        """Return the tokens of the prompt, in the model's chat format or as plain text, with a continuation.

        `answer`: up to the place where an answer begins, as before a continuation; the thoughts of a model that may
        think are closed there.
        """

    def thoughts(self, prompt: Prompt) -> Thoughts:
        """Return the marks around thoughts that the reply to a prompt may have."""

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of a text inside a reply; control tokens that it spells are text."""

    def is_end(self, token: int) -> bool:
        """Whether the token ends a generation."""

    def piece(self, token: int) -> bytes:
        """Return the bytes of a token; a character may be split over several tokens.

        Of control tokens, only those in the marks of thoughts have any.
        """

    def vary(self, variant: Variant | None) -> None:
        """Put a variant on the weights, None to take everything off, from the next `open` on; and in the signature."""

    def open(self, kv_slots: int, streams: int = 0) -> None:
        """Start with an empty KV cache of `kv_slots` tokens.

        It is shared by all sequences, or divided evenly among `streams`, one for each sequence: a fork then copies, and
        no token visits the slots of another sequence.
        """

    def decode(self, steps: Sequence[Step]) -> Logits:
        """Compute the steps; return logits (rows x vocabulary) in the order of the steps, valid until the next call."""

    def fork(self, source: int, target: int) -> None:
        """Make the empty sequence `target` continue from the current end of `source`."""

    def drop(self, sequence: int) -> None:
        """Empty a sequence."""

    def grammar(self, text: str) -> Grammar:
        """Start a GBNF grammar; an `EngineError` if it is invalid."""

    def close(self) -> None:
        """Free the weights and the cache."""
