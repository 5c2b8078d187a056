"""The differences of two signatures in words for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Names for people of the parts that decide the samples.
DATA, SUBJECTS = "the data", "the subjects"
#: Name for people of the code that reads replies: no reply depends on it.
PARSER = "the parser"
#: Digests of code by their name for people; older signatures do not have them.
_CODE = {PARSER: "parser_sha256", "the code of the scenario": "scenario_sha256"}
#: Parts that signatures of format 1 do not have.
SINCE_FORMAT_2: dict[str, Any] = {"repeats": 1, "subjects": []}
#: Parts of the engine's signature that older baselines do not have.
_NEWER = frozenset({"library_sha256", "cpu", "devices", "chat_format", "reasoning_effort"})


def changed_parts(now: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the parts in which two signatures differ, by their name for people, each as (then, now)."""
    after, before = _parts(now, beside=then), _parts(then, beside=now)
    return {name: (before[name], after[name]) for name in after if after[name] != before[name]}


def _parts(signature: Mapping[str, Any], *, beside: Mapping[str, Any]) -> dict[str, Any]:
    """The parts by name; threads, drivers and versions are all `the engine`.

    A part that only newer signatures have is no difference to an older one.
    """
    signature = SINCE_FORMAT_2 | dict(signature)
    other = beside.get("engine", {})
    engine = {name: each for name, each in signature.get("engine", {}).items() if name not in _NEWER or name in other}
    weights, answers = engine.pop("weights_sha256", None), engine.pop("answers_sha256", None)
    # Older signatures, of any format, do not have it.
    chat = engine.pop("chat", "True"), engine.pop("chat_format", None)
    return {
        DATA: (signature.get("data") or {}).get("sha256"),
        "the prompt template": signature.get("template_sha256"),
        **{name: signature[key] for name, key in _CODE.items() if key in signature and key in beside},
        "the model": weights or answers,
        "the chat format": chat,
        "the seed": signature.get("seed"),
        "the repeats": signature.get("repeats"),
        SUBJECTS: signature.get("subjects"),
        "the way of decoding": signature.get("generation"),
        "the engine": engine,
    }
