r"""Keys of the response store: what was asked, who answered, and what was computed beside it; and what changed.

    request   SHA-256 of b"puma request 1\n" and canonical JSON: {"chat": true, "kind": "generate", ...}
    engine    SHA-256 of b"puma engine 1\n" and canonical JSON of everything that changes logits as a whole
    batch     the first 16 bytes of the SHA-256 of b"puma company 1\n" and of everything that tips near-ties only

Another first line makes every key another one: old rows are then never found. Sample, scenario, strategy, template,
parser, gates and clock are in no key: the messages say what was asked.
"""

from __future__ import annotations

import json
import marshal
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from pytest_puma.baseline.entry import PARSER, changed_parts
from pytest_puma.core import Generate, Penalties, Prompt, Request, Score
from pytest_puma.engine.version import BATCHING_VERSION, ENGINE_VERSION

#: Parts of a backend's signature that change the batches and the rounding, so that they tip near-ties only.
BATCHING = ("threads", "parallel", "n_ctx")
#: Parts of it that a request has itself.
_OF_REQUESTS = ("chat",)
#: Characters of a digest that messages show.
DIGITS = 8
#: Characters of a digest.
_DIGEST = 64
#: The random generator of sampling, which a seed alone does not name.
_GENERATOR = "PCG64/2"
#: JSON with sorted keys, without blanks, in ASCII: lone surrogates survive.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
#: Version 1 of the engine in its key: the digest of the engine's source files at commit 93aa214, which identified an
#: engine before it had a version. So the responses that were kept until then are found.
_VERSION_1 = "ba143fb66fe7573751b84091457cd4b7d4a63e13bf336c940cb33384feb19417"


def request_keys(requests: Sequence[Request], counts: Counter[int], *, strict: bool) -> list[bytes]:
    """Return the keys of requests in the order of their submission.

    `counts`: the equal requests of the batch before these, by a hash; they are counted on. Equal requests may have
    different responses, unless they are `strict`: then a greedy response depends on its request alone.
    """
    keys = []
    for request in requests:
        content = _content(request)
        if not strict or _draws(request):
            # Version 2 has no references, so equal contents have equal bytes; in a third of the time of a key.
            alike = hash(marshal.dumps(content, 2))
            content["nth"], counts[alike] = counts[alike], counts[alike] + 1
        keys.append(_digest("request", content))
    return keys


def request_key(request: Request, nth: int | None = None) -> bytes:
    """Return the key of the `nth` equal request of a batch, from 0; None where equal requests have equal responses."""
    return _digest("request", _content(request) | ({} if nth is None else {"nth": nth}))


def prompt_json(prompt: Prompt) -> bytes:
    """Return the canonical JSON of what a prompt shows to the model."""
    return _canonical({"chat": prompt.chat, **_shown(prompt)})


def engine_key(signature: Mapping[str, str], *, context_limit: int, version: int = ENGINE_VERSION) -> bytes:
    """Return the key of a backend with this signature and context, and of the engine's `version`."""
    kept = {name: value for name, value in signature.items() if name not in {*BATCHING, *_OF_REQUESTS}}
    code = _VERSION_1 if version == 1 else str(version)
    return _digest("engine", {"signature": kept, "context_limit": context_limit, "own_code_sha256": code})


def batch_key(
    before: bytes,
    requests: Sequence[bytes],
    computed: Sequence[bytes],
    signature: Mapping[str, str],
    *,
    parallel_streams: int,
) -> bytes:
    """Return the key of a batch: the one before it, its first requests, those `computed`, and how they are batched."""
    batching = {name: signature[name] for name in BATCHING if name in signature}
    batching |= {"parallel_streams": str(parallel_streams), "version": str(BATCHING_VERSION)}
    others = [] if list(computed) == list(requests) else [[key.hex() for key in computed]]
    return _digest("company", [before.hex(), [key.hex() for key in requests], batching, *others])[:16]


def changes(then: Mapping[str, Any], now: Mapping[str, Any], *, read: bool = True) -> list[str]:
    """Return a sentence for each part in which two signatures differ; none if one is unknown.

    A signature without the engine is compared without it. `read`: with the parser, which is no cause of other replies.
    """
    if not then or not now:
        return []
    engine: Mapping[str, Any] = now.get("engine", {})
    parts = changed_parts(now, {"engine": engine, **then})
    named = {name: values for name, values in parts.items() if read or name != PARSER}
    sentences = [f"{name} is another one ({_both(old, new)})" for name, (old, new) in named.items()]
    if then.get("samples") != now.get("samples"):
        sentences.append(f"the number of samples was {then.get('samples')} and is {now.get('samples')}")
    return sentences


def _draws(request: Request) -> bool:
    """Whether the response depends on a random generator."""
    return isinstance(request, Generate) and request.temperature > 0


def _content(request: Request) -> dict[str, Any]:
    return _generate(request) if isinstance(request, Generate) else _score(request)


def _generate(request: Generate) -> dict[str, Any]:
    return {
        "kind": "generate",
        "chat": request.prompt.chat,
        **_shown(request.prompt),
        "stop": list(request.prompt.stop),
        "max_tokens": request.max_tokens,
        "temperature": float(request.temperature),
        "grammar": request.grammar,
        "logprobs": request.logprobs,
        # Left out where they change nothing, as in keys from before they existed.
        **({} if request.thinks else {"thinks": False}),
        **({"bias": {text: float(value) for text, value in sorted(request.bias.items())}} if request.bias else {}),
        **({"penalties": _penalties(request.penalties)} if request.penalties else {}),
        **({} if request.against is None else _guidance(request.against, request.weight)),
        **(_sampling(request) if _draws(request) else {}),
    }


def _sampling(request: Generate) -> dict[str, Any]:
    """What a greedy reply does not depend on."""
    return {
        "top_p": float(request.top_p),
        "top_k": request.top_k,
        "min_p": float(request.min_p),
        "seed": request.seed,
        "numpy": _GENERATOR,
    }


def _penalties(penalties: Penalties) -> list[float]:
    return [float(penalties.repetition), float(penalties.frequency), float(penalties.presence)]


def _guidance(against: Prompt, weight: float) -> dict[str, Any]:
    return {"against": {"chat": against.chat, **_shown(against)}, "weight": float(weight)}


def _score(request: Score) -> dict[str, Any]:
    return {
        "kind": "score",
        "chat": request.prompt.chat,
        **_shown(request.prompt),
        "continuations": list(request.continuations),
        "ends": request.ends,
        **({"top": request.top} if request.top else {}),
    }


def _shown(prompt: Prompt) -> dict[str, Any]:
    messages = [[message.role, message.content] for message in prompt.messages]
    return {"messages": messages, "prefill": prompt.prefill}


def _digest(kind: str, content: object) -> bytes:
    return sha256(f"puma {kind} 1\n".encode() + _canonical(content)).digest()


def _canonical(content: object) -> bytes:
    return _ENCODER.encode(content).encode()


def _both(old: object, new: object) -> str:
    """Both values; of two tables the entries that differ."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return f"{_short(old)}, now {_short(new)}"
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return "; ".join(f"{name}: {_short(old.get(name))}, now {_short(new.get(name))}" for name in names)


def _short(value: object) -> str:
    text = str(value)
    return text[:DIGITS] if len(text) == _DIGEST else text
