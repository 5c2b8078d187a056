"""The kinds of OpenAI-compatible servers: what each takes beyond the common fields, and what it reports about itself.

A field that a request does not set has a default of the server: llama.cpp's samples with top_k 40 and min_p 0.05, vLLM
and SGLang with the `generation_config.json` of the model. So everything is sent where it is taken. Hosted APIs refuse
fields that they do not know.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_puma.core.model import Endpoint
from pytest_puma.errors import EngineError
from pytest_puma.phrases import did_you_mean, named
from pytest_puma.servers.client import Client, ServerError

#: Parts of what a server reports that change without any change of its answers.
_PASSING = frozenset({"created", "modified_at", "permission", "expires_at"})
_NOT_FOUND = frozenset({404, 405, 501})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerKind:
    """A kind of server. `owner`: how its list of models names it; `name`: as messages do.

    `sends`: fields of each request that switch off its own sampling, and the thoughts of a model; `samples`: whether it
    takes top_k and min_p, and `off`, the top_k that means none. `prefill`: fields with which it continues the reply
    that the last message begins, None if it cannot. `grammar`: whether it takes a GBNF grammar. `stops`: the maximum
    number of stop strings; `tops`: that of probable tokens at each place, 0 if it may give none. `limit`: the name of
    the maximum of tokens. `about`: the path of its description, after the URL without `/v1`, and the parts of it that
    may change an answer, none for all.
    """

    name: str
    owner: tuple[str, ...] = ()
    sends: Mapping[str, Any] = field(default_factory=dict)
    samples: bool = False
    off: int = 0
    prefill: Mapping[str, Any] | None = None
    grammar: bool = False
    stops: int = 4
    tops: int = 0
    limit: str = "max_tokens"
    about: tuple[str, tuple[str, ...]] = ("", ())


_QUIET = {"chat_template_kwargs": {"enable_thinking": False}}
_PENALTIES = {"repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}
_CONTINUED = {"continue_final_message": True, "add_generation_prompt": False}
KINDS = (
    ServerKind(
        name="llama.cpp",
        owner=("llamacpp",),
        sends={"repeat_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "typical_p": 1.0, **_QUIET},
        samples=True,
        prefill={},
        grammar=True,
        stops=64,
        tops=50,
        about=("/props", ("build_info", "model_path", "chat_template")),
    ),
    ServerKind(
        name="vLLM",
        owner=("vllm",),
        sends=_PENALTIES | _QUIET,
        samples=True,
        off=-1,
        prefill=_CONTINUED,
        stops=64,
        tops=20,
        about=("/version", ()),
    ),
    ServerKind(
        name="SGLang",
        owner=("sglang",),
        sends=_PENALTIES | _QUIET,
        samples=True,
        off=-1,
        prefill={"continue_final_message": True},
        stops=64,
        tops=20,
        about=("/get_model_info", ()),
    ),
    ServerKind(name="OpenAI", owner=("openai", "openai-internal", "system"), limit="max_completion_tokens"),
)
OLLAMA = ServerKind(name="Ollama", about=("/api/version", ()))
#: A server of which nothing is known takes the fields that all have.
OTHER = ServerKind(name="unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What a server reports about itself. `facts`: the digest of all that may change an answer.

    `weights`: the digest of the weights, if it reports one; nobody has verified it.
    """

    kind: ServerKind
    facts: str
    weights: str = ""


def look(client: Client, endpoint: Endpoint) -> Served:
    """Ask a server what it is. An `EngineError` if it cannot be reached, or does not have the model."""
    listed = _listed(client, endpoint)
    root = endpoint.url.removesuffix("/v1")
    owner = listed.get("owned_by")
    kind = next((kind for kind in KINDS if owner in kind.owner), OTHER)
    if kind is OTHER and _about(client, f"{root}/api/version"):
        kind = OLLAMA
    path, parts = kind.about
    about = _about(client, f"{root}{path}") if path else {}
    weights = ""
    if kind is OLLAMA:
        tags = _about(client, f"{root}/api/tags").get("models") or []
        weights = next((str(tag.get("digest")) for tag in tags if _names(endpoint.model, tag.get("name"))), "")
    shown = {name: about.get(name) for name in parts or about if name not in _PASSING}
    facts = json.dumps([_lasting(listed), shown, weights], sort_keys=True)
    return Served(kind=kind, facts=hashlib.sha256(facts.encode()).hexdigest(), weights=weights)


def _listed(client: Client, endpoint: Endpoint) -> Mapping[str, Any]:
    """The entry of the model in the list of the server; empty if it has no list."""
    try:
        content = client.ask("/models", patient=False)
    except ServerError as error:
        if error.status in _NOT_FOUND:
            return {}
        raise
    models = content.get("data") if isinstance(content, dict) else None
    entries = [entry for entry in models or () if isinstance(entry, dict)]
    entry = next((entry for entry in entries if _names(endpoint.model, entry.get("id"))), None)
    if entry is None and entries:
        ids = [str(entry.get("id")) for entry in entries]
        hint = did_you_mean(endpoint.model, ids)
        msg = f"{endpoint.url} has no model {endpoint.model!r}; {hint}it has: {named(ids, 8)}"
        raise EngineError(msg)
    return entry or {}


def _names(model: str, listed: object) -> bool:
    """Whether an entry is the model; Ollama means the tag `latest` by a name without one."""
    return listed in {model, f"{model}:latest"}


def _about(client: Client, url: str) -> Mapping[str, Any]:
    """What a server answers at a path that it may not have."""
    try:
        content = client.ask(url, patient=False)
    except ServerError:
        return {}
    return content if isinstance(content, dict) else {}


def _lasting(listed: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in listed.items() if name not in _PASSING}
