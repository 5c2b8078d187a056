"""The program of a bounded function: it answers each line of JSON, the arguments, with the value as a line of JSON.

serving.py FILE FUNCTION EXAMPLE SECONDS BYTES PATH...

EXAMPLE: the arguments of a first call, which imports what later calls need, without a time limit; PATH: of modules. It
imports nothing of this package, so that it starts fast and needs little memory.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any, TextIO


def serve(
    function: Callable[..., Any], example: Sequence[Any], requests: TextIO, replies: TextIO, *, seconds: int
) -> None:
    """Answer each line of `requests`, with null if the function raises.

    The system ends the process after `seconds` of computing for one of them.
    """
    function(*example)
    print("ready", file=replies, flush=True)
    for line in requests:
        _limit_computing(seconds)
        try:
            reply = json.dumps(function(*json.loads(line)))
        except Exception:  # noqa: BLE001 - odd arguments raise anything, and have no value
            reply = "null"
        _limit_computing(0)
        print(reply, file=replies, flush=True)


def _limit_computing(seconds: int) -> None:
    """Let the system end this process after some seconds of computing, 0 for never, also within one huge operation.

    It counts the time of this process alone, so that a busy machine changes no result.
    """
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory(size: int) -> None:
    """Limit the memory to `size` bytes, where the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _function(file: str, name: str) -> Callable[..., Any]:
    """The function of a file, without an import of the package that has the file."""
    spec = spec_from_file_location("served", file)
    if spec is None or spec.loader is None:
        raise ImportError(file)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    function: Callable[..., Any] = getattr(module, name)
    return function


def main() -> None:
    """Run as a worker process."""
    file, name, example, seconds, size, *sys.path[:] = sys.argv[1:]
    _limit_memory(int(size))
    # Nothing that a library prints may look like a reply.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    serve(_function(file, name), json.loads(example), sys.stdin, replies, seconds=int(seconds))


if __name__ == "__main__":
    main()
