"""A plain loop over llama.cpp, row by row: nothing shared, nothing batched, none of this project's engine.

It is what the engine's answers on real models are held against.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

# First, since it loads llama.cpp so that its threads sleep on a busy machine.
from pytest_puma.engine.native.binding import has_amx

# isort: split
import llama_cpp
import numpy as np
from numpy.typing import NDArray

Row: TypeAlias = NDArray[np.float64]
#: The bytes of each token, none of one that ends the text, and how far its logit led.
Pieces: TypeAlias = "list[tuple[bytes, float]]"
CELLS = 2048
#: The tokens of each file that end a line or the text: there are up to 262,144 to look at.
_ENDS: dict[Path, list[int]] = {}


@dataclass(frozen=True)
class Likely:
    """A continuation: its log-probability, that of its end, its tokens, whether each is the best, and one merged."""

    total: float
    end: float | None
    tokens: int
    greedy: bool
    merged: bool


def alike(one: Sequence[int], other: Sequence[int]) -> int:
    """The number of tokens with which both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def _logs(row: Row) -> Row:
    """Log-probabilities from logits."""
    return np.asarray(row - row.max() - np.log(np.exp(row - row.max()).sum()))


class Loop:
    """A model with one sequence, without flash attention."""

    def __init__(self, path: Path, *, threads: int) -> None:
        self._path = path
        weights = llama_cpp.llama_model_default_params()
        # As in the engine: llama.cpp's code for AMX, built with GCC, ends the process by an illegal instruction.
        weights.use_extra_bufts = not has_amx()
        self._model = llama_cpp.llama_model_load_from_file(os.fsencode(path), weights)
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = params.n_batch = CELLS
        params.n_threads = params.n_threads_batch = threads
        params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.swa_full = True
        self._context = llama_cpp.llama_init_from_model(self._model, params)
        self._vocab = llama_cpp.llama_model_get_vocab(self._model)
        self._continued: dict[tuple[int, ...], Pieces] = {}
        self._prompt: tuple[list[int], Row] = ([], np.empty(0))
        self._size = int(llama_cpp.llama_vocab_n_tokens(self._vocab))

    def close(self) -> None:
        """Free everything."""
        llama_cpp.llama_free(self._context)
        llama_cpp.llama_model_free(self._model)

    @property
    def adds_bos(self) -> bool:
        """True if the tokenizer begins a text with BOS."""
        return bool(llama_cpp.llama_vocab_get_add_bos(self._vocab))

    def tokens(self, text: str, *, bos: bool) -> list[int]:
        """Those of a whole prompt as text, its control tokens read as such."""
        data = text.encode()
        room = (llama_cpp.llama_token * (len(data) + 8))()
        count = llama_cpp.llama_tokenize(self._vocab, data, len(data), room, len(room), bos, True)  # noqa: FBT003
        return list(room[:count])

    def template(self) -> str | None:
        """The chat template in the file."""
        template = llama_cpp.llama_model_chat_template(self._model, None)
        return template.decode() if template else None

    def special(self, name: str) -> str:
        """The spelling of `bos` or `eos`."""
        token = getattr(llama_cpp, f"llama_vocab_{name}")(self._vocab)
        return self._piece(token, special=True).decode()

    def greedy(self, prompt: Sequence[int], most: int) -> Pieces:
        """The best continuation, token by token; each prompt is computed once."""
        key = (*prompt, most)
        if key not in self._continued:
            self._continued[key] = self._greedy(prompt, most)
        return self._continued[key]

    def _greedy(self, prompt: Sequence[int], most: int) -> Pieces:
        row = self._first(prompt)
        pieces = []
        for _ in range(most):
            token = int(row.argmax())
            end = llama_cpp.llama_vocab_is_eog(self._vocab, token)
            pieces.append((b"" if end else self._piece(token, special=False), float(np.diff(np.sort(row)[-2:])[0])))
            if end:
                break
            row = self._decode([token])
        return pieces

    def logprob(self, prompt: Sequence[int], tail: Sequence[int], ends: Sequence[int]) -> float:
        """That of the tail's tokens behind the prompt, and of any of the ends in place of its last one."""
        rows = [self._first(prompt), *self._rows(tail[:-1])]
        wanted = [*([token] for token in tail[:-1]), list(ends)]
        return sum(
            float(np.log(np.exp(row - row.max())[tokens].sum() / np.exp(row - row.max()).sum()))
            for row, tokens in zip(rows, wanted, strict=True)
        )

    def ends(self, *, chat: bool) -> list[int]:
        """The tokens that end an answer: that of the template in a chat, else those that end a line or the text."""
        if chat and self.template() is not None:
            return self.tokens("<|im_end|>", bos=False)
        if self._path not in _ENDS:
            _ENDS[self._path] = [token for token in range(self._size) if self._is_end(token)]
        return _ENDS[self._path]

    def _is_end(self, token: int) -> bool:
        is_last = bool(llama_cpp.llama_vocab_is_eog(self._vocab, token))
        return is_last or self._piece(token, special=False).startswith(b"\n")

    def likelihoods(self, prompt: str, continuations: Sequence[str], *, ends: Sequence[int] = ()) -> list[Likely]:
        """Those of each continuation of a text, one after the other behind the prompt that all share."""
        before = self.tokens(prompt, bos=self.adds_bos)
        full = [self.tokens(f"{prompt}{text}", bos=self.adds_bos) for text in continuations]
        boundary = min(alike(before, each[:-1]) for each in full)
        first = self._first(before[:boundary])
        memory, likely = llama_cpp.llama_get_memory(self._context), []
        for tail in (each[boundary:] for each in full):
            rows = [_logs(row) for row in (first, *self._rows(tail if ends else tail[:-1]))]
            llama_cpp.llama_memory_seq_rm(memory, 0, boundary, -1)
            pairs = list(zip(rows, tail, strict=False))
            likely.append(
                Likely(
                    total=sum(float(row[token]) for row, token in pairs),
                    end=float(np.log(np.exp(rows[-1][list(ends)]).sum())) if ends else None,
                    tokens=len(tail),
                    greedy=all(int(row.argmax()) == token for row, token in pairs),
                    merged=boundary < len(before),
                )
            )
        return likely

    def _first(self, prompt: Sequence[int]) -> Row:
        """The logits behind a prompt. The last one is not computed again: what followed it is removed."""
        memory = llama_cpp.llama_get_memory(self._context)
        if self._prompt[0] == list(prompt):
            llama_cpp.llama_memory_seq_rm(memory, 0, len(prompt), -1)
        else:
            llama_cpp.llama_memory_clear(memory, False)  # noqa: FBT003
            self._prompt = list(prompt), self._decode(prompt)
        return self._prompt[1]

    def _decode(self, tokens: Sequence[int]) -> Row:
        """The logits behind the last of these tokens."""
        return self._rows(tokens, last=True)[-1]

    def _rows(self, tokens: Sequence[int], *, last: bool = False) -> list[Row]:
        """The logits behind each of these tokens, or behind the last one, all in one decode."""
        if not tokens:
            return []
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        batch = llama_cpp.llama_batch_get_one(array, len(tokens))
        wanted = (ctypes.c_int8 * len(tokens))(*(not last or at == len(tokens) - 1 for at in range(len(tokens))))
        batch.logits = ctypes.cast(wanted, type(batch.logits))
        assert llama_cpp.llama_decode(self._context, batch) == 0
        pointers: list[Any] = [
            llama_cpp.llama_get_logits_ith(self._context, at) for at, each in enumerate(wanted) if each
        ]
        return [np.ctypeslib.as_array(each, shape=(self._size,)).astype(np.float64) for each in pointers]

    def _piece(self, token: int, *, special: bool) -> bytes:
        buffer = ctypes.create_string_buffer(256)
        length = llama_cpp.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, special)
        return buffer.raw[:length]
