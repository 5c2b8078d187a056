"""The bytes of a model layer by layer, from its header: what goes to a GPU with each number of layers.

llama.cpp fills a GPU from the end of a model: `gpu_layers=1` is the output matrix, each more one layer before it, with
its part of the KV cache. The embedding stays on the CPU; where it is the output matrix, too, the GPU has a copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_puma.models.gguf import Header, kv_layer_bytes, read_header
from pytest_puma.models.search import part_paths

_LAYER = re.compile(r"blk\.(\d+)\.")
#: The tensors of all experts of a layer, as a pattern of llama.cpp.
EXPERTS = r"\.ffn_(up|down|gate|gate_up)_(ch|)exps"
_EXPERTS = re.compile(EXPERTS)
_OUTPUT, _EMBEDDING = "output", "token_embd.weight"
#: Bytes of a token in the cache of a layer if the header does not specify them: as in models of 8B.
_DEFAULT_KV_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLayers:
    """Bytes of each layer: `dense` weights, `experts`, a token in the `kv` cache in f16; and of the `output` matrix."""

    dense: tuple[int, ...]
    experts: tuple[int, ...]
    kv: tuple[int, ...]
    output: int

    @classmethod
    def of(cls, path: Path) -> ModelLayers:
        """Read the headers of all parts of a model; a `ModelError` if one cannot be read."""
        headers = [read_header(part) for part in part_paths(path)]
        count = headers[0].count(f"{headers[0].text('general.architecture')}.block_count") or 0
        dense, experts, sizes = [0] * count, [0] * count, dict(_tensor_sizes(headers))
        for name, size in sizes.items():
            found = _LAYER.match(name)
            if found and int(found[1]) < count:
                (experts if _EXPERTS.search(name) else dense)[int(found[1])] += size
        output = sum(size for name, size in sizes.items() if name.startswith(_OUTPUT))
        if f"{_OUTPUT}.weight" not in sizes:
            output += sizes.get(_EMBEDDING, 0)
        kv = kv_layer_bytes(headers[0]) or (_DEFAULT_KV_BYTES,) * count
        return cls(dense=tuple(dense), experts=tuple(experts), kv=kv, output=output)

    def sizes(self, *, kv_slots: int, experts_on_cpu: int = 0) -> list[int]:
        """Return the bytes on a GPU of each layer with its part of a cache, then of the output.

        `experts_on_cpu`: the number of layers, from the first on, whose experts stay on the CPU.
        """
        experts = (0,) * experts_on_cpu + self.experts[experts_on_cpu:]
        layers = zip(self.dense, experts, self.kv, strict=True)
        return [*(weights + expert + kv * kv_slots for weights, expert, kv in layers), self.output]


def _tensor_sizes(headers: list[Header]) -> Iterator[tuple[str, int]]:
    """Each tensor with its bytes up to the next one, which does not depend on its type."""
    for header in headers:
        # The first part of a model may have none.
        if ordered := sorted(header.tensors, key=lambda tensor: tensor.offset):
            ends = [*(tensor.offset for tensor in ordered[1:]), header.size - header.data]
            yield from ((tensor.name, end - tensor.offset) for tensor, end in zip(ordered, ends, strict=True))
