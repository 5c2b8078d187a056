"""Small random-weight GGUF models that llama.cpp loads, one of every memory kind, 1-2 MB each.

    path = write_gguf(tmp_path / "tiny.gguf", replace(GEMMA3_SWA, seed=1))

Answers are nonsense, but change with every token in sight, and end by themselves now and then.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from gguf import GGUFWriter, TokenType

from tests.tiny_vocabulary import BOS, CONTROL_TOKENS, END_OF_TEXT, END_OF_TURN, vocabulary

Array: TypeAlias = npt.NDArray[np.float32]
CHATML: Final = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CHATML_BOS: Final = "{{ bos_token }}" + CHATML
LOGIT_SPREAD: Final = 6.0  # standard deviation over the vocabulary; the best two are then about 1.4 apart
LAYER_GAIN: Final = 4.0  # at 1, attention averages the prompt away; without as much in the feed-forward, answers loop
CHOICE_GAIN: Final = 16.0  # near-ties between experts are rare then
KERNEL: Final = 4  # positions that a convolution sees, the current one included
STATES: Final = 16  # Mamba states per channel
TIME_STEP_RANK: Final = 8  # channels from which Mamba computes its time step


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One tiny model: its architecture, its sizes, the habits of its tokenizer.

    `width` and `feed_forward` count channels, `context` (trained length) and `sliding_window` (0: none) positions.
    The window holds in the even layers of gemma3 and in every attention of lfm2, whose even layers are short
    convolutions instead. Of `experts` two compute each token. `bos`: the tokenizer puts BOS before a text.
    """

    arch: Literal["llama", "qwen2", "gemma3", "mamba", "lfm2"]
    layers: int = 2
    width: int = 128
    feed_forward: int = 256
    heads: int = 2
    kv_heads: int = 1
    context: int = 4096
    sliding_window: int = 0
    experts: int = 0
    bos: bool = False
    chat_template: str | None = CHATML
    seed: int = 0

    def __post_init__(self) -> None:
        if self.sliding_window and self.arch not in ("gemma3", "lfm2"):
            msg = f"{self.arch} would ignore sliding_window={self.sliding_window}; use gemma3 or lfm2, or 0"
            raise ValueError(msg)

    @property
    def name(self) -> str:
        """Name of the shape by its features, as in 'gemma3-swa-bos'."""
        return self.arch + "-swa" * bool(self.sliding_window) + "-moe" * bool(self.experts) + "-bos" * self.bos

    def kv_heads_at(self, layer: int) -> int:
        """Return the key heads of a layer, 0 where it is no attention."""
        return 0 if self.arch == "mamba" or (self.arch == "lfm2" and layer % 2 == 0) else self.kv_heads


LLAMA_BOS: Final = Shape(arch="llama", bos=True)
LLAMA_NO_BOS: Final = Shape(arch="llama")
QWEN2: Final = Shape(arch="qwen2")
GEMMA3_SWA: Final = Shape(arch="gemma3", sliding_window=16, bos=True, chat_template=CHATML_BOS)
MAMBA: Final = Shape(arch="mamba")
LFM2: Final = Shape(arch="lfm2", bos=True, chat_template=CHATML_BOS)
LFM2_SWA: Final = Shape(arch="lfm2", sliding_window=64)
SHAPES: Final = (LLAMA_BOS, LLAMA_NO_BOS, QWEN2, GEMMA3_SWA, MAMBA, LFM2, LFM2_SWA)
#: Not among them: which experts compute a token is a choice, and a near-tie that noise tips changes a whole row.
MIXTRAL: Final = Shape(arch="llama", experts=4)


def write_vocab_only(path: Path, shape: Shape = LLAMA_BOS) -> Path:
    """Write metadata and tokenizer but no weights: a file that loads with `vocab_only=True` alone."""
    return write_gguf(path, shape, weights=False)


def write_gguf(path: Path, shape: Shape, *, weights: bool = True) -> Path:
    """Write the model, float32 throughout; equal shapes give equal files."""
    writer = GGUFWriter(path, shape.arch)
    _add_sizes(writer, shape)
    _add_tokenizer(writer, shape)
    for name, tensor in _tensors(shape) if weights else ():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_sizes(writer: GGUFWriter, shape: Shape) -> None:
    writer.add_name(f"tiny-{shape.name}")
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_layer_norm_rms_eps(1e-6)
    if shape.arch == "mamba":
        writer.add_ssm_conv_kernel(KERNEL)
        writer.add_ssm_inner_size(2 * shape.width)
        writer.add_ssm_state_size(STATES)
        writer.add_ssm_time_step_rank(TIME_STEP_RANK)
        return
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    if shape.arch == "lfm2":
        writer.add_head_count_kv([shape.kv_heads_at(layer) for layer in range(shape.layers)])
        writer.add_shortconv_l_cache(KERNEL)
    else:
        writer.add_head_count_kv(shape.kv_heads)
    if shape.experts:
        writer.add_expert_count(shape.experts)
        writer.add_expert_used_count(2)
    if shape.sliding_window:
        writer.add_sliding_window(shape.sliding_window)
        writer.add_sliding_window_pattern(2)


def _add_tokenizer(writer: GGUFWriter, shape: Shape) -> None:
    tokens, merges = vocabulary()
    writer.add_tokenizer_model("gpt2")
    # Of the usual splitting rules only this one keeps " 13" in one piece, so that its digits can merge.
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.CONTROL if token in CONTROL_TOKENS else TokenType.NORMAL for token in tokens])
    writer.add_token_merges(merges)
    # Explicit ids: llama.cpp takes 11 for a missing BOS or EOS, and finds an end of turn in hash order.
    writer.add_bos_token_id(tokens.index(BOS if shape.bos else END_OF_TEXT))
    writer.add_eos_token_id(tokens.index(END_OF_TURN))
    writer.add_eot_token_id(tokens.index(END_OF_TURN))
    writer.add_add_bos_token(shape.bos)
    if shape.chat_template is not None:
        writer.add_chat_template(shape.chat_template)


