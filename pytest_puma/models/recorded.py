"""Grammar of a model whose answers are in a file.

    recorded:[NAME=]FILE[,KEY=VALUE...]

    recorded:gpt4=answers.jsonl                              lines as `store.answers` describes them
    recorded:gpt4=responses.jsonl,text=response              the text of a line is under the key "response"
    recorded:6b=solutions.jsonl,prompt=question,text=6b.out  the text is under "out" in the object under "6b"
    recorded:base=answers.jsonl,chat=off                     prompts are those of a base model

The keys `id`, `prompt`, `text` and `logprobs` read a file in another format: all other keys of its lines are ignored.
"""

from __future__ import annotations

from pathlib import Path

from pytest_puma.core import Model, ModelError, ModelOptions
from pytest_puma.models.argument import split_argument
from pytest_puma.models.names import name_from_alias, name_from_file
from pytest_puma.models.search import expanded, is_file

RECORDED = "recorded:"
#: The keys of a line of answers, which another format may call otherwise.
LINE_KEYS = ("id", "prompt", "text", "logprobs")
_CHAT = {"on": True, "off": False}


def recorded_model(text: str) -> Model:
    """Return the model that an argument without its `recorded:` names; a `ModelError` names the invalid part."""
    alias, place, settings = split_argument(text.strip())
    if not place:
        msg = "found no file; expected recorded:NAME=FILE, as in recorded:gpt4=answers.jsonl"
        raise ModelError(msg)
    path = expanded(place)
    if not is_file(path):
        msg = f"no such file: {path}; expected a file of answers, as in recorded:gpt4=answers.jsonl"
        raise ModelError(msg)
    values: dict[str, str] = {}
    for setting in settings:
        key, _, value = (part.strip() for part in setting.partition("="))
        if key not in {*LINE_KEYS, "chat"} or not value or key in values or (key == "chat" and value not in _CHAT):
            msg = f"found {setting!r}; expected each of {', '.join(LINE_KEYS)}=KEY, or chat=off, at most once"
            raise ModelError(msg)
        values[key] = value
    return Model(
        name=name_from_file(Path(place).stem) if alias is None else name_from_alias(alias),
        path=path.absolute(),
        options=ModelOptions(chat=_CHAT[values.pop("chat", "on")]),
        source="answers",
        keys=tuple(values.items()),
    )
