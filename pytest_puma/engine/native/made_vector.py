"""A control vector made from pairs of texts by a loaded model, which the user's cache keeps.

The direction of a layer is the mean difference of its outputs between the positive and the negative texts, not
normalised, so that a strength of 1 moves the model from one side to the other. Source: N. Rimsky et al., "Steering
Llama 2 via contrastive activation addition", ACL 2024; there, of the last token, here, of all tokens of the reply but
the first, before which nothing is in its style.
"""

from __future__ import annotations

from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pytest_puma.core import Message, ModelError, Prompt
from pytest_puma.core.shared import common_prefix
from pytest_puma.engine.native.hidden import MAX_TOKENS, HiddenStates
from pytest_puma.errors import naming
from pytest_puma.models.control_vector import ControlVector
from pytest_puma.models.pairs import RECIPE, Pair, read_pairs
from pytest_puma.models.search import user_cache

#: Length of the mean difference, in mean lengths of the differences. Pairs of style had 0.75 and more, 48 differences
#: without a common direction have 0.14, and what rounding leaves of pairs that cancel has 1e-8.
_MIN_SHARE = 1e-3


class Reader(Protocol):
    """A loaded model."""

    def encode(self, prompt: Prompt, continuation: str = "", *, answer: bool = False) -> list[int]:
        """Return the tokens of a prompt with a reply."""

    def hidden_states(self) -> HiddenStates:
        """Return a new reader of the outputs of its layers."""


def made_vector(path: Path, model: Reader, *, weights: str, chat: bool) -> Path:
    """Return the file of the vector that a model makes from pairs; it is made once for the same pairs and `weights`.

    `chat`: whether the texts are replies in a chat, or plain text.
    """
    key = sha256(f"{RECIPE} {weights} {chat}".encode() + path.read_bytes()).hexdigest()
    file = user_cache() / "vectors" / f"{path.stem}-{key[:16]}.gguf"
    if weights and file.exists():
        return file
    with closing(model.hidden_states()) as states:
        differences = []
        for pair in read_pairs(path):
            with naming(f"{path}, line {pair.line}"):
                differences.append(_difference(pair, model, states, chat=chat))
    directions = {}
    for layer in filter(None, differences[0]):
        with naming(f"{path}, layer {layer}"):
            directions[layer] = _direction(np.stack([pair[layer] for pair in differences]))
    file.parent.mkdir(parents=True, exist_ok=True)
    ControlVector(directions).save(file)
    return file


def _direction(differences: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of the differences of all pairs; a `ModelError` if they cancel each other."""
    mean: NDArray[np.float32] = differences.mean(axis=0)
    length, lengths = np.linalg.norm(mean), np.linalg.norm(differences, axis=1).mean()
    if length <= _MIN_SHARE * lengths:
        msg = (
            f"the pairs cancel each other: a difference has the length {lengths:.3g}, the mean of all {length:.3g}; "
            "expected pairs that differ in one direction: are positive and negative swapped in some of them?"
        )
        raise ModelError(msg)
    return mean


def _difference(pair: Pair, model: Reader, states: HiddenStates, *, chat: bool) -> dict[int, NDArray[np.float32]]:
    positive, negative = (_mean(pair.prompt, text, model, states, chat=chat) for text in (pair.positive, pair.negative))
    return {layer: positive[layer] - negative[layer] for layer in positive}


def _mean(
    question: str, reply: str, model: Reader, states: HiddenStates, *, chat: bool
) -> dict[int, NDArray[np.float32]]:
    """The mean output of each layer over the tokens of a reply but its first, unless it is the only one."""
    prompt = Prompt(messages=(Message(role="user", content=question),), chat=chat)
    before, tokens = model.encode(prompt, answer=True), model.encode(prompt, reply)
    start = common_prefix(before, tokens)
    if start == len(tokens):
        msg = f"the reply {reply!r} has no tokens of its own; expected a longer text"
        raise ModelError(msg)
    if len(tokens) > MAX_TOKENS:
        msg = f"a prompt with its reply has {len(tokens)} tokens; expected at most {MAX_TOKENS}"
        raise ModelError(msg)
    styled = min(start + 1, len(tokens) - 1)
    return {layer: rows[styled:].mean(axis=0) for layer, rows in states.of(tokens).items()}
