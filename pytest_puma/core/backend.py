"""What the engine asks of the thing that computes: llama.cpp, or a script in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from pytest_puma.core.conversation import Prompt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Logits: TypeAlias = NDArray[np.float32]
    Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Step:
    """Consecutive tokens of one sequence, to be decoded in the next batch.

    `start` is the position of the first token; logits are wanted for `tokens[rows_from:]`.
    """

    sequence: int
    start: int
    tokens: Sequence[int]
    rows_from: int


class Grammar(Protocol):
    """The state of a GBNF grammar along one response."""

    def allows(self, token: int) -> bool:
        """Whether the token may come next. An end-of-generation token may when the text is complete."""

    def mask(self) -> Mask:
        """Which tokens of the vocabulary may come next."""

    def accept(self, token: int) -> None:
        """Move on by a token that was allowed."""

    def close(self) -> None:
        """Give back what it holds."""


class Backend(Protocol):
    """A model with a cache of sequences.

    `context_limit`: the most tokens one sequence may hold. `cells`: the size of the cache where the
    user fixed it. `good_kv_slots`: how many cells that are not shared a batch may look at before it
    gets slow. `stream_kv_slots`: how many cells streams may take together, 0 where there are no streams.
    `batch`, `rows`: the most tokens and the most rows of logits of one decode.
    `sequences`: the most sequences that live at once (ids from 0); `parallel`: the requests that are
    worth running at once, `parallel_streams`: those in streams; `encoders`: the threads that may encode
    at once. `ends_of_turn`: the tokens of which the chat format puts one behind an answer. `signature`: all of
    it that could change a number. `stops`: strings that end every reply. `notes`: what a reader of the numbers must
    know.
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
    ends_of_turn: Sequence[int]
    signature: Mapping[str, str]
    stops: Sequence[str]
    notes: Sequence[str]

    def encode(self, prompt: Prompt, continuation: str = "") -> list[int]:
        """The tokens of the prompt in the model's chat format, with a continuation of the assistant's turn."""

    def is_end(self, token: int) -> bool:
        """Whether the token ends a generation."""

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for; they may cut a character in two."""

    def open(self, kv_slots: int, streams: int = 0) -> None:
        """Start with an empty cache of `cells` tokens.

        It is shared by all sequences, or divided evenly among so many streams, one for each sequence: what is forked
        is then copied, and no token looks at the cells of another sequence.
        """

    def decode(self, steps: Sequence[Step]) -> Logits:
        """Compute the steps; rows x vocabulary, in the order of the wanted rows, valid until the next call."""

    def fork(self, source: int, target: int) -> None:
        """Make the empty sequence `target` continue from where `source` stands now."""

    def drop(self, sequence: int) -> None:
        """Empty a sequence."""

    def grammar(self, text: str) -> Grammar:
        """Start a GBNF grammar; an `EngineError` says what is wrong with it."""

    def close(self) -> None:
        """Free the weights and the cache."""
