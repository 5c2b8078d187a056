"""Quantised weights of a model, made by llama.cpp in a process of its own, and kept in the user's cache.

A process that is killed, or a full disk, leaves no file under the final name; of several workers that need the same
file, one makes it and the others wait.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

from pytest_puma.core import EngineError, Model, ModelError
from pytest_puma.models.quantised import made_path, own_weights
from pytest_puma.models.weights import stamps_of, weights_digest
from pytest_puma.phrases import shortened
from pytest_puma.platform.locks import locked
from pytest_puma.platform.processes import run_program, signal_name

_PROGRAM = Path(__file__).with_name("quantise.py")
#: Seconds for the start, and bytes per second: IQ4_XS of 540 MB took 39 s of two cores.
_SECONDS, _BYTES_PER_SECOND = 120.0, 1_000_000
_SIZE = re.compile(r"quant size += +([\d.]+) MiB")
_MAX_REASON = 300


def with_weights(model: Model, *, threads: int) -> Model:
    """Return a model over the file that it answers from, which is made if need be; an `EngineError` if that fails.

    A `ModelError` if another file of the model changed since it was checked.
    """
    weights = own_weights(model)
    if weights is None:
        return model
    path = weights.path if weights.sha256 else _made(model, weights.name, threads)
    if weights.sha256 not in {"", weights_digest(path)}:
        msg = f"{model.name}: {path} changed since it was checked; leave it alone until the run ends, and run again"
        raise ModelError(msg)
    return replace(model, path=path, stamps=stamps_of(path))


def planned_size(model: Model) -> int:
    """Return the bytes of weights that are not made yet: of the tensors alone; an `EngineError` if llama.cpp fails."""
    weights = own_weights(model)
    found = None if weights is None else _SIZE.search(_quantise(model, weights.name, "", threads=1))
    return model.size if found is None else round(float(found[1]) * 2**20)


def _made(model: Model, type_name: str, threads: int) -> Path:
    """The file in the user's cache."""
    path = made_path(model.path, type_name, weights_digest(model.path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.parent):
            if not path.is_file():
                _make(model, type_name, path, threads)
    except OSError as error:
        msg = f"{model.name}: {path} cannot be written: {error}; expected a writable cache with room for the file"
        raise EngineError(msg) from error
    return path


def _make(model: Model, type_name: str, path: Path, threads: int) -> None:
    part = path.with_suffix(".part")
    try:
        _quantise(model, type_name, str(part), threads=threads)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _quantise(model: Model, type_name: str, target: str, *, threads: int) -> str:
    """The output of the program."""
    arguments = json.dumps([str(model.path), target, type_name, threads])
    limit = _SECONDS + model.size // _BYTES_PER_SECOND
    try:
        process = run_program(_PROGRAM, arguments, seconds=limit)
    except subprocess.TimeoutExpired:
        msg = f"{model.name}: llama.cpp did not make {type_name} of {model.path} within {limit:g} s"
        raise EngineError(msg) from None
    if code := process.returncode:
        ending = signal_name(-code) if code < 0 else f"exit status {code}"
        reason = shortened(" ".join(process.stderr.split()), _MAX_REASON)
        msg = (
            f"{model.name}: llama.cpp cannot make {type_name} of {model.path} ({ending}: {reason}); expected room on "
            "the disk, and finite weights in shapes that this type supports: try another type"
        )
        raise EngineError(msg)
    return process.stdout