def _tensors(shape: Shape) -> Iterator[tuple[str, Array]]:
    rng = np.random.default_rng(shape.seed)
    tokens, _ = vocabulary()
    # gemma3 itself multiplies its embeddings by sqrt(width).
    gain = 1.0 if shape.arch == "gemma3" else shape.width**0.5
    yield "token_embd.weight", _matrix(rng, len(tokens), shape.width, gain)
    for layer in range(shape.layers):
        for name, tensor in _layer(shape, layer, rng):
            yield f"blk.{layer}.{name}", tensor
    # llama.cpp reads lfm2's last norm under the name of an embedding norm.
    yield f"{'token_embd' if shape.arch == 'lfm2' else 'output'}_norm.weight", _vector(rng, shape.width)
    loudness = np.array([[_loudness(token)] for token in tokens], np.float32)
    yield "output.weight", loudness * _matrix(rng, len(tokens), shape.width, LOGIT_SPREAD)


def _loudness(token: str) -> float:
    """Return the factor on a token's logit: unprintable bytes win seldom, control tokens never, the end often."""
    if token in CONTROL_TOKENS:
        return 1.8 if token == END_OF_TURN else 0.0
    return 0.85 if len(token) == 1 and not token.isascii() else 1.0


def _matrix(rng: np.random.Generator, outputs: int, inputs: int, gain: float = 1.0) -> Array:
    """Return (outputs, inputs) weights that turn inputs of root mean square 1 into outputs of about `gain`."""
    return rng.normal(0.0, gain / inputs**0.5, (outputs, inputs)).astype(np.float32)


def _vector(rng: np.random.Generator, size: int, level: float = 1.0) -> Array:
    """Return (size,) weights close to `level`, for norms and biases."""
    return rng.normal(level, 0.1, size).astype(np.float32)


def _layer(shape: Shape, layer: int, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    yield "attn_norm.weight", _vector(rng, shape.width)
    if shape.arch == "mamba":
        yield from _state_space(shape, rng)
        return
    yield from _attention(shape, rng) if shape.kv_heads_at(layer) else _convolution(shape, rng)
    yield from _experts(shape, rng) if shape.experts else _feed_forward(shape, rng)
    for norm in ("ffn", "post_attention", "post_ffw") if shape.arch == "gemma3" else ("ffn",):
        yield f"{norm}_norm.weight", _vector(rng, shape.width)


def _feed_forward(shape: Shape, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    yield "ffn_gate.weight", _matrix(rng, shape.feed_forward, shape.width)
    yield "ffn_up.weight", _matrix(rng, shape.feed_forward, shape.width)
    yield "ffn_down.weight", _matrix(rng, shape.width, shape.feed_forward, LAYER_GAIN)


def _experts(shape: Shape, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    yield "ffn_gate_inp.weight", _matrix(rng, shape.experts, shape.width, CHOICE_GAIN)
    parts = [dict(_feed_forward(shape, rng)) for _ in range(shape.experts)]
    for name in parts[0]:
        yield name.replace(".weight", "_exps.weight"), np.stack([part[name] for part in parts])


def _attention(shape: Shape, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    head = shape.width // shape.heads
    for part, heads in ("q", shape.heads), ("k", shape.kv_heads), ("v", shape.kv_heads):
        yield f"attn_{part}.weight", _matrix(rng, heads * head, shape.width)
        if shape.arch == "qwen2":
            yield f"attn_{part}.bias", _vector(rng, heads * head, 0.0)
        if shape.arch in ("gemma3", "lfm2") and part != "v":
            yield f"attn_{part}_norm.weight", _vector(rng, head)
    yield "attn_output.weight", _matrix(rng, shape.width, shape.width, LAYER_GAIN)


def _convolution(shape: Shape, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    yield "shortconv.conv.weight", _matrix(rng, shape.width, KERNEL)
    yield "shortconv.in_proj.weight", _matrix(rng, 3 * shape.width, shape.width)
    yield "shortconv.out_proj.weight", _matrix(rng, shape.width, shape.width)


def _state_space(shape: Shape, rng: np.random.Generator) -> Iterator[tuple[str, Array]]:
    inner = 2 * shape.width
    yield "ssm_in.weight", _matrix(rng, 2 * inner, shape.width)
    yield "ssm_conv1d.weight", _matrix(rng, inner, KERNEL, 2.0)
    yield "ssm_x.weight", _matrix(rng, TIME_STEP_RANK + 2 * STATES, inner)
    yield "ssm_dt.weight", _matrix(rng, inner, TIME_STEP_RANK)
    yield "ssm_out.weight", _matrix(rng, shape.width, inner)
    for name, level in ("ssm_conv1d.bias", 0.0), ("ssm_dt.bias", 0.0), ("ssm_d", 1.0):
        yield name, _vector(rng, inner, level)
    # Decay rates: with a time step near 0.7 the states remember from 1 to about 150 tokens.
    yield "ssm_a", np.tile(-np.logspace(-2.0, 0.0, STATES, dtype=np.float32), (inner, 1))


if __name__ == "__main__":
    # `python -m tests.tiny_gguf models/tiny.gguf`: a model to try commands on.
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    write_gguf(target, LLAMA_NO_BOS)
