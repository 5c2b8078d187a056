"""The network: a decoder of the shape that llama.cpp calls `qwen2`, with tied embeddings."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from tools import qwen2


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape(qwen2.Shape):
    """The shape of `puma-tiny`, with the additions for training."""

    vocabulary: int = 4096
    width: int = 192
    layers: int = 3
    heads: int = 6
    kv_heads: int = 2
    feed_forward: int = 512
    context: int = 4096
    rope_base: float = 10_000.0
    dropout: float = 0.05

    @property
    def head(self) -> int:
        """Channels of one head."""
        return self.width // self.heads


class Decoder(nn.Module):
    """Tokens (B, T) to the hidden states after the last norm (B, T, width)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width, eps=shape.epsilon)
        self.drop = nn.Dropout(shape.dropout)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:  # noqa: PLR2004 - matrices
                # Depth-scaled, so that the sum of all blocks starts as large as one (GPT-2).
                depth = (2 * shape.layers) ** -0.5 if name.endswith(("output.weight", "down.weight")) else 1.0
                nn.init.normal_(parameter, std=0.02 * depth if "embedding" in name else depth * shape.width**-0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        """The hidden states; logits are their products with `embedding.weight`."""
        return self.states(tokens)[0]

    def states(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """The hidden states, and the input of the last block."""
        turns = rotations(self.shape, tokens.shape[1])
        hidden = read = self.drop(self.embedding(tokens))
        for block in self.blocks:
            read = hidden
            hidden = block(hidden, turns)
        return self.norm(hidden), read

    def logits(self, tokens: Tensor) -> Tensor:
        """(B, T, vocabulary)."""
        return functional.linear(self(tokens), self.embedding.weight)


class Block(nn.Module):
    """Attention over grouped heads, then a gated feed-forward; each after a norm, each added to its input."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        keys = shape.kv_heads * shape.head
        self.attention_norm = nn.RMSNorm(shape.width, eps=shape.epsilon)
        self.query = nn.Linear(shape.width, shape.width)
        self.key = nn.Linear(shape.width, keys)
        self.value = nn.Linear(shape.width, keys)
        self.output = nn.Linear(shape.width, shape.width, bias=False)
        self.feed_norm = nn.RMSNorm(shape.width, eps=shape.epsilon)
        self.gate = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.up = nn.Linear(shape.width, shape.feed_forward, bias=False)
        self.down = nn.Linear(shape.feed_forward, shape.width, bias=False)
        self.drop = nn.Dropout(shape.dropout)

    def forward(self, hidden: Tensor, turns: tuple[Tensor, Tensor]) -> Tensor:
        """(B, T, width) to the same."""
        normed = self.attention_norm(hidden)
        query, key, value = (self._heads(part(normed)) for part in (self.query, self.key, self.value))
        seen = functional.scaled_dot_product_attention(
            rotated(query, turns), rotated(key, turns), value, is_causal=True, enable_gqa=True
        )
        hidden = hidden + self.drop(self.output(seen.transpose(1, 2).flatten(2)))
        normed = self.feed_norm(hidden)
        fed: Tensor = self.down(functional.silu(self.gate(normed)) * self.up(normed))
        result: Tensor = hidden + self.drop(fed)
        return result

    def _heads(self, flat: Tensor) -> Tensor:
        return flat.view(*flat.shape[:2], -1, self.shape.head).transpose(1, 2)


def rotations(shape: Shape, length: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines (T, head / 2) of rotary positions (Su et al. 2021)."""
    speeds = shape.rope_base ** -(torch.arange(0, shape.head, 2) / shape.head)
    angles = torch.arange(length)[:, None] * speeds
    return angles.cos(), angles.sin()


def rotated(heads: Tensor, turns: tuple[Tensor, Tensor]) -> Tensor:
    """Rotation of the first half of a head against the second, as qwen2 pairs its channels."""
    cosines, sines = turns
    first, second = heads.chunk(2, dim=-1)
    return torch.cat((first * cosines - second * sines, second * cosines + first * sines), dim=-1)
