"""The text side of a model: chat format, tokens, and the bytes that they stand for."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import llama_cpp

from pytest_puma.core import EngineError, Prompt
from pytest_puma.engine.chat import ChatFormat
from pytest_puma.engine.native.binding import last_words
from pytest_puma.engine.native.grammar import NativeGrammar


class Vocabulary:
    """Of a loaded model, the weights of which it does not touch.

    `size`: tokens. `end_of_turn`: the token that the chat template puts behind an answer. `notes`: what a reader of the
    numbers must know.
    """

    def __init__(self, model: Any, *, name: str, thinking: bool) -> None:
        self._name = name
        self._vocab = llama_cpp.llama_model_get_vocab(model)
        self.size = int(llama_cpp.llama_vocab_n_tokens(self._vocab))
        self.notes: Sequence[str] = ()
        self._pieces: dict[int, bytes] = {}
        self._ends: dict[int, bool] = {}
        self._controls: dict[int, bool] = {}
        self._chat = self._chat_format(model, thinking=thinking)
        self.end_of_turn = self._find_end_of_turn()

    def encode(self, prompt: Prompt, continuation: str = "") -> list[int]:
        """The tokens of the prompt in the model's chat format, with a continuation of the assistant's turn."""
        # As one text, so that a token may merge across the end of the prompt.
        prompt = replace(prompt, prefill=prompt.prefill + continuation)
        if any(self._has_control(message.content) for message in prompt.messages):
            # A sample that spells a control token must not become one; pieces tokenise a little differently.
            pieces = self._chat.pieces(prompt)
            tokens = [token for text, trusted in pieces for token in self._tokenize(text, control=trusted)]
        else:
            tokens = self._tokenize(self._chat.render(prompt))
        bos = llama_cpp.llama_vocab_bos(self._vocab)
        # A template that prints the BOS token must not get a second one.
        if llama_cpp.llama_vocab_get_add_bos(self._vocab) and tokens[:1] != [bos]:
            tokens.insert(0, bos)
        return tokens

    def is_end(self, token: int) -> bool:
        """Whether the token ends a generation."""
        if token not in self._ends:
            self._ends[token] = bool(llama_cpp.llama_vocab_is_eog(self._vocab, token))
        return self._ends[token]

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for; none for a control token."""
        if token not in self._pieces:
            self._pieces[token] = self._token_text(token, special=False)
        return self._pieces[token]

    def grammar(self, text: str) -> NativeGrammar:
        """Start a GBNF grammar."""
        return NativeGrammar(self._vocab, self.size, text, self.is_end)

    def _has_control(self, text: str) -> bool:
        # Spelled-out control tokens are bracketed in every vocabulary; most texts have no bracket at all.
        if "<" not in text and "[" not in text:
            return False
        return any(map(self._is_control, set(self._tokenize(text))))

    def _is_control(self, token: int) -> bool:
        if token not in self._controls:
            self._controls[token] = bool(llama_cpp.llama_vocab_is_control(self._vocab, token))
        return self._controls[token]

    def _tokenize(self, text: str, *, control: bool = True) -> list[int]:
        data = text.encode("utf-8", errors="replace")
        room = len(data) + 8
        tokens = (llama_cpp.llama_token * room)()
        count = llama_cpp.llama_tokenize(self._vocab, data, len(data), tokens, room, False, control)  # noqa: FBT003
        if count < 0:
            msg = f"{self._name}: a prompt of {len(data)} bytes cannot be tokenised{last_words()}"
            raise EngineError(msg)
        return list(tokens[:count])

    def _token_text(self, token: int, *, special: bool) -> bytes:
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = llama_cpp.llama_token_to_piece(self._vocab, token, buffer, size, 0, special)
            if length >= 0:
                return buffer.raw[:length]
            size = -length

    def _chat_format(self, model: Any, *, thinking: bool) -> ChatFormat:
        template = llama_cpp.llama_model_chat_template(model, None)
        if not template:
            self.notes = ("the file has no chat template; prompts use the plain format 'User: ... Assistant: ...'",)
        return ChatFormat(
            template.decode("utf-8", errors="replace") if template else None,
            bos=self._special(llama_cpp.llama_vocab_bos(self._vocab)),
            eos=self._special(llama_cpp.llama_vocab_eos(self._vocab)),
            thinking=thinking,
        )

    def _special(self, token: int) -> str:
        return self._token_text(token, special=True).decode("utf-8", errors="replace") if token >= 0 else ""

    def _find_end_of_turn(self) -> int:
        """What the template itself puts behind an answer, else what the vocabulary declares."""
        ends = [token for token in self._tokenize(self._chat.answered("x")) if self.is_end(token)]
        declared = [llama_cpp.llama_vocab_eot(self._vocab), llama_cpp.llama_vocab_eos(self._vocab)]
        found = next((int(token) for token in [*ends[-1:], *declared] if token >= 0), None)
        if found is None:
            msg = f"{self._name}: the vocabulary has no end-of-turn token"
            raise EngineError(msg)
        return found
