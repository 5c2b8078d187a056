"""Prompts as their formats are documented, written without the product's code, to hold the engine against."""

from __future__ import annotations

from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from tests.real.loop import Loop


def written(loop: Loop, question: str, cue: str, *, chat: bool) -> str:
    """The text of a question and the beginning of its answer: in the model's format, or plain."""
    if not chat:
        return f"{question}\n{cue}"
    template = loop.template()
    if template is None:
        return f"User: {question}\n\nAssistant:{cue and f' {cue}'}"
    formatter = Jinja2ChatFormatter(template, eos_token=loop.special("eos"), bos_token=loop.special("bos"))
    return f"{formatter(messages=[{'role': 'user', 'content': question}]).prompt}{cue}"


def joint(loop: Loop, cue: str, *, chat: bool) -> str:
    """The space before an answer without a cue in the plain format of a chat."""
    return " " if chat and loop.template() is None and not cue else ""
