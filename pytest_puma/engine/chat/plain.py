"""The formats that stand for a missing chat template, and for one that is only a name."""

from __future__ import annotations

from pytest_puma.core import Message

#: The format for models without a template. It ends without a space: most vocabularies put the space in the next word.
PLAIN = (
    "{% for message in messages %}"
    "{% if message.role == 'system' %}{{ message.content }}\n\n"
    "{% elif message.role == 'user' %}User: {{ message.content }}\n\n"
    "{% else %}Assistant: {{ message.content }}\n\n{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
#: Starts of a turn that the model invents in the plain format.
PLAIN_STOPS = ("\nUser:", "\nAssistant:")
#: Formats of files whose template is only a name of llama.cpp's; converters wrote no other one.
NAMED = {
    "chatml": (
        "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
}


def as_text(message: Message) -> str:
    """Return a message of a prompt without chat: a line break follows a user's words, a blank line any other ones."""
    return f"{message.content}\n" if message.role == "user" else f"{message.content}\n\n"
