"""Export of weights and tokenizer to one GGUF file, and of the framework's logits for a comparison."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from gguf import GGUFWriter, TokenType
from gguf.quants import dequantize, quantize
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tools.qwen2 import Q8_0, write_qwen2
from tools.training.model import Decoder
from tools.training.tokens import CONTROL_TOKENS, END_OF_TEXT, END_OF_TURN, PRE, Example

NAME = "puma-tiny"
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
#: Number of best tokens of a row that are kept for the comparison.
KEPT = 32
_BLOCK = {
    "attention_norm": "attn_norm",
    "query": "attn_q",
    "key": "attn_k",
    "value": "attn_v",
    "output": "attn_output",
    "feed_norm": "ffn_norm",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
}


def write_gguf(path: Path, model: Decoder, tokenizer: Tokenizer) -> None:
    """Write the model in Q8_0, its norms and biases in float32."""

    def describe(writer: GGUFWriter) -> None:
        writer.add_description("A demonstration model of pytest-puma, trained from scratch on made-up texts")
        writer.add_license("MIT")
        writer.add_rope_freq_base(model.shape.rope_base)
        _add_tokenizer(writer, tokenizer)

    stored = ((name, quantize(tensor, Q8_0) if tensor.ndim > 1 else tensor) for name, tensor in tensors(model))
    write_qwen2(path, model.shape, stored, name=NAME, describe=describe)


def tensors(model: Decoder) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield every tensor with its name in llama.cpp."""
    for name, parameter in model.state_dict().items():
        match name.split("."):
            case ["embedding", "weight"]:
                stored_name = "token_embd.weight"
            case ["norm", "weight"]:
                stored_name = "output_norm.weight"
            case ["blocks", layer, part, kind]:
                stored_name = f"blk.{layer}.{_BLOCK[part]}.{kind}"
            case _:
                msg = f"tensor {name!r} has no name in llama.cpp"
                raise ValueError(msg)
        yield stored_name, parameter.numpy().astype(np.float32)


def write_logits(path: Path, model: Decoder, examples: Sequence[Example]) -> None:
    """Write the framework's logits at the answers of some dialogues, for a test of the engine.

    Thoughts and notes have only the first token of each phrase. `tokens` of all dialogues one after the other,
    `lengths` of each, `places` in them (`rows` of each); for each place the ids of the best tokens, and their logits:
    with the weights as trained (`logits`), and as stored in the file (`rounded`).
    """
    places = [example.places[example.weights == 1] for example in examples]
    exact, rounded = (_rows(each, examples, places) for each in (model, _as_stored(model)))
    best = np.argsort(-exact, axis=1)[:, :KEPT]
    np.savez_compressed(
        path,
        tokens=np.concatenate([example.tokens for example in examples]).astype(np.uint16),
        lengths=np.array([len(example.tokens) for example in examples], dtype=np.uint16),
        rows=np.array([len(each) for each in places], dtype=np.uint16),
        places=np.concatenate(places).astype(np.uint16),
        best=best.astype(np.uint16),
        logits=np.take_along_axis(exact, best, 1),
        rounded=np.take_along_axis(rounded, best, 1),
    )


@torch.no_grad()
def _rows(model: Decoder, examples: Sequence[Example], places: Sequence[NDArray[np.int64]]) -> NDArray[np.float32]:
    texts = (torch.from_numpy(example.tokens[None].astype(np.int64)) for example in examples)
    rows = [model.logits(text)[0, rows_of_text] for text, rows_of_text in zip(texts, places, strict=True)]
    return torch.cat(rows).numpy()


def _as_stored(model: Decoder) -> Decoder:
    """The same network with its matrices rounded to Q8_0."""
    state = {
        name: torch.from_numpy(dequantize(quantize(tensor.numpy(), Q8_0), Q8_0)) if tensor.dim() > 1 else tensor
        for name, tensor in model.state_dict().items()
    }
    stored = Decoder(model.shape)
    stored.load_state_dict(state)
    return stored.eval()


def _add_tokenizer(writer: GGUFWriter, tokenizer: Tokenizer) -> None:
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].__getitem__)
    kinds = [TokenType.CONTROL if token in CONTROL_TOKENS else TokenType.NORMAL for token in tokens]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(PRE)
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]])
    # Without a BOS, llama.cpp uses token 11.
    writer.add_bos_token_id(tokens.index(END_OF_TEXT))
    writer.add_add_bos_token(False)  # noqa: FBT003
    writer.add_eos_token_id(tokens.index(END_OF_TURN))
    writer.add_eot_token_id(tokens.index(END_OF_TURN))
    writer.add_pad_token_id(tokens.index(END_OF_TEXT))
    writer.add_chat_template(CHATML)
