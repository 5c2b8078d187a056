"""A function with limits of time and memory: it computes in a process of its own, which is ended beyond them.

Some regular expressions, and some comparisons of formulas, never end, and no thread can stop them.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_puma.platform import serving
from pytest_puma.platform.worker_process import WorkerProcess

#: Seconds of computing for one call.
SECONDS = 5
#: Bytes of address space of the process; SymPy itself needs a quarter.
MEMORY = 1 << 30
#: Seconds of waiting for one call. Only where systems cannot limit computing it is short: machines may be busy.
_WAIT = 600.0 if hasattr(signal, "setitimer") else 30.0


class BoundedFunction:
    """The function `name` of a Python `file`, which may import libraries but nothing of this package.

    Arguments and value are those that JSON has. `example`: arguments of a first call, which imports what later calls
    need, without a limit of time. The first call starts the process; all later ones of this process share it.
    """

    def __init__(
        self, file: Path, name: str, example: Sequence[Any], *, seconds: int = SECONDS, memory: int = MEMORY
    ) -> None:
        """Remember the function."""
        arguments = [str(file), name, json.dumps(example), str(seconds), str(memory)]
        self._worker = WorkerProcess(Path(serving.__file__), arguments, _WAIT)

    def __call__(self, *arguments: Any) -> Any:
        """Return the value; None if the function raised, computed for too long, or needed too much memory.

        Raises a `RuntimeError` if the process does not start.
        """
        reply = self._worker.ask(json.dumps(arguments))
        return None if reply is None else json.loads(reply)

    def close(self) -> None:
        """End the process; the next call starts another one."""
        self._worker.close()
