"""Hooks and vectors against forward hooks of PyTorch, on the same weights in float32. By hand: not in CI.

    python -m tools.hook_truth SmolLM2-135M-Instruct.Q4_1.gguf
    python -m tools.hook_truth SmolLM2-135M-Instruct.Q4_1.gguf --quantised

It needs PyTorch, transformers and accelerate, and some minutes. The file may be quantised: both sides get its weights
as F32; with `--quantised`, llama.cpp gets the file itself. A line for each control: the mean and the largest difference
of a token's log-probability over two texts, and how far the control itself moves it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
import torch
from gguf import GGUFReader, GGUFWriter, dequantize
from transformers import AutoModelForCausalLM

from pytest_puma import ControlVector
from pytest_puma.core import Control, Model, ModelOptions, Step, Variant
from pytest_puma.core.variant import ControlKind, Layers, Scope
from pytest_puma.engine.native import NativeBackend
from pytest_puma.models.base import BaseModel

#: From the layer and its states to its states.
Change: TypeAlias = Callable[[int, Any], Any]

TEXTS = (
    """The library opens at nine in the morning, and closes at six in the evening. Readers who bring a book back late
pay a small fee, which the town spends on new shelves.""",
    """def mean(values):
    total = 0
    for value in values:
        total += value
    return total / len(values)

