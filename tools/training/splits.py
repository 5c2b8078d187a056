"""Words in parts: some tokens of the issues are cut in two, so that the model also learns the parts of a word.

A tokenizer spells a frequent word with one token, and the same word with a typo with several tokens in an unusual
combination. This is what BPE-dropout does (Provilkov et al. 2020), with merges undone, not skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from random import Random

import numpy as np
from tokenizers import Tokenizer

from pytest_puma.scenarios.jira import PRIORITIES
from tools.training.cases import LABELS
from tools.training.tokens import Example

#: Share of the dialogues with cut tokens, and maximum share of cut tokens in their issues. Tokens of backlog items are
#: not cut: that made the model worse.
SHARE, MAX_SHARE = 0.5, 0.15
_CUT = tuple(LABELS.index(label) for label in PRIORITIES)


class Splits:
    """Cuts at random places, the same for the same seed and order of examples."""

    def __init__(self, tokenizer: Tokenizer, seed: int) -> None:
        self._tokenizer = tokenizer
        self._random = Random(seed)  # noqa: S311 - no secret

    def of(self, example: Example) -> Example:
        """Return the example with some tokens cut in two or more, with the same text and the same targets."""
        if self._random.random() >= SHARE:
            return example
        share = self._random.uniform(0, MAX_SHARE)
        cut = np.isin(example.about, _CUT)
        parts = [
            [*self._parts(token)] if may and self._random.random() < share else [token]
            for token, may in zip(example.tokens.tolist(), cut.tolist(), strict=True)
        ]
        sizes = [len(part) for part in parts]
        return replace(
            example,
            tokens=np.array([*chain.from_iterable(parts)], dtype=np.int32),
            places=np.cumsum(sizes)[example.places] - 1,
            about=np.repeat(example.about, sizes),
        )

    def _parts(self, token: int) -> Iterator[int]:
        """The tokens of its two halves, cut at a random place; a token of one byte is unchanged."""
        spelled = self._tokenizer.id_to_token(token) or ""
        at = self._random.randrange(1, len(spelled)) if len(spelled) > 1 else 1
        for half in filter(None, (spelled[:at], spelled[at:])):
            yield from (part.id for part in self._tokenizer.model.tokenize(half))
