"""The machine: its cores and GPUs, the number of processes, and the share that each of them gets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from pytest_puma.core import Model

_QUOTA = Path("/sys/fs/cgroup/cpu.max")
#: A model fits on a GPU if the free memory is at least `ROOM` times the weights plus `BUFFERS` bytes.
ROOM, BUFFERS = 1.2, 2**29


@dataclass(frozen=True, slots=True)
class Gpu:
    """A graphics processor with its own memory, of which `free` bytes are unused."""

    name: str
    free: int


@dataclass(frozen=True, slots=True)
class Share:
    """Resources of one of several processes; `gpu` is the number of a device, None for all devices."""

    threads: int
    gpu: int | None = None


def useful_workers(gpus: Sequence[Gpu], largest: int) -> int:
    """Return one process for each GPU that a model file of `largest` bytes fits on, and at least one.

    Two processes on the same cores are no faster than one, and each loads the model.
    """
    return max(1, sum(gpu.free >= largest * ROOM + BUFFERS for gpu in gpus))


def device(models: Sequence[Model], gpus: Sequence[Gpu], *, offloads: bool) -> str:
    """Describe the device that computes the models.

    'the CPU', or 'the GPU (NVIDIA H100), small on the CPU as gpu_layers=0'. `offloads`: llama.cpp finds a GPU, perhaps
    one without its own memory.
    """
    on_cpu = [model.name for model in models if not model.options.gpu_layers]
    if not offloads:
        return "the CPU"
    if len(on_cpu) == len(models):
        return "the CPU, as gpu_layers=0"
    names = f" ({', '.join(gpu.name for gpu in gpus)})" if gpus else ""
    rest = f", {', '.join(on_cpu)} on the CPU as gpu_layers=0" if on_cpu else ""
    return f"the {'GPUs' if len(gpus) > 1 else 'GPU'}{names}{rest}"


def share_of(worker: int, *, workers: int, models: int, cores: int, gpus: int, together: bool) -> Share:
    """Return the share of one worker (a number from 0) among `workers`.

    `together`: the cells of a model stay on one worker, so on a CPU at most as many workers as models compute.
    """
    busy = min(workers, models) if together and not gpus else workers
    return Share(threads=max(1, cores // busy), gpu=worker % gpus if gpus and workers > 1 else None)


def cores() -> int:
    """Return the physical cores that processes of this host may use together, at least one.

    One thread too many is very slow: llama.cpp's threads spin while they wait.
    """
    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, allowed, _quota(physical)))


def _quota(default: int) -> int:
    """CPU quota of a container, from Linux control groups (version 2): `max 100000` or `150000 100000`."""
    try:
        quota, period = _QUOTA.read_text(encoding="ascii").split()
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):
        return default
