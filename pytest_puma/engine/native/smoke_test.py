"""The first use of a model file, in a process of its own: llama.cpp aborts on some damaged files.

`models/` checks the header: formats, sizes, the end of the file. What llama.cpp asserts beyond that depends on the
architecture, on the kind of vocabulary and on the operations that it computes, so it is tried and not listed. Of
59,263 small files with random damage (tests/fuzz), 48,147 were refused with an error, 659 ended the process of their
first use, 4 kept it busy for ever, and none harmed a process after it. The chat template, a program in the file, is
rendered there for the first time, too, with limits of time and memory. The first use of an adapter, and of hooks, has
such a process, too.
"""

from __future__ import annotations

import json
import signal
import subprocess
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, NoReturn

import llama_cpp

from pytest_puma.core import Control, EngineError, Model
from pytest_puma.engine.native.build import build_id
from pytest_puma.engine.native.first_use import REFUSED, TEMPLATE_SECONDS
from pytest_puma.models.weights import OpenedFiles, recall, remember, stamps_of, weights_digest
from pytest_puma.phrases import shortened
from pytest_puma.platform.processes import run_program, signal_name

_PROGRAM = Path(__file__).with_name("first_use.py")
#: Seconds for the start and a small model, and bytes per second of a large one, as from a slow disk.
_SECONDS, _BYTES_PER_SECOND = 120.0, 20_000_000
_MAX_REASON = 300
#: The exit status of a program that ends with an exception: one that cannot be imported, for example.
_EXCEPTION = 1
#: That of one whose processor time for the chat template is over; such signals exist on Unix alone.
_TIME_IS_OVER = -getattr(signal, "SIGVTALRM", REFUSED)


class _Used(NamedTuple):
    """The file that a process used: a model, or an adapter or a vector on the model with this name."""

    model: str
    path: Path
    kind: str


def smoke_test(model: Model, control: Control | None = None, *, seconds: float | None = None) -> None:
    """Use the model once, unless the user's cache remembers that it did not crash; an `EngineError` if it does.

    With a control, an adapter or one with hooks, it is used with that. A `ModelError` if the file is missing, or
    another one than at the check of the model. `seconds` is the time limit, by default one that depends on the size of
    the files.
    """
    with closing(OpenedFiles(model)) as files:
        stamps = files.stamps
    limit = seconds or _SECONDS + sum(stamp.size for stamp in stamps) // _BYTES_PER_SECOND
    path, build, arguments = model.path, build_id(), [str(model.path)]
    if control is not None:
        path, build = control.path, f"{build} {weights_digest(model.path)}{' hooked' if control.hooked else ''}"
        stamps, arguments = stamps_of(path), [*arguments, control.kind, control.scope, str(path)]
    if recall(path, stamps, "tried") == build:
        return
    used = _Used(model.name, path, "a model" if control is None else "a vector" if control.hooked else "an adapter")
    try:
        process = run_program(_PROGRAM, json.dumps(arguments), seconds=limit)
    except subprocess.TimeoutExpired:
        _refuse(used, f"did not decode two tokens within {limit:g} s")
    if process.returncode in {REFUSED, _TIME_IS_OVER}:
        reason = f"the model's chat template cannot be used: it takes more than {TEMPLATE_SECONDS} s"
        msg = f"{model.name}: {process.stderr.strip().splitlines()[-1] if process.returncode == REFUSED else reason}"
        raise EngineError(msg)
    if process.returncode not in {0, _EXCEPTION}:
        code = process.returncode
        ending = signal_name(-code) if code < 0 else f"exit status {code}"
        _refuse(used, f"ended its process ({ending}{_last_line(process.stderr)})")
    if process.returncode == 0:
        remember(path, stamps, "tried", build)


def _refuse(used: _Used, problem: str) -> NoReturn:
    msg = (
        f"{used.model}: llama.cpp {problem} when it used {used.path}; expected {used.kind} that it can use: download "
        f"or convert the file again, or try another version of llama-cpp-python than {llama_cpp.__version__}"
    )
    raise EngineError(msg) from None


def _last_line(text: str) -> str:
    """The last line, as in `: llama-vocab.cpp:2544: GGML_ASSERT(...) failed`, without the folders of the build."""
    lines = text.split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    folders, _, rest = last.partition(": ")
    reason = f"{folders.rpartition('/')[2]}: {rest}" if rest else last
    return f": {shortened(reason, _MAX_REASON)}" if reason else ""
