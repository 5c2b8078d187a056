"""Grammars: the tokens that may come next."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import llama_cpp
import numpy as np

from pytest_puma.core import EngineError
from pytest_puma.engine.native.binding import error_log

if TYPE_CHECKING:
    from pytest_puma.core.backend import Mask


class NativeGrammar:
    """The state of a grammar along one response."""

    def __init__(self, vocab: Any, size: int, text: str, is_end: Callable[[int], bool]) -> None:
        self._size = size
        self._is_end = is_end
        self._sampler = llama_cpp.llama_sampler_init_grammar(vocab, text.encode(), b"root")
        # For a grammar with errors, the binding returns a null pointer object, which is not None.
        if not self._sampler:
            self._sampler = None
            msg = f"llama.cpp cannot read the grammar {text!r}; expected GBNF with a rule named root{error_log()}"
            raise EngineError(msg)

    def allows(self, token: int) -> bool:
        """Whether the token may come next."""
        return bool(np.isfinite(self._apply(np.array([token]))[0]))

    def mask(self) -> Mask:
        """Return which tokens may come next, as a mask over the vocabulary; takes tens of milliseconds."""
        return np.asarray(np.isfinite(self._apply(np.arange(self._size))), dtype=np.bool_)

    def accept(self, token: int) -> None:
        """Advance by a token. A token that is not allowed would abort the process, so it is refused."""
        if not self.allows(token):
            msg = f"the grammar does not allow token {token} here"
            raise EngineError(msg)
        if not self._is_end(token):
            llama_cpp.llama_sampler_accept(self._sampler, token)

    def close(self) -> None:
        """Free the state. May be called twice."""
        # Forgotten first: an interrupt must not leave a pointer to freed memory.
        sampler, self._sampler = self._sampler, None
        if sampler:
            llama_cpp.llama_sampler_free(sampler)

    def _apply(self, tokens: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Logits of the tokens: zero, or minus infinity if the grammar forbids the token."""
        data = np.zeros(len(tokens), dtype=[("id", np.int32), ("logit", np.float32), ("p", np.float32)])
        data["id"] = tokens
        array = llama_cpp.llama_token_data_array(
            data=ctypes.cast(data.ctypes.data, llama_cpp.llama_token_data_p),
            size=len(tokens),
            selected=-1,
            sorted=False,
        )
        llama_cpp.llama_sampler_apply(self._sampler, ctypes.byref(array))
        return np.asarray(data["logit"])
