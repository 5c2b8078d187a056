"""llama.cpp's HTTP server in a separate process, and two clients: an asynchronous one and a framework.

    python -m tools.speed.server MODEL SLOTS THREADS CONTEXT [--no-flash-attention]

serves the model until its standard input ends. The server comes ready-made with `xllamacpp`.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from pytest_puma.engine.native.binding import has_amx
from tools.speed.contenders import Contender, Setting, Work, chat_body
from tools.speed.workloads import Workload

#: Requests that the framework sends at once, and slots of the server for them.
FRAMEWORK_SLOTS = 4
#: As `--puma-strict` computes.
_NO_FLASH = "--no-flash-attention"


def contenders() -> dict[str, Contender]:
    """Return the contenders by the name in the table."""
    slots = {f"server, {count} slot{'s' * (count > 1)}": partial(client, slots=count) for count in (1, 4, 8)}
    return {**slots, "inspect on server": framework}


def client(setting: Setting, workload: Workload, *, slots: int) -> Work | None:
    """Time a client that sends as many requests at once as the server has slots; its prompt cache is on."""
    if workload.scored:
        return None
    with _serving(setting, slots) as address:
        return asyncio.run(_ask_all(address, workload, slots))


async def _ask_all(address: str, workload: Workload, slots: int) -> Work:
    import aiohttp

    gate = asyncio.Semaphore(slots)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(timeout=timeout) as session:

        async def ask(body: dict[str, Any]) -> dict[str, int]:
            async with gate, session.post(f"{address}/v1/chat/completions", json=body) as reply:
                reply.raise_for_status()
                usage: dict[str, int] = (await reply.json())["usage"]
                return usage

        started = time.perf_counter()
        usages = await asyncio.gather(*(ask(chat_body(request)) for request in workload.generated))
        seconds = time.perf_counter() - started
    return _took(seconds, usages)


def framework(setting: Setting, workload: Workload) -> Work | None:
    """Time Inspect, of the UK AI Security Institute, as the client."""
    if workload.scored:
        return None
    from inspect_ai import Task, eval  # noqa: A004 - its name
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model
    from inspect_ai.solver import generate

    turns = {"system": ChatMessageSystem, "user": ChatMessageUser}
    bodies = [chat_body(request) for request in workload.generated]
    samples = [
        Sample(input=[turns[each["role"]](content=each["content"]) for each in body["messages"]]) for body in bodies
    ]
    config = GenerateConfig(
        max_tokens=bodies[0]["max_tokens"], temperature=bodies[0]["temperature"], max_connections=FRAMEWORK_SLOTS
    )
    with _serving(setting, FRAMEWORK_SLOTS) as address, tempfile.TemporaryDirectory() as logs:
        model = get_model("openai-api/local/model", base_url=f"{address}/v1", api_key="none", config=config)
        task = Task(dataset=MemoryDataset(samples), solver=generate())
        started = time.perf_counter()
        (log,) = eval(task, model=model, log_dir=logs, display="none", max_samples=len(samples))
        seconds = time.perf_counter() - started
        if log.status != "success" or log.samples is None:
            msg = f"inspect ended with status {log.status!r}: {log.error}"
            raise RuntimeError(msg)
        usages = [each.output.usage for each in log.samples if each.output.usage is not None]
    counts = [
        # Inspect reports the prompt tokens that the server found in its cache separately.
        {
            "prompt_tokens": each.input_tokens + (each.input_tokens_cache_read or 0),
            "completion_tokens": each.output_tokens,
        }
        for each in usages
    ]
    return _took(seconds, counts)


def _took(seconds: float, usages: list[dict[str, int]]) -> Work:
    return Work(
        seconds=seconds,
        prompt_tokens=sum(usage["prompt_tokens"] for usage in usages),
        new_tokens=sum(usage["completion_tokens"] for usage in usages),
    )


@contextmanager
def _serving(setting: Setting, slots: int) -> Iterator[str]:
    """Start a server, wait until it has loaded the model, and yield its address."""
    command = [sys.executable, "-m", "tools.speed.server", str(setting.path)]
    with subprocess.Popen(  # noqa: S603 - ourselves
        [*command, str(slots), str(setting.threads), str(setting.context)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        address = process.stdout.readline().strip() if process.stdout else ""
        try:
            if not address:
                msg = f"the server did not start; run {' '.join(command)} {slots} {setting.threads} {setting.context}"
                raise RuntimeError(msg)
            yield address
        finally:
            process.kill()


def main() -> None:
    """Serve the model until the standard input ends."""
    import xllamacpp

    path, *numbers = [argument for argument in sys.argv[1:] if argument != _NO_FLASH]
    slots, threads, context = map(int, numbers)
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_parallel = slots
    params.n_ctx = slots * context
    params.n_gpu_layers = -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    if _NO_FLASH in sys.argv:
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.no_extra_bufts = has_amx()  # the same buffers as ours
    params.port = 0
    params.use_jinja = True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
