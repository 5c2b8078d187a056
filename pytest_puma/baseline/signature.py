"""The differences of two signatures in words for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Names for people of the parts that decide the samples.
DATA, SUBJECTS = "the data", "the subjects"
#: Name for people of the code that reads replies: no reply depends on it.
PARSER = "the parser"


def changed_parts(now: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the parts in which two signatures differ, by their name for people, each as (then, now).

    A part that one of both lacks is no difference.
    """
    after, before = _parts(now), _parts(then)
    common = (name for name in after if name in before)
    return {name: (before[name], after[name]) for name in common if after[name] != before[name]}


def _parts(signature: Mapping[str, Any]) -> dict[str, Any]:
    """The parts by name; threads, drivers and versions are all `the engine`."""
    engine = dict(signature.get("engine", {}))
    weights, answers = engine.pop("weights_sha256", None), engine.pop("answers_sha256", None)
    chat = (engine.pop("chat"), engine.pop("chat_format")) if "chat_format" in engine else None
    code = {PARSER: "parser_sha256", "the code of the scenario": "scenario_sha256"}
    return {
        DATA: (signature.get("data") or {}).get("sha256"),
        "the prompt template": signature.get("template_sha256"),
        **{name: signature[key] for name, key in code.items() if key in signature},
        "the model": weights or answers,
        **({} if chat is None else {"the chat format": chat}),
        "the seed": signature.get("seed"),
        "the repeats": signature.get("repeats"),
        SUBJECTS: signature.get("subjects"),
        "the way of decoding": signature.get("generation"),
        "the engine": engine,
    }
