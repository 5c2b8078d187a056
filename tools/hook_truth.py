"""Hooks and vectors against forward hooks of PyTorch, on the same weights in float32. By hand: not in CI.

    python -m tools.hook_truth SmolLM2-135M-Instruct.Q4_1.gguf

It needs PyTorch, transformers and accelerate, and some minutes. The file may be quantised: both sides get its weights
as F32. A line for each control: the mean and the largest difference of a token's log-probability over two texts, and
how far the control itself moves it.
"""

from __future__ import annotations

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
#: Of steering (STEERING 9): what the mean and the largest difference may be.
_MEAN, _LARGEST = 0.002, 0.02


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

    def __init__(self, file: Path, backend: NativeBackend) -> None:
        self._backend = backend
        self._torch: Any = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
        self._torch.eval()
        layers, width = self._torch.config.num_hidden_layers, self._torch.config.hidden_size
        numbers = np.random.default_rng(0).normal(0, 1, (layers, width)).astype(np.float32)
        self.vector = file.parent / "vector.gguf"
        ControlVector(dict(enumerate(numbers[1:], start=1))).save(self.vector)
        self.directions = torch.from_numpy(numbers)
        self.units = self.directions / self.directions.norm(dim=-1, keepdim=True)

    def ours(self, text: str, *controls: Control) -> Any:
        """The log-probability of each token but the first in llama.cpp."""
        self._backend.vary(Variant(controls=controls) if controls else None)
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

    return {"steer": added, "heads": added, "ablate": ablated, "rotate": rotated}


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


def main(source: Path) -> bool:
    """Print the table; return whether all differences are as small as those of a vector."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.gguf"
        as_f32(source, file)
        model = Model(name="f32", path=file, options=ModelOptions(gpu_layers=0))
        with closing(NativeBackend(model, threads=1)) as backend:
            sides = Sides(file, backend)
            plain = [sides.theirs(text) for text in TEXTS]
            good = [_compared("plain", [sides.ours(text) for text in TEXTS], plain, plain)]
            for case in CASES:
                controls = [replace(control, path=sides.vector) for control in case]
                ours, theirs = ([side(text, *controls) for text in TEXTS] for side in (sides.ours, sides.theirs))
                name = " ".join(f"{control.kind} {control.part}" for control in controls)
                good.append(_compared(name, ours, theirs, plain))
    return all(good)


def _compared(name: str, ours: list[Any], theirs: list[Any], plain: list[Any]) -> bool:
    difference = (torch.cat(ours) - torch.cat(theirs)).abs()
    effect = (torch.cat(theirs) - torch.cat(plain)).abs().mean()
    mean, largest = float(difference.mean()), float(difference.max())
    print(f"{name:28} mean {mean:.5f}  largest {largest:.5f}  effect {effect:.3f}  {len(difference)} tokens")
    return mean <= _MEAN and largest <= _LARGEST


if __name__ == "__main__":
    sys.exit(not main(Path(sys.argv[1])))