print(mean([1, 2, 3]))
""",
)
#: Rows of logits at once: fewer than the engine's 64.
_ROWS = 40
#: What the mean and the largest difference may be.
_MEAN, _LARGEST = 0.002, 0.02
#: Of a quantised file, the mean may be as many times that of the file without controls.
_TIMES = 2


def as_f32(source: Path, target: Path) -> None:
    """Write a model file with all of its weights as F32."""
    reader = GGUFReader(source)
    writer = GGUFWriter(target, reader.fields["general.architecture"].contents())
    for name, field in reader.fields.items():
        if not name.startswith("GGUF.") and name != "general.architecture":
            value = 0 if name == "general.file_type" else field.contents()
            writer.add_key_value(name, value, *field.types[:2])
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, dequantize(tensor.data, tensor.tensor_type).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class Sides:
    """Both engines with the same weights, and the directions of a vector."""

    def __init__(self, file: Path, backend: NativeBackend, heads: int) -> None:
        """`file` has the weights as F32, `heads` is the width of the heads together."""
        self._backend = backend
        self._torch: Any = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
        self._torch.eval()
        layers, width = self._torch.config.num_hidden_layers, self._torch.config.hidden_size
        numbers = np.random.default_rng(0).normal(0, 1, (layers, max(width, heads))).astype(np.float32)
        self._files = {True: file.parent / "heads.gguf", False: file.parent / "vector.gguf"}
        for of_heads, path in self._files.items():
            rows = numbers[1:, : heads if of_heads else width]
            ControlVector(dict(enumerate(rows, start=1))).save(path)
        self.heads, self.directions = (torch.from_numpy(numbers[:, :size]) for size in (heads, width))
        self.units = self.directions / self.directions.norm(dim=-1, keepdim=True)

    def ours(self, text: str, *controls: Control) -> Any:
        """The log-probability of each token but the first in llama.cpp."""
        put_on = tuple(replace(control, path=self._files[control.kind == "heads"]) for control in controls)
        self._backend.vary(Variant(controls=put_on) if put_on else None)
        self._backend.open(512)
        tokens = self._backend.tokens(text)
        parts = [
            self._backend.decode([Step(0, start, tokens[start : start + _ROWS], 0, len(tokens) // 2)]).copy()
            for start in range(0, len(tokens), _ROWS)
        ]
        return _log_probabilities(torch.from_numpy(np.concatenate(parts)), tokens)

    def theirs(self, text: str, *controls: Control) -> Any:
        """The same in PyTorch; the first half of a text is its prompt."""
        tokens = self._backend.tokens(text)
        hooks = []
        conditions = [control for control in controls if control.kind == "when"]
        if not all(self._holds(tokens, condition) for condition in conditions):
            return self.theirs(text)
        for control in controls[: len(controls) - len(conditions)]:
            scope: Scope = "reply" if conditions else control.scope
            change, chosen = changes(self)[control.kind](control.strength), _chosen(scope, len(tokens))
            first, last = control.layers or (1, len(self.directions) - 1)
            for layer in range(first, last + 1):
                hook = _forward_hook(change, layer, chosen)
                module = self._torch.model.layers[layer]
                if control.kind == "heads":
                    hooks.append(module.self_attn.o_proj.register_forward_pre_hook(lambda m, x, f=hook: f(m, x, x)))
                else:
                    hooks.append(module.register_forward_hook(hook))
        with torch.no_grad():
            logits = self._torch(torch.tensor([tokens])).logits[0]
        for hook in hooks:
            hook.remove()
        return _log_probabilities(logits, tokens)

    def _holds(self, tokens: list[int], condition: Control) -> bool:
        """Whether the mean state of the prompt has the cosine with the direction."""
        layer = condition.layers[0] if condition.layers else 0
        with torch.no_grad():
            states = self._torch(torch.tensor([tokens]), output_hidden_states=True).hidden_states[layer + 1][0]
        cosine = torch.cosine_similarity(states[: len(tokens) // 2].mean(dim=0), self.directions[layer], dim=0)
        print(f"cosine {float(cosine):.4f}")
        return float(cosine) >= condition.strength


def _chosen(scope: Scope, tokens: int) -> Any:
    """Whether each token is in the scope: tokens x 1."""
    position, prompt = torch.arange(tokens)[:, None], tokens // 2
    return {
        "all": position >= 0,
        "prompt": position < prompt,
        "reply": position >= prompt,
        "last": position == prompt - 1,
    }[scope]


def _forward_hook(change: Change, layer: int, chosen: Any) -> Callable[..., Any]:
    def hook(_module: Any, _inputs: Any, output: Any) -> Any:
        states = output[0] if isinstance(output, tuple) else output
        changed = torch.where(chosen, change(layer, states), states)
        return (changed, *output[1:]) if isinstance(output, tuple) else changed

    return hook


def _log_probabilities(logits: Any, tokens: list[int]) -> Any:
    return logits.log_softmax(-1)[:-1].gather(1, torch.tensor(tokens[1:])[:, None])[:, 0]


def changes(sides: Sides) -> Mapping[ControlKind, Callable[[float], Change]]:
    """Return the formulas of docs/reference/models.md once more, for PyTorch: of a strength, a change."""

    def added(strength: float) -> Change:
        return lambda layer, h: h + strength * sides.directions[layer]

    def added_to_heads(strength: float) -> Change:
        return lambda layer, h: h + strength * sides.heads[layer]

    def ablated(strength: float) -> Change:
        return lambda layer, h: h - strength * (h @ sides.units[layer])[..., None] * sides.units[layer]

    def rotated(degrees: float) -> Change:
        def change(layer: int, h: Any) -> Any:
            unit, norm = sides.units[layer], h.norm(dim=-1, keepdim=True)
            angle = torch.arccos((h @ unit)[..., None] / norm)
            side = h / norm - torch.cos(angle) * unit
            left = angle - np.radians(degrees)
            return norm * (torch.cos(left) * unit + torch.sin(left) * side / side.norm(dim=-1, keepdim=True))

        return change

    return {"steer": added, "heads": added_to_heads, "ablate": ablated, "rotate": rotated}


def put(kind: ControlKind, strength: float, layers: Layers | None = None, scope: Scope = "all") -> Control:
    """Return a control whose file is written later."""
    return Control(kind=kind, name="vector", strength=strength, layers=layers, scope=scope)


#: Controls that are put on together; conditions come last.
CASES = (
    (put("steer", 0.5, (10, 10)),),
    (put("ablate", 1.0, (10, 10)),),
    (put("ablate", 1.0),),
    (put("rotate", 10.0, (10, 10)),),
    (put("rotate", -5.0, (8, 14)),),
    *((put("steer", 0.5, (10, 10), scope),) for scope in ("prompt", "reply", "last")),
    (put("heads", 0.2, (10, 14)),),
    # Holds for one of the texts.
    (put("steer", 0.5, (10, 10)), put("when", -0.015, (8, 8))),
)


def main(source: Path, *, quantised: bool) -> bool:
    """Print the table; return whether all differences are as small as expected."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.gguf"
        as_f32(source, file)
        model = Model(name="q", path=source if quantised else file, options=ModelOptions(gpu_layers=0))
        with closing(NativeBackend(model, threads=1)) as backend:
            sides = Sides(file, backend, BaseModel.of(model).heads)
            plain = [sides.theirs(text) for text in TEXTS]
            differences = [_compared("plain", [sides.ours(text) for text in TEXTS], plain, plain)]
            for case in CASES:
                ours, theirs = ([side(text, *case) for text in TEXTS] for side in (sides.ours, sides.theirs))
                name = " ".join(f"{control.kind} {control.part}" for control in case)
                differences.append(_compared(name, ours, theirs, plain))
    limits = (_TIMES * differences[0][0], np.inf) if quantised else (_MEAN, _LARGEST)
    return all(mean <= limits[0] and largest <= limits[1] for mean, largest in differences)


def _compared(name: str, ours: list[Any], theirs: list[Any], plain: list[Any]) -> tuple[float, float]:
    """Print the mean and the largest difference, and return them."""
    difference = (torch.cat(ours) - torch.cat(theirs)).abs()
    effect = (torch.cat(theirs) - torch.cat(plain)).abs().mean()
    mean, largest = float(difference.mean()), float(difference.max())
    print(f"{name:28} mean {mean:.5f}  largest {largest:.5f}  effect {effect:.3f}  {len(difference)} tokens")
    return mean, largest


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.hook_truth", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--quantised", action="store_true", help="llama.cpp gets the file as it is")
    options = parser.parse_args()
    sys.exit(not main(options.file, quantised=options.quantised))
