"""Chat templates rendered for two messages."""

from __future__ import annotations

from pytest_puma.core import Message, Prompt
from pytest_puma.engine.chat import ChatFormat

SYSTEM = Message(role="system", content="Be brief.")
USER = Message(role="user", content="Why?")
ROLES = "{% for m in messages %}[{{ m.role }}:{{ m.content }}]{% endfor %}"


def chat(template: str | None, *, thinking: bool = False) -> ChatFormat:
    return ChatFormat(template, bos="<s>", eos="</s>", thinking=thinking)


def render(template: str | None, *messages: Message, prefill: str = "", thinking: bool = False) -> str:
    return chat(template, thinking=thinking).render(Prompt(messages=messages or (SYSTEM, USER), prefill=prefill))
