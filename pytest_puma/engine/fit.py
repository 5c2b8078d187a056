"""The number of layers of a model that fit on the GPUs, from its header and their free memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from pytest_puma.core import Model, ModelOptions
from pytest_puma.engine.machine import BUFFERS, Gpu
from pytest_puma.models.layers import ModelLayers
from pytest_puma.phrases import megabytes, named

#: On each GPU, the weights with the cache may take its free memory but for `BUFFERS` bytes and a tenth.
_ROOM = 1.1
#: KV slots that a cache on a GPU may use without `n_ctx`.
GOOD_KV_SLOTS = 32768
#: Where several GPUs have a part of each layer.
_PARTS_OF_LAYERS = {"row", "tensor"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A model and the GPUs that it uses.

    `layers`: as many as fit, in llama.cpp's count, where the output matrix is one of `of`. `needed`: bytes of all
    layers with a cache of `kv_slots` tokens and room for buffers; `free`: those of the GPUs.
    """

    name: str
    layers: int
    of: int
    kv_slots: int
    needed: int
    free: int
    gpus: tuple[str, ...]

    @classmethod
    def on(cls, model: Model, layers: ModelLayers, gpus: Sequence[Gpu]) -> Fit:
        """Return the fit of a model on some GPUs, at least one."""
        options, kv_slots = model.options, model.options.n_ctx or GOOD_KV_SLOTS
        on_cpu = options.experts_on_cpu(len(layers.dense))
        sizes = layers.sizes(kv_slots=kv_slots, experts_on_cpu=on_cpu)
        free = [gpu.free for gpu in gpus]
        needed = round(sum(sizes) * _ROOM) + BUFFERS * len(gpus)
        return cls(
            name=model.name,
            layers=fitting_layers(sizes, free, options),
            of=len(sizes),
            kv_slots=kv_slots,
            needed=needed,
            free=sum(free),
            gpus=tuple(gpu.name for gpu in gpus),
        )

    @property
    def whole(self) -> bool:
        """Whether all of it fits."""
        return self.layers == self.of

    def fewer(self) -> int:
        """Return a tenth fewer layers than fit, at least one fewer: the estimate was too high."""
        return max(0, self.layers - max(1, self.layers // 10))

    def sentence(self) -> str:
        """Return what the model needs and what is free, and how many layers fit if not all do."""
        where = f"the GPU{'s' if len(self.gpus) > 1 else ''} ({named(self.gpus)})"
        need = (
            f"{self.name} needs about {megabytes(self.needed)} MB on {where} with a cache of {self.kv_slots:,} tokens"
        )
        fit = "" if self.whole else f": {self.layers} of {self.of} layers fit"
        return f"{need}, where {megabytes(self.free)} MB are free{fit}"


def memory_lines(models: Sequence[Model], gpus: Sequence[Gpu], own: int | None = None) -> list[str]:
    """Return what each model needs of the GPUs that it uses, `own` that of its process; what is loaded once, once."""
    lines = []
    for model in dict.fromkeys(model.loaded for model in models if model.options.gpu_layers):
        if found := used(model.options, gpus, own):
            fit = Fit.on(model, ModelLayers.of(model.path), found)
            advice = "; gpu_layers=auto takes as many as fit" if model.options.gpu_layers != "auto" else ""
            lines.append(fit.sentence() + ("" if fit.whole else advice))
    return lines


def used(options: ModelOptions, gpus: Sequence[Gpu], own: int | None = None) -> list[Gpu]:
    """Return the GPUs that a model uses; `own` is that of this process, None for all."""
    if options.chooses_gpus:
        one = 0 if options.split == "none" and options.gpu is None else options.gpu
        return list(gpus) if one is None else list(gpus[one : one + 1])
    return list(gpus) if own is None else list(gpus[own : own + 1])


def fitting_layers(sizes: Sequence[int], free: Sequence[int], options: ModelOptions) -> int:
    """Return the largest number of `gpu_layers` with which each GPU has room, 0 if not even the output fits.

    `sizes`: those of the layers, then of the output. Without shares, llama.cpp divides by the free memory.
    """
    shares = [*options.shares, *[0.0] * len(free)][: len(free)] if options.shares else free
    for count in range(len(sizes), 0, -1):
        needed = _on_each(sizes[-count:], shares, parts=options.split in _PARTS_OF_LAYERS)
        if all(not size or size * _ROOM + BUFFERS <= room for size, room in zip(needed, free, strict=True)):
            return count
    return 0


def _on_each(sizes: Sequence[int], shares: Sequence[float], *, parts: bool) -> list[float]:
    """The bytes on each GPU: parts of each layer, or whole layers, whose places llama.cpp compares with the shares."""
    whole = sum(shares) or 1
    if parts:
        return [sum(sizes) * share / whole for share in shares]
    ends, needed = [end / whole for end in accumulate(shares)], [0.0] * len(shares)
    for place, size in enumerate(sizes):
        needed[min(bisect_right(ends, place / len(sizes)), len(shares) - 1)] += size
    return needed
