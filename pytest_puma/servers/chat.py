"""A request as the body of `/chat/completions`, and its answer as a response."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_puma.core import EngineError, Generate, NotRunError, Prompt, Response
from pytest_puma.core.backend import CLOSE, OPEN
from pytest_puma.core.conversation import Finish
from pytest_puma.core.usage import Usage
from pytest_puma.phrases import shown
from pytest_puma.servers.kind import ServerKind

#: Seeds that every server takes; the largest one of 32 bits means a random one to llama.cpp.
_SEEDS = 2**31
#: Under which name a server shows the thoughts of a model.
_THOUGHTS = ("reasoning_content", "reasoning")
#: Types of parts with thoughts, Mistral's and Databricks's, and where their parts are.
_THINKING, _NESTED = frozenset({"thinking", "reasoning"}), ("thinking", "summary")
#: Ends of a reply that a filter of contents took.
_WITHHELD = frozenset({"content_filter", "sensitive"})
#: How servers say that a prompt is longer than the context.
_OVERFLOW = re.compile(
    r"context[ _](length|size|window)|exceed_context|maximum context|longer than the (model|context)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A response, and what else its server said: `by`, the model and the version that answered.

    `measured`: with usage; `withheld`: by the server's filter of contents.
    """

    response: Response
    by: tuple[str, str] = ("", "")
    measured: bool = True
    withheld: bool = False


def body_of(request: Generate, model: str, kind: ServerKind) -> dict[str, Any]:
    """Return the body that asks a server of this kind; a `NotRunError` names what it cannot do."""
    if not request.prompt.chat:
        msg = f"a server ({kind.name}) takes messages of a chat, and no plain text"
        raise NotRunError(msg)
    return {
        "model": model,
        "messages": _messages(request.prompt, kind),
        kind.limit: request.max_tokens,
        "temperature": request.temperature,
        **_sampling(request, kind),
        **({"stop": list(request.prompt.stop[: kind.stops])} if request.prompt.stop else {}),
        **({"logprobs": True} if request.logprobs else {}),
        **({"grammar": request.grammar} if request.grammar else {}),
        **kind.sends,
        **((kind.prefill or {}) if request.prompt.prefill else {}),
    }


def _messages(prompt: Prompt, kind: ServerKind) -> list[dict[str, str]]:
    messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
    if prompt.prefill:
        if kind.prefill is None:
            msg = f"a server ({kind.name}) cannot continue a reply that the prompt begins: {shown(prompt.prefill)}"
            raise NotRunError(msg)
        messages.append({"role": "assistant", "content": prompt.prefill})
    return messages


def _sampling(request: Generate, kind: ServerKind) -> dict[str, Any]:
    """The parameters of sampling: all where the server takes them, else those that change something."""
    seed = request.seed % _SEEDS
    if kind.samples:
        top_k = request.top_k or kind.off
        return {"seed": seed, "top_p": request.top_p, "top_k": top_k, "min_p": request.min_p}
    if request.top_k or request.min_p:
        msg = f"it samples with top_k or min_p, which a server ({kind.name}) does not take"
        raise NotRunError(msg)
    return {"seed": seed, "top_p": request.top_p} if request.temperature else {}


def read_reply(content: Any, request: Generate, seconds: float) -> Reply:
    """Return the response in the JSON of a server; an `EngineError` if there is none."""
    choices = content.get("choices") if isinstance(content, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        msg = f"the answer of the server is {shown(content, 200)}; expected a message in choices[0]"
        raise EngineError(msg)
    answered, thoughts = _parts(message.get("content"))
    # llama.cpp's server repeats the beginning of the reply.
    written = (answered or str(message.get("refusal") or "")).removeprefix(request.prompt.prefill)
    thoughts = next((str(message[name]) for name in _THOUGHTS if message.get(name)), thoughts)
    text, finish = _cut(written, request.prompt.stop), str(choice.get("finish_reason"))
    usage = content.get("usage")
    spent = usage if isinstance(usage, dict) else {}
    decoded = _count(spent, "completion_tokens")
    return Reply(
        response=Response(
            text=_thought(thoughts, text, closed=bool(written) or finish != "length"),
            logprobs=_logprobs(choice.get("logprobs")) if request.logprobs else (),
            finish=_finish(finish, text == written, decoded, request.max_tokens),
            usage=Usage(
                prompt_tokens=_count(spent, "prompt_tokens"),
                cached_tokens=_count(spent.get("prompt_tokens_details") or {}, "cached_tokens"),
                decoded_tokens=decoded,
                seconds=seconds,
            ),
        ),
        by=(str(content.get("model") or ""), str(content.get("system_fingerprint") or "")),
        measured=bool(decoded),
        withheld=finish in _WITHHELD,
    )


def is_overflow(message: str, status: int) -> bool:
    """Whether an error says that the prompt is longer than the context."""
    return status in {400, 413, 422} and _OVERFLOW.search(message) is not None


def _parts(content: Any) -> tuple[str, str]:
    """The text of a message and its thoughts: a text, or a list of parts, as Mistral and Databricks send thoughts."""
    if not isinstance(content, list):
        return str(content or ""), ""
    thoughts = [part for part in content if isinstance(part, dict) and part.get("type") in _THINKING]
    return _text([part for part in content if part not in thoughts]), _text(thoughts)


def _text(part: Any) -> str:
    """The texts in a part, in their order; thoughts are lists of parts again."""
    if isinstance(part, list):
        return "".join(map(_text, part))
    if not isinstance(part, dict):
        return part if isinstance(part, str) else ""
    text = part.get("text")
    return text if isinstance(text, str) else "".join(_text(part[name]) for name in _NESTED if name in part)


def _cut(text: str, stops: Sequence[str]) -> str:
    """The text before the first stop string: servers take some of them only, and some return them."""
    return text[: min((start for stop in stops if (start := text.find(stop)) >= 0), default=len(text))]


def _thought(thoughts: str, text: str, *, closed: bool) -> str:
    """A reply with its thoughts, as `core.backend` spells them; a reply that was cut off inside has no answer."""
    if not thoughts:
        return text
    return f"{OPEN}{thoughts}{CLOSE}{text}" if closed else f"{OPEN}{thoughts}"


def _finish(reason: str, whole: bool, decoded: int, limit: int) -> Finish:  # noqa: FBT001 - whether nothing was cut here
    if reason == "model_context_window_exceeded" and whole:
        return "context"
    if reason == "length" and whole:
        return "context" if 0 < decoded < limit else "length"
    return "stop"


def _logprobs(content: Any) -> tuple[float, ...]:
    tokens = content.get("content") if isinstance(content, dict) else None
    if not tokens:
        msg = "the server sends no log-probabilities of the tokens it wrote; expected logprobs.content in its answer"
        raise EngineError(msg)
    return tuple(float(token["logprob"]) for token in tokens)


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) else 0
