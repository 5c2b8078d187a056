"""The tokenizer, and dialogues as tokens with their targets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from tools.training.cases import LABELS, Piece, written

END_OF_TEXT, START_OF_TURN, END_OF_TURN = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
CONTROL_TOKENS = (END_OF_TEXT, START_OF_TURN, END_OF_TURN)
#: The split of a text by this pre-tokenizer in llama.cpp; with another split, merges would never apply. It keeps up to
#: three digits together, so each number of story points is one token. Digit by digit, the evidence for 1 and for 13
#: would add up at an answer's first token, and win over any number between them.
PRE = "llama-bpe"
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
#: Loss weight of a word; an answer and the first word of a reply, which decides the rest, have 1.
WORD_WEIGHT = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A dialogue of T tokens, with N targets of training.

    `places` (N): the token before the predicted one. `candidates` (N, C), `chances` (N, C): possible next tokens with
    their probabilities, padded with 0. `weights` (N): the loss weight of the place. `about` (T): the index in `LABELS`
    of the label of a token's text, or -1.
    """

    tokens: NDArray[np.int32]
    places: NDArray[np.int64]
    candidates: NDArray[np.int64]
    chances: NDArray[np.float32]
    weights: NDArray[np.float32]
    about: NDArray[np.int64]


MAX_CANDIDATES = 10


def train_tokenizer(texts: Iterable[str], size: int) -> Tokenizer:
    """Train a byte-level byte-pair encoding with `size` tokens, control tokens included."""
    tokenizer = byte_level_bpe()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(CONTROL_TOKENS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def byte_level_bpe(vocabulary: dict[str, int] | None = None, merges: list[tuple[str, str]] | None = None) -> Tokenizer:
    """Return a tokenizer that splits like llama.cpp with `PRE`: a word that is a token is never split."""
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, ignore_merges=True))
    split = pre_tokenizers.Split(Regex(SPLIT), behavior="isolated")
    spell = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, spell])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def encode(dialogue: Sequence[Piece], tokenizer: Tokenizer) -> Example:
    """Tokenise a dialogue like the engine: as one text."""
    text = written(dialogue)
    encoded = tokenizer.encode(text, add_special_tokens=False)
    starts = [0, *accumulate(len(piece.text) for piece in dialogue)][:-1]
    targets: dict[int, tuple[dict[int, float], float]] = {}
    pieces = [dialogue[bisect_right(starts, end - 1) - 1] for _, end in encoded.offsets]
    for place, piece in enumerate(pieces):
        if place and piece.learned and piece.odds is None:
            targets[place] = ({encoded.ids[place]: 1.0}, WORD_WEIGHT if piece is pieces[place - 1] else 1.0)
    for start, piece in zip(starts, dialogue, strict=True):
        if piece.odds is not None:
            targets |= _answer_targets(start, piece, piece.odds, text, encoded, tokenizer)
    about = [-1 if piece.about is None else LABELS.index(piece.about) for piece in pieces]
    return _example(encoded.ids, dict(sorted(targets.items())), about)


def _answer_targets(  # noqa: PLR0917
    start: int, piece: Piece, odds: Mapping[str, float], text: str, encoded: Encoding, tokenizer: Tokenizer
) -> dict[int, tuple[dict[int, float], float]]:
    """The odds of all continuations that belong to labels, at each token of an answer and after it."""
    ids, offsets = encoded.ids, encoded.offsets
    first = next(place for place, (_, end) in enumerate(offsets) if end > start)
    last = max(place for place, (begin, _) in enumerate(offsets) if begin < start + len(piece.text))
    lead = text[offsets[first][0] : start]  # a blank that belongs to the answer's first token
    spelled = {label: tokenizer.encode(lead + label, add_special_tokens=False).ids for label in odds}
    path = ids[first : last + 1]
    if spelled[piece.text] != path:
        msg = f"{piece.text!r} is {path} in its place, but {spelled[piece.text]} alone"
        raise ValueError(msg)
    targets = {}
    for depth in range(len(path) + 1):
        chances: dict[int, float] = {}
        for label, share in odds.items():
            tokens = [*spelled[label], ids[last + 1]]
            if tokens[:depth] == path[:depth] and len(tokens) > depth:
                chances[tokens[depth]] = chances.get(tokens[depth], 0.0) + share
        total = sum(chances.values())
        targets[first + depth] = ({token: chance / total for token, chance in chances.items()}, 1.0)
    return targets


def _example(
    ids: Sequence[int], targets: Mapping[int, tuple[Mapping[int, float], float]], about: Sequence[int]
) -> Example:
    size = len(targets)
    candidates = np.zeros((size, MAX_CANDIDATES), dtype=np.int64)
    chances = np.zeros((size, MAX_CANDIDATES), dtype=np.float32)
    for row, (odds, _) in enumerate(targets.values()):
        candidates[row, : len(odds)] = list(odds)
        chances[row, : len(odds)] = list(odds.values())
    return Example(
        tokens=np.array(ids, dtype=np.int32),
        places=np.array([place - 1 for place in targets], dtype=np.int64),
        candidates=candidates,
        chances=chances,
        weights=np.array([weight for _, weight in targets.values()], dtype=np.float32),
        about=np.array(about, dtype=np.int64),
    )
