"""Grammar of a model argument that names a server.

    server:NAME=URL,model=ID[,key=VARIABLE][,parallel=COUNT]

    server:qwen=http://127.0.0.1:8080/v1,model=qwen2.5-7b              llama.cpp, vLLM, SGLang, Ollama on this machine
    server:gpt=https://api.example.com/v1,model=gpt-4.1,key=API_KEY    the key is in the environment variable API_KEY

A key never stands in an argument: command lines are in the history of the shell, in logs of CI and in run folders.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from pytest_puma.core import Model, ModelError
from pytest_puma.core.model import Endpoint
from pytest_puma.models.names import name_from_alias

SERVER = "server:"
#: The maximum number of requests at once.
MAX_PARALLEL = 256
_FORM = "server:NAME=URL,model=ID, as in server:qwen=http://127.0.0.1:8080/v1,model=qwen2.5-7b"
_KEYS = "model=ID, key=VARIABLE, parallel=COUNT"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
#: What may hold a secret: a password or a query in the URL, and a key that is no name of a variable.
_SECRET = re.compile(r"(?<=://)[^/,@]*@|\?[^,]*|(?<=key=)(?![A-Z_][A-Z0-9_]*(?:,|$))[^,]*")


def server_model(text: str) -> Model:
    """Return the model that an argument without its `server:` names; a `ModelError` names the invalid part."""
    head, *settings = text.split(",")
    name, _, url = (part.strip() for part in head.partition("="))
    if not name or urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
        msg = f"found no URL after a name; expected {_FORM}"
        raise ModelError(msg)
    if urlsplit(url).username is not None or "?" in url or "#" in url:
        msg = f"the URL has a password or a query; expected it without: {_FORM},key=VARIABLE"
        raise ModelError(msg)
    values: dict[str, str] = {}
    for setting in settings:
        key, _, value = (part.strip() for part in setting.partition("="))
        if key not in {"model", "key", "parallel"}:
            msg = f"found {key!r}; the keys of a server are: {_KEYS} (it loads and runs its model by its own options)"
            raise ModelError(msg)
        if not value or key in values:
            msg = f"found {key} {'twice' if key in values else 'without a value'}; expected {_KEYS}, each once"
            raise ModelError(msg)
        values[key] = value
    if "model" not in values:
        msg = f"found no model=ID; expected the id under which the server lists its model: {_FORM}"
        raise ModelError(msg)
    return Model(
        name=name_from_alias(name),
        path=Path(),
        source="server",
        endpoint=Endpoint(
            url=url.rstrip("/"),
            model=values["model"],
            key=_variable(values.get("key", "")),
            parallel=_parallel(values.get("parallel", "16")),
        ),
    )


def check_key(model: Model) -> None:
    """Refuse a server whose environment variable is not set."""
    key = "" if model.endpoint is None else model.endpoint.key
    if key and not os.environ.get(key, "").strip():
        msg = f"the environment variable {key} is not set; expected it to hold the API key of the server"
        raise ModelError(msg)


def refuse_servers(models: Iterable[Model], option: str) -> None:
    """Refuse an option for models whose batches are unknown."""
    for model in models:
        if model.endpoint is not None:
            msg = f"{option}: {model.name} is a server, which batches requests in its own way; leave out one of the two"
            raise ModelError(msg)


def without_secrets(text: str) -> str:
    """Return an argument as messages may show it."""
    return _SECRET.sub("...", text) if text.strip().startswith(SERVER) else text


def _variable(text: str) -> str:
    if text and not _VARIABLE.fullmatch(text):
        msg = "key is no name in capital letters; expected that of an environment variable that holds the API key"
        raise ModelError(msg)
    return text


def _parallel(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_PARALLEL:
        msg = f"parallel is {text!r}; expected a number from 1 to {MAX_PARALLEL}"
        raise ModelError(msg)
    return int(text)
