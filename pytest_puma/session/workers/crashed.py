"""A worker of pytest-xdist that ended in the middle of a cell: what ended it, and what to do."""

from __future__ import annotations

import subprocess
from typing import Any

from pytest_puma.platform.processes import signal_name

_MEMORY = (
    "puma: this is how the system ends a process if memory is short; run fewer workers (-n), give the model a smaller "
    "cache (--puma-model FILE.gguf,n_ctx=4096), or run a smaller model"
)
#: Seconds until a process whose pipes are closed has an exit status.
_WAIT = 5.0


def end_of(worker: Any) -> str:
    """Return `ended by SIGKILL` or `exit status 3` of a worker's process; empty if it is not a process of this one."""
    process = getattr(getattr(worker.gateway, "_io", None), "popen", None)
    if not isinstance(process, subprocess.Popen):
        return ""
    try:
        status = process.wait(_WAIT)
    except subprocess.TimeoutExpired:
        return ""
    return f"ended by {signal_name(-status)}" if status < 0 else f"exit status {status}"


def explained(message: str, end: str, *, computed: bool) -> str:
    """Return xdist's message on a crash with the end of the process, and with sentences on the cell."""
    cell = "the answers of this cell were complete and are kept" if computed else "this cell has no result"
    lines = [f"{message} ({end})" if end else message, f"puma: {cell}; the other cells go on"]
    return "\n".join([*lines, _MEMORY] if end.endswith("SIGKILL") else lines)
