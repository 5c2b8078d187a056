"""The chat format of a model, learned from its own template when the model is opened.

Short chats are rendered: a question, the same with an answer, with thoughts before the answer, with a second question.
Their differences show where an answer begins, what ends it, and which marks are around thoughts (`layout.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_puma.core import Message, Prompt
from pytest_puma.core.backend import CLOSE, Thoughts, split_thoughts
from pytest_puma.engine.chat.layout import ANSWER, NEXT, QUESTION, THOUGHT, Layout, layout_of
from pytest_puma.engine.chat.template import ChatTemplate, ChatTemplateError, Turn, as_text, efforts, switches
from pytest_puma.phrases import named

#: Private-use characters of Unicode, enough to find some that no prompt contains.
_PRIVATE = range(0xF0000, 0xFFFFE)
_ASK = Message(role="user", content=f"{QUESTION} {QUESTION} {QUESTION}")
_REPLY = Message(role="assistant", content=ANSWER)
_ASK_AGAIN = Message(role="user", content=NEXT)


class ChatFormat:
    """Renders the messages of a prompt in the format that the model was trained on.

    `stops` are strings that end a reply; `joint` separates the prompt from the assistant's words; `after` are texts
    that follow an answer, the most telling first; `notes` are warnings about the template. Prompts without `chat` use
    none of these. A `ChatTemplateError` if the template does not show a question.
    """

    def __init__(self, template: str | None, *, bos: str, eos: str, thinking: bool, effort: str | None = None) -> None:
        self._template = ChatTemplate(template, bos=bos, eos=eos)
        self._thinking = thinking
        self.stops = self._template.stops
        self._parts, self._system_role = False, True
        self._variables = switches(self._template, thinking=thinking, effort=effort)
        self._parts = self._takes_parts()
        self._system_role = self._takes_system()
        self._layout = self._learned()
        self.joint, self.after = self._layout.joint, self._layout.after
        self.notes = tuple(self._noted(effort))

    def render(self, prompt: Prompt, *, answer: bool = False) -> str:
        """Return the prompt's text up to where the model continues, including the prefill.

        That is where an answer begins, if the model does not think, or if an `answer` is asked for: then the thoughts
        of a model that may think are closed. A template that knows no generation prompt makes the prompt as it likes.
        Thoughts at the beginning of the prefill, between `<think>` and `</think>`, get the marks of the model.
        """
        if not prompt.chat:
            return f"{''.join(map(as_text, prompt.messages))}{prompt.prefill}"
        text = self._fill(prompt.messages)
        thinks = bool(self._layout.thoughts.close) and CLOSE in prompt.prefill
        thoughts, prefill = split_thoughts(prompt.prefill) if thinks else ("", prompt.prefill)
        if self._reaches_answer(prompt, answer=answer):
            text = self._layout.to_answer(text, thoughts)
        return f"{text}{self.joint_of(prompt)}{prefill.lstrip() if thoughts else prefill}" if prefill else text

    def thoughts(self, prompt: Prompt) -> Thoughts:
        """Return the marks that may be in the reply to a prompt."""
        if not prompt.chat:
            return Thoughts()
        marks = self._layout.thoughts
        return replace(marks, begun=False, answer="") if self._reaches_answer(prompt) else marks

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks around thoughts, and that of an answer without any."""
        thoughts = self._layout.thoughts
        return tuple(filter(None, (thoughts.open, thoughts.close, thoughts.answer)))

    def joint_of(self, prompt: Prompt) -> str:
        """Return the text between this prompt and the assistant's words."""
        return self.joint if prompt.chat else ""

    def marked(self, prompt: Prompt, untrusted: re.Pattern[str], *, answer: bool = False) -> tuple[str, dict[str, str]]:
        """Return the rendered prompt with a private-use character in place of each match of `untrusted` in a message.

        The second value maps each character to its text. The template may cut, strip or print the contents.
        """
        texts = [message.content for message in prompt.messages]
        spellings = sorted({spelling for text in texts for spelling in untrusted.findall(text)})
        used = {*self._template.source, *prompt.prefill, *"".join(texts)}
        marks = dict(zip(spellings, (mark for mark in map(chr, _PRIVATE) if mark not in used), strict=False))
        messages = tuple(
            replace(message, content=untrusted.sub(lambda match: marks[match[0]], message.content))
            for message in prompt.messages
        )
        rendered = self.render(replace(prompt, messages=messages), answer=answer)
        return rendered, {mark: spelling for spelling, mark in marks.items()}

    def facts(self) -> Mapping[str, str]:
        """Return what was learned, in words: for the signature and for `pytest-puma doctor`."""
        return {
            "content": "parts" if self._parts else "text",
            "system role": "yes" if self._system_role else "no, its text is put before the first question",
            "variables": named(f"{name}={value}" for name, value in sorted(self._variables.items())),
            **self._layout.facts(),
        }

    # -- learning --------------------------------------------------------------------------------

    def _takes_parts(self) -> bool:
        """Whether the contents must be lists of parts: a template may print no text, or refuse it."""
        for self._parts in (False, True):
            if QUESTION in self._tried(_ASK).lower():
                return self._parts
        self._parts = False
        # The template's own reason, if it refuses the question.
        self._fill([_ASK])
        msg = (
            "the model's chat template cannot be used: a question does not arrive in the prompt; expected a template "
            "that prints the messages: name another file, or give the prompts as plain text (chat=off)"
        )
        raise ChatTemplateError(msg)

    def _takes_system(self) -> bool:
        """Whether the template prints a system message. Some raise an error, some drop it silently."""
        return QUESTION in self._tried(replace(_ASK, role="system"), Message(role="user", content="?")).lower()

    def _learned(self) -> Layout:
        return layout_of(
            self._template.source,
            self._tried(_ASK),
            answered=self._tried(_ASK, _REPLY, answer=False),
            thought=next(filter(None, map(self._with_thoughts, self._thinking_turns())), ""),
            followed=self._tried(_ASK, _REPLY, _ASK_AGAIN),
        )

    def _thinking_turns(self) -> Iterator[Turn]:
        """An answer with thoughts before it, as fields of the message and as a part."""
        fields = dict.fromkeys(("reasoning_content", "reasoning", "thinking"), THOUGHT)
        yield self._turn(_REPLY) | fields
        content = [{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": ANSWER}]
        yield {"role": "assistant", "content": content}

    def _with_thoughts(self, turn: Turn) -> str:
        """The chat with thoughts before the answer; "" if they do not show."""
        text = self._tried(_ASK, turn, answer=False)
        between = text.partition(THOUGHT)[2].partition(ANSWER)[0]
        # A template may print the whole list.
        return text if between and "type" not in between and ANSWER in text else ""

    def _tried(self, *turns: Message | Turn, answer: bool = True, variables: Mapping[str, Any] | None = None) -> str:
        """The chat, perhaps under other variables than those of the model's options; "" if the template refuses it."""
        filled = [self._turn(turn) if isinstance(turn, Message) else turn for turn in turns]
        variables = self._variables if variables is None else variables
        try:
            return self._template.fill(filled, answer=answer, variables=variables)
        except ChatTemplateError:
            return ""

    def _noted(self, effort: str | None) -> Iterator[str]:
        """The warnings about the template."""
        if not self._layout.known:
            yield "the model's chat template shows no answer: one is expected to begin right after the prompt"
        names = self._template.names
        if effort is not None and not efforts(names):
            yield f"reasoning_effort={effort} changes nothing: the model's chat template does not read it"
        if self._switches() or self._layout.thoughts.begun:
            return
        if self._thinking:
            yield "thinking=on changes nothing: the model's chat template has no switch for it"
        elif self._layout.thoughts.close:
            yield (
                "the model may think before it answers: its chat template has no switch for that; give its replies "
                "room (--puma-max-tokens)"
            )

    def _switches(self) -> bool:
        """Whether prompts with and without thinking differ."""
        both = (switches(self._template, thinking=thinking, effort=None) for thinking in (False, True))
        texts = {self._tried(_ASK, variables=variables) for variables in both}
        return len(texts) > 1 or bool(self._layout.start)

    # -- rendering -------------------------------------------------------------------------------

    def _reaches_answer(self, prompt: Prompt, *, answer: bool = False) -> bool:
        """Whether a prompt goes up to the answer, so that the model cannot think before it."""
        direct = not self._thinking and "add_generation_prompt" in self._template.names
        return answer or bool(prompt.prefill) or direct

    def _fill(self, messages: Sequence[Message]) -> str:
        """The prompt up to where the model continues."""
        if not self._system_role:
            messages = _without_system(messages)
        return self._template.fill([*map(self._turn, messages)], answer=True, variables=self._variables)

    def _turn(self, message: Message) -> dict[str, Any]:
        content = [{"type": "text", "text": message.content}] if self._parts else message.content
        return {"role": message.role, "content": content}


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """Move the system message to the start of the first user message."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    rest = [message for message in messages if message.role != "system"]
    if not system or not rest:
        return rest
    first = Message(role=rest[0].role, content=f"{system}\n\n{rest[0].content}")
    return [first, *rest[1:]]
