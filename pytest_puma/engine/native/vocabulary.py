"""The text side of a model: chat format, tokens, and their bytes."""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import llama_cpp

from pytest_puma.core import EngineError, Model, ModelOptions, Prompt
from pytest_puma.core.backend import Grammar, Thoughts
from pytest_puma.engine.chat import ChatFormat
from pytest_puma.engine.native.binding import error_log
from pytest_puma.engine.native.grammar import NativeGrammar

#: Kinds of tokens that llama.cpp parses in a text only on request.
_CONTROL = llama_cpp.LLAMA_TOKEN_ATTR_CONTROL | llama_cpp.LLAMA_TOKEN_ATTR_UNKNOWN
#: Spellings of a line break at the start of a token: the character, its byte, and GPT-2's character for that byte.
_LINE_BREAKS = (b"\n", b"<0x0A>", "Ċ".encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Encoded:
    """A prompt's tokens; continuations follow the tokens of `head`, tokenised together with the text `tail`.

    `control`: the tail may spell control tokens; a sample must not.
    """

    prompt: Prompt
    answer: bool
    tokens: list[int]
    head: list[int]
    tail: str
    control: bool = True


class Vocabulary:
    """The vocabulary of a loaded model; the weights are not used.

    `size`: number of tokens. `stop`: a token that ends a generation. `ends_of_turn`: the tokens that may follow an
    answer. `stops`: strings that end every reply in a chat. `notes`: warnings for the report. `chat_format`: what was
    learned from the chat template, in words.
    """

    def __init__(self, pointer: Any, model: Model) -> None:
        """`pointer` is that of llama.cpp's model."""
        self._name = model.name
        self._vocab = llama_cpp.llama_model_get_vocab(pointer)
        self.size = int(llama_cpp.llama_vocab_n_tokens(self._vocab))
        self.notes: Sequence[str] = ()
        self._pieces: dict[int, bytes] = {}
        self._ends: dict[int, bool] = {}
        self._controls = self._control_tokens()
        # The longest first, as in llama.cpp: one spelling may be a prefix of another.
        spellings = sorted(filter(None, self._controls.values()), key=len, reverse=True)
        self._spelled = re.compile("|".join(map(re.escape, spellings)) or "(?!)")
        # The last prompt of each thread: a scored prompt is encoded for each continuation, a vote's for each reply.
        self._last = threading.local()
        self._chat = self._chat_format(pointer, model.options)
        self.stops: Sequence[str] = self._chat.stops
        self._printed = self._controls.keys() & {token for mark in self._chat.marks for token in self._tokenize(mark)}
        self.stop, in_line = self._find_stop()
        chat = model.options.chat
        self.ends_of_turn: Sequence[int] = self._find_ends_of_turn(in_lines=not chat or not in_line)
        self.chat_format: Mapping[str, str] = {**self._chat.facts(), "answer ends with": repr(self._special(self.stop))}
        if not chat:
            self.chat_format, self.notes = {}, ()

    def encode(self, prompt: Prompt, continuation: str = "", *, answer: bool = False) -> list[int]:
        """Return the tokens of the prompt, in the model's chat format or as plain text, with a continuation.

        `answer`: up to the place where an answer begins, behind any thoughts; a continuation always begins there. A
        control token spelled in it is encoded as text.
        """
        answer = answer or bool(continuation)
        encoded = getattr(self._last, "encoded", None)
        if encoded is None or encoded.prompt is not prompt or encoded.answer != answer:
            encoded = self._last.encoded = self._encode(prompt, answer=answer)
        if not continuation:
            return encoded.tokens[:]
        text = continuation if prompt.prefill else f"{self._chat.joint_of(prompt)}{continuation}"
        if self._has_control(continuation):
            return encoded.tokens + self._tokenize(text, control=False)
        # Tokenised as one text, so that a token may merge across the end of the prompt.
        return encoded.head + self._tokenize(f"{encoded.tail}{text}", control=encoded.control)

    def thoughts(self, prompt: Prompt) -> Thoughts:
        """Return the marks around thoughts that the reply to a prompt may have."""
        return self._chat.thoughts(prompt)

    def _encode(self, prompt: Prompt, *, answer: bool) -> _Encoded:
        encoded = self._encode_trusted
        if any(self._has_control(message.content) for message in prompt.messages):
            encoded = self._encode_untrusted
        head, tail, control = encoded(prompt, answer=answer)
        end = self._tokenize(tail, control=control)
        bos = llama_cpp.llama_vocab_bos(self._vocab)
        # A template that prints the BOS token must not get a second one.
        if llama_cpp.llama_vocab_get_add_bos(self._vocab) and (head or end)[:1] != [bos]:
            head.insert(0, bos)
        return _Encoded(prompt=prompt, answer=answer, tokens=head + end, head=head, tail=tail, control=control)

    def _encode_trusted(self, prompt: Prompt, *, answer: bool) -> tuple[list[int], str, bool]:
        """The tokens before the last control token, the text from it on, and that this text may spell others."""
        text = self._chat.render(prompt, answer=answer)
        tokens = self._tokenize(text)
        cut, tail = self._cut(text, tokens)
        return tokens[:cut], tail, True

    def _encode_untrusted(self, prompt: Prompt, *, answer: bool) -> tuple[list[int], str, bool]:
        """The same for a prompt whose samples spell control tokens, which must stay text.

        The text between two control tokens of the template is tokenised as a whole, as llama.cpp does it: some
        vocabularies put a blank before each text.
        """
        rendered, spelled = self._chat.marked(prompt, self._spelled, answer=answer)
        text, *rest = re.split(f"({self._spelled.pattern})", rendered)
        head: list[int] = []
        for control, following in zip(rest[::2], rest[1::2], strict=True):
            tokens = self._tokenize(control)
            head += [*self._tokenize(_respelled(text, spelled), control=False), *tokens]
            strips = llama_cpp.llama_vocab_get_attr(self._vocab, tokens[-1]) & llama_cpp.LLAMA_TOKEN_ATTR_RSTRIP
            text = following.lstrip() if strips else following
        return head, _respelled(text, spelled), False

    def _cut(self, text: str, tokens: list[int]) -> tuple[int, str]:
        """The number of tokens before the last control token, and the text from it on.

        Text on one side of a control token does not change the tokens on the other side.
        """
        at = next((at for at in reversed(range(len(tokens))) if tokens[at] in self._controls), 0)
        start = text.rfind(self._controls[tokens[at]]) if at else 0
        if start > 0 and self._tokenize(text[start:]) == tokens[at:]:
            return at, text[start:]
        return 0, text

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of a text inside a reply; control tokens that it spells are text."""
        # Some vocabularies put a blank before the first word of a text, but not before that of a second line.
        alone, line = self._tokenize(text, control=False), self._tokenize("\n", control=False)
        if len(alone) == 1 and self.piece(alone[0]) == text.encode():
            return alone
        inside = self._tokenize(f"\n{text}", control=False)
        return inside[len(line) :] if inside[: len(line)] == line else alone

    def is_end(self, token: int) -> bool:
        """Whether the token ends a generation."""
        if token not in self._ends:
            self._ends[token] = self._is_eog(token) or (token == self.stop and token not in self._printed)
        return self._ends[token]

    def piece(self, token: int) -> bytes:
        """Return the bytes of a token; none for a control token, unless it marks thoughts."""
        if token not in self._pieces:
            self._pieces[token] = self._token_text(token, special=token in self._printed)
        return self._pieces[token]

    def grammar(self, text: str) -> Grammar:
        """Start a GBNF grammar."""
        return NativeGrammar(self._vocab, self.size, text, self.is_end)

    def _has_control(self, text: str) -> bool:
        # The search is cheap: it avoids tokenising a text without any spelling.
        return bool(self._spelled.search(text)) and not self._controls.keys().isdisjoint(self._tokenize(text))

    def _control_tokens(self) -> dict[int, str]:
        """Control tokens and the unknown token, with the spelling of each."""
        attributes = map(partial(llama_cpp.llama_vocab_get_attr, self._vocab), range(self.size))
        return {token: self._special(token) for token, kind in enumerate(attributes) if kind & _CONTROL}

    def _tokenize(self, text: str, *, control: bool = True) -> list[int]:
        data = text.encode("utf-8", errors="replace")
        room = len(data) + 8
        tokens = (llama_cpp.llama_token * room)()
        count = llama_cpp.llama_tokenize(self._vocab, data, len(data), tokens, room, False, control)  # noqa: FBT003
        if count < 0:
            msg = f"{self._name}: a prompt of {len(data)} bytes cannot be tokenised{error_log()}"
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

    def _chat_format(self, pointer: Any, options: ModelOptions) -> ChatFormat:
        template = llama_cpp.llama_model_chat_template(pointer, None)
        chat_format = ChatFormat(
            template.decode("utf-8", errors="replace") if template else None,
            bos=self._special(llama_cpp.llama_vocab_bos(self._vocab)),
            eos=self._special(llama_cpp.llama_vocab_eos(self._vocab)),
            thinking=options.thinking,
            effort=options.reasoning_effort,
        )
        missing = "the file has no chat template; prompts use the plain format 'User: ... Assistant: ...'"
        self.notes = (*([] if template else [missing]), *chat_format.notes)
        return chat_format

    def _special(self, token: int) -> str:
        return self._token_text(token, special=True).decode("utf-8", errors="replace") if token >= 0 else ""

    def _find_stop(self) -> tuple[int, bool]:
        """The token that ends an answer, and whether it ends the line of the answer.

        It is the first control token that the template puts behind an answer, else the one that the vocabulary
        declares.
        """
        texts = self._chat.after
        behind = [token for text in texts for token in self._tokenize(text)]
        shown = [token for token in behind if token in self._controls or self._is_eog(token)]
        declared = [llama_cpp.llama_vocab_eot(self._vocab), llama_cpp.llama_vocab_eos(self._vocab)]
        stop = next((int(token) for token in [*shown[:1], *declared] if token >= 0), None)
        if stop is None:
            msg = f"{self._name}: the vocabulary has no end-of-turn token"
            raise EngineError(msg)
        return stop, not next(filter(None, texts), "").startswith("\n")

    def _find_ends_of_turn(self, *, in_lines: bool) -> tuple[int, ...]:
        """The stop token alone; in plain text and in the plain format any token that ends a line or the text.

        Base models hardly ever generate an end-of-turn token. On Gemma 3 270M base, with three examples in the prompt,
        the total probability of the four labels was 1e-19 with `<end_of_turn>`, 1e-6 with `<eos>`, 1e-4 with one line
        break, 4e-4 with two, 5e-4 with any of these, and the most probable label differed (median of twelve issues).
        """
        if not in_lines:
            return (self.stop,)
        ends = (token for token in range(self.size) if self._is_eog(token) or self._breaks_line(token))
        return tuple(dict.fromkeys((self.stop, *ends)))

    def _is_eog(self, token: int) -> bool:
        return bool(llama_cpp.llama_vocab_is_eog(self._vocab, token))

    def _breaks_line(self, token: int) -> bool:
        # Checked first: reading the bytes of all 260,000 tokens of a vocabulary would take half a second.
        spelling = llama_cpp.llama_vocab_get_text(self._vocab, token)
        return spelling.startswith(_LINE_BREAKS) and self._token_text(token, special=False).startswith(b"\n")


def _respelled(text: str, spelled: Mapping[str, str]) -> str:
    """The text with the spelling of each mark in its place."""
    return text.translate({ord(mark): spelling for mark, spelling in spelled.items()})
