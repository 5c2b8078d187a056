"""The contenders: our engine, the loop that a user would write, and llama.cpp's server with two clients.

A contender loads a model and then answers a workload, which is timed. It returns None if it cannot do the workload.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from pytest_puma.core import Generate, Model, ModelOptions, Request, Response, Score
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.engine.native.binding import has_amx
from tools.speed.workloads import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The common setting: the file, the threads, and a context (tokens) for the longest request."""

    path: Path
    threads: int
    context: int

    @property
    def model(self) -> Model:
        """The model, named after its file."""
        return Model(name=self.path.stem, path=self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Time and tokens of a workload; the tokens are equal for contenders that do the same work."""

    seconds: float
    prompt_tokens: int
    new_tokens: int


Contender = Callable[[Setting, Workload], Work | None]

_DEFAULT_PARAMS = llama_cpp.llama_model_default_params


# -- ours ------------------------------------------------------------------------------------------


@contextmanager
def opened(setting: Setting, *, strict: bool = False) -> Iterator[Engine]:
    """Open our engine over the model."""
    model = replace(setting.model, options=ModelOptions(strict=strict))
    with closing(Engine(NativeBackend(model, threads=setting.threads))) as engine:
        yield engine


def ours(setting: Setting, workload: Workload) -> Work:
    """Run our engine cell by cell, like the product."""
    with opened(setting) as engine:
        return timed(engine, workload)


def strict(setting: Setting, workload: Workload) -> Work:
    """Run our engine with `--puma-strict`: one request at a time, nothing shared."""
    with opened(setting, strict=True) as engine:
        return timed(engine, workload)


def beside_busy(setting: Setting, workload: Workload) -> Work:
    """Run our engine while another process keeps one core busy."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            return ours(setting, workload)
        finally:
            other.kill()


def timed(engine: Engine, workload: Workload) -> Work:
    """Time the workload on an open engine."""
    started = time.perf_counter()
    responses: list[Response] = []
    for cell in workload.cells:
        engine.reset()
        responses += engine.run(cell)
    seconds = time.perf_counter() - started
    prompts = sum(response.usage.prompt_tokens for response in responses)
    return Work(seconds=seconds, prompt_tokens=prompts, new_tokens=sum(each.usage.decoded_tokens for each in responses))


def prompts_alone(setting: Setting, workload: Workload) -> Work | None:
    """Time the prompts of a scored workload without continuations, to separate the cost of scoring."""
    return ours(setting, workload.prompts_alone()) if workload.scored else None


# -- the loop --------------------------------------------------------------------------------------


def loop(setting: Setting, workload: Workload) -> Work:
    """Time a loop over single prompts, sorted so that each finds most of its prefix in the cache."""
    return _looped(setting, workload, forget=False)


def loop_without_reuse(setting: Setting, workload: Workload) -> Work:
    """Time the same loop with an empty cache before each prompt."""
    return _looped(setting, workload, forget=True)


def _looped(setting: Setting, workload: Workload, *, forget: bool) -> Work:
    with patch.object(llama_cpp.llama_cpp, "llama_model_default_params", _sound_params):
        llama = llama_cpp.Llama(
            str(setting.path),
            n_gpu_layers=-1,  # on a GPU, ours computes there too
            n_ctx=setting.context,
            n_threads=setting.threads,
            n_threads_batch=setting.threads,
            verbose=False,
        )
    answer: Callable[[Any, Any], tuple[int, int]] = _scored if workload.scored else _generated
    with closing(llama):
        started = time.perf_counter()
        counts = []
        for request in sorted(workload.requests, key=_text):
            if forget:
                llama.reset()
            counts.append(answer(llama, request))
        seconds = time.perf_counter() - started
    return Work(
        seconds=seconds, prompt_tokens=sum(read for read, _ in counts), new_tokens=sum(new for _, new in counts)
    )


def _sound_params() -> Any:
    """The same buffers as ours: with the default ones, the loop would crash where llama.cpp's use of AMX does."""
    params = _DEFAULT_PARAMS()
    params.use_extra_bufts = not has_amx()
    return params


def _text(request: Request) -> list[str]:
    """Sort key: neighbours have the longest shared prefixes."""
    return [message.content for message in request.prompt.messages]


def _generated(llama: Any, request: Generate) -> tuple[int, int]:
    usage = llama.create_chat_completion(**chat_body(request))["usage"]
    return usage["prompt_tokens"], usage["completion_tokens"]


def _scored(llama: Any, request: Score) -> tuple[int, int]:
    """Score the prompt once, then each continuation after it, token by token: only the needed logits are copied."""
    text = "".join(f"<|im_start|>{each.role}\n{each.content}<|im_end|>\n" for each in request.prompt.messages)
    text += "<|im_start|>assistant\n" + request.prompt.prefill
    prompt = _tokens(llama, text)
    kept = llama.longest_token_prefix(llama.input_ids[: llama.n_tokens].tolist(), prompt[:-1])
    first = _logits_after(llama, kept, prompt[kept:])
    new = 0
    for continuation in request.continuations:
        tail = _tokens(llama, f"{text}{continuation}<|im_end|>")[len(prompt) :]
        logits, score = first, 0.0  # the score is not used here, but its cost counts
        for depth, token in enumerate(tail, start=1):
            score += float(llama.logits_to_logprobs(logits)[token])
            if depth < len(tail):
                logits = _logits_after(llama, len(prompt) + depth - 1, [token])
                new += 1
    return len(prompt), new


def _tokens(llama: Any, text: str) -> list[int]:
    tokens: list[int] = llama.tokenize(text.encode(), add_bos=False, special=True)
    return tokens


def _logits_after(llama: Any, kept: int, tokens: list[int]) -> NDArray[np.float32]:
    """Logits after `tokens`, which follow the first `kept` tokens of the cache."""
    llama.n_tokens = kept
    llama.eval(tokens)
    row = llama_cpp.llama_get_logits_ith(llama.ctx, -1)
    return np.ctypeslib.as_array(row, shape=(llama.n_vocab(),)).copy()


def chat_body(request: Generate) -> dict[str, Any]:
    """Return the request in the format of OpenAI's chat interface, for the binding and for the server."""
    return {
        "messages": [{"role": each.role, "content": each.content} for each in request.prompt.messages],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "seed": request.seed % 2**31,
    }


#: By the name in the table; `server.py` adds those that need a server.
IN_PROCESS: Mapping[str, Contender] = {
    "ours": ours,
    "ours, strict": strict,
    "prompts alone": prompts_alone,
    "loop": loop,
    "loop, no reuse": loop_without_reuse,
}
#: Added on demand: it measures the sensitivity to other processes, not the speed.
BUSY: Mapping[str, Contender] = {"ours, busy": beside_busy}
