"""GGUF files in Q8_0 of decoders that llama.cpp calls `qwen2`: the recipe and the speed bench write them alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter
from numpy.typing import NDArray

Q8_0 = GGMLQuantizationType.Q8_0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of a decoder with tied embeddings, in channels; `vocabulary` and `context` in tokens."""

    vocabulary: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    feed_forward: int
    context: int
    epsilon: float = 1e-6


def write_qwen2(
    path: Path,
    shape: Shape,
    tensors: Iterable[tuple[str, NDArray[Any]]],
    *,
    name: str,
    describe: Callable[[GGUFWriter], None],
) -> None:
    """Write the file; `describe` adds the tokenizer and further metadata. Tensors of bytes are blocks of Q8_0.

    No output matrix: llama.cpp then takes the embeddings. Queries and keys need no permutation in `qwen2`.
    """
    writer = GGUFWriter(path, "qwen2")
    writer.add_name(name)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_layer_norm_rms_eps(shape.epsilon)
    writer.add_file_type(7)  # mostly Q8_0
    describe(writer)
    for tensor, values in tensors:
        writer.add_tensor(tensor, values, raw_dtype=Q8_0 if values.dtype == np.uint8 else None)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
