"""Models of the bench: real shapes with random weights, whose replies never end before the limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFReader, GGUFWriter, ReaderField, TokenType
from numpy.typing import NDArray

from pytest_puma.platform.bundled import bundled_folder
from tools.qwen2 import Shape, write_qwen2

#: The model whose tokenizer the others use.
VOCABULARY = bundled_folder("models") / "puma-tiny.gguf"
#: The spelling of a space in a byte-level vocabulary.
BLANK = "\u0120"
#: Weights per block of Q8_0, and its bytes: a half-precision scale and one byte per weight.
BLOCK, BLOCK_BYTES = 32, 34
#: The standard deviation of uniformly distributed integers from -127 to 127.
_SPREAD = 73.3
#: Standard deviation of a logit: wide enough for one token to win.
LOGIT_SPREAD = 3.0


#: By the name on the command line. `0.5b` is the shape of Qwen2.5-0.5B, `3b` that of Qwen2.5-3B.
SHAPES = {
    name: Shape(
        vocabulary=vocabulary, width=width, layers=layers, heads=heads, kv_heads=2, feed_forward=inner, context=32768
    )
    for name, vocabulary, width, layers, heads, inner in (
        ("tiny", 8192, 256, 4, 4, 768),
        ("0.5b", 151936, 896, 24, 14, 4864),
        ("3b", 151936, 2048, 36, 16, 11008),
    )
}


def is_current(path: Path) -> bool:
    """Whether the model exists and is not older than the bundled vocabulary."""
    return path.exists() and path.stat().st_mtime >= VOCABULARY.stat().st_mtime


def write_model(path: Path, shape: Shape) -> Path:
    """Write the model in Q8_0 with the vocabulary of the bundled one, padded with tokens that no text contains.

    The embeddings of control tokens are zero. The embeddings are also the output matrix, so their logits are 0, and no
    reply ends before its limit. The same holds for tokens beyond ASCII, which may end inside a character: the loop
    would continue until the character is complete. So all contenders generate the same number of tokens.
    """
    bundled = GGUFReader(VOCABULARY).fields
    kinds = bundled["tokenizer.ggml.token_type"].contents()
    spelled = bundled["tokenizer.ggml.tokens"].contents()
    silent = [
        token
        for token, (kind, text) in enumerate(zip(kinds, spelled, strict=True))
        if kind == TokenType.CONTROL or not text.replace(BLANK, "").isascii()
    ]
    describe = partial(_add_tokenizer, bundled=bundled, size=shape.vocabulary)
    write_qwen2(path, shape, _tensors(shape, silent), name=path.stem, describe=describe)
    return path


def _add_tokenizer(writer: GGUFWriter, *, bundled: Mapping[str, ReaderField], size: int) -> None:
    """Copy the bundled model's vocabulary, and pad it."""

    def field(name: str) -> Any:
        return bundled[f"tokenizer.{name}"].contents()

    tokens, kinds = list(field("ggml.tokens")), list(field("ggml.token_type"))
    spare = range(size - len(tokens))
    writer.add_tokenizer_model(field("ggml.model"))
    writer.add_tokenizer_pre(field("ggml.pre"))
    writer.add_token_list([*tokens, *(f"filler{number}" for number in spare)])
    writer.add_token_types([*kinds, *(TokenType.NORMAL for _ in spare)])
    writer.add_token_merges(field("ggml.merges"))
    writer.add_bos_token_id(field("ggml.bos_token_id"))
    writer.add_add_bos_token(field("ggml.add_bos_token"))
    writer.add_eos_token_id(field("ggml.eos_token_id"))
    writer.add_eot_token_id(field("ggml.eot_token_id"))
    writer.add_chat_template(field("chat_template"))


def _tensors(shape: Shape, silent: list[int]) -> Iterator[tuple[str, NDArray[Any]]]:
    rng = np.random.default_rng(0)
    width, inner, key = shape.width, shape.feed_forward, shape.width // shape.heads * shape.kv_heads
    embeddings = _matrix(rng, shape.vocabulary, width, LOGIT_SPREAD)
    embeddings[silent] = 0
    yield "token_embd.weight", embeddings
    yield "output_norm.weight", np.ones(width, np.float32)
    for layer in range(shape.layers):
        for part in ("attn_norm", "ffn_norm"):
            yield f"blk.{layer}.{part}.weight", np.ones(width, np.float32)
        for part, outputs in (("attn_q", width), ("attn_k", key), ("attn_v", key)):
            yield f"blk.{layer}.{part}.weight", _matrix(rng, outputs, width)
            yield f"blk.{layer}.{part}.bias", np.zeros(outputs, np.float32)
        for part, outputs, inputs in (
            ("attn_output", width, width),
            ("ffn_gate", inner, width),
            ("ffn_up", inner, width),
            ("ffn_down", width, inner),
        ):
            yield f"blk.{layer}.{part}.weight", _matrix(rng, outputs, inputs)


def _matrix(rng: np.random.Generator, outputs: int, inputs: int, gain: float = 1.0) -> NDArray[np.uint8]:
    """Blocks of Q8_0 that map inputs with a root mean square of 1 to outputs of about `gain`."""
    blocks = inputs // BLOCK
    stored = np.empty((outputs, blocks, BLOCK_BYTES), np.uint8)
    stored[..., :2] = np.array([gain / inputs**0.5 / _SPREAD], np.float16).view(np.uint8)
    stored[..., 2:] = rng.integers(-127, 128, (outputs, blocks, BLOCK), np.int8).view(np.uint8)
    return stored.reshape(outputs, blocks * BLOCK_BYTES)
