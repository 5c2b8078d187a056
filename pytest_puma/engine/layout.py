"""How many processes, and which part of the machine each of them gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_puma.core import Model

#: A GPU holds a model when its free memory is the weights with this much room for cache and buffers.
ROOM, BUFFERS = 1.2, 2**29


@dataclass(frozen=True, slots=True)
class Gpu:
    """A graphics processor with memory of its own; `free` bytes of it."""

    name: str
    free: int


@dataclass(frozen=True, slots=True)
class Share:
    """What one of several processes may use; `gpu` is the number of a device, None for all there are."""

    threads: int
    gpu: int | None = None


def useful_workers(gpus: Sequence[Gpu], largest: int) -> int:
    """One process for each GPU that a model file of `largest` bytes fits on, else one.

    Two processes on the same cores are no faster than one, and each loads the model.
    """
    return max(1, sum(gpu.free >= largest * ROOM + BUFFERS for gpu in gpus))


def device(models: Sequence[Model], gpus: Sequence[Gpu], *, offloads: bool) -> str:
    """Where the models are computed, for people; `offloads`: llama.cpp finds a GPU, perhaps without memory of its own.

    'the CPU', or 'the GPU (NVIDIA H100), small on the CPU as gpu_layers=0'.
    """
    on_cpu = [model.name for model in models if not model.options.gpu_layers]
    if not offloads:
        return "the CPU"
    if len(on_cpu) == len(models):
        return "the CPU, as gpu_layers=0"
    names = f" ({', '.join(gpu.name for gpu in gpus)})" if gpus else ""
    rest = f", {', '.join(on_cpu)} on the CPU as gpu_layers=0" if on_cpu else ""
    return f"the GPU{'s' if len(gpus) > 1 else ''}{names}{rest}"


def share_of(worker: int, *, workers: int, models: int, cores: int, gpus: int, together: bool) -> Share:
    """The share of the worker of this number among `workers`.

    `together`: the cells of a model stay on one worker, so that on a CPU no more workers than models compute.
    """
    busy = min(workers, models) if together and not gpus else workers
    return Share(threads=max(1, cores // busy), gpu=worker % gpus if gpus and workers > 1 else None)
