"""Small LoRA adapters and control vectors of random numbers, by default for the bundled model.

write_lora(tmp_path / "a.gguf", seed=1)
write_vector(tmp_path / "v.gguf", size=2.0)
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from gguf import GGUFValueType, GGUFWriter, Keys

from pytest_puma.models.control_vector import ControlVector

#: The width of puma-tiny, and the matrices that an adapter changes by default, each with its inputs and outputs.
WIDTH: Final = 192
MATRICES: Final = {f"blk.{layer}.attn_output.weight": (WIDTH, WIDTH) for layer in range(3)}
_INVOCATION: Final = "adapter.alora.invocation_tokens"


def write_lora(
    path: Path,
    matrices: Mapping[str, tuple[int, int]] = MATRICES,
    *,
    architecture: str = "qwen2",
    rank: int = 2,
    seed: int = 0,
    invocation: Sequence[int] = (),
) -> Path:
    """Write an adapter of some 9 kB that changes what the model says; with invocation tokens, an aLoRA."""
    rng = np.random.default_rng(seed)
    writer = GGUFWriter(path, architecture)
    writer.add_type("adapter")
    writer.add_string(Keys.Adapter.TYPE, "lora")
    writer.add_float32(Keys.Adapter.LORA_ALPHA, 2.0 * rank)
    if invocation:
        writer.add_key_value(_INVOCATION, list(invocation), GGUFValueType.ARRAY, GGUFValueType.UINT32)
    for name, (inputs, outputs) in matrices.items():
        writer.add_tensor(f"{name}.lora_a", rng.normal(0, inputs**-0.5, (rank, inputs)).astype(np.float32))
        writer.add_tensor(f"{name}.lora_b", rng.normal(0, 1, (outputs, rank)).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_vector(
    path: Path, layers: Sequence[int] = (1, 2), *, width: int = WIDTH, size: float = 1.0, seed: int = 0
) -> Path:
    """Write a control vector whose numbers have this standard deviation."""
    rng = np.random.default_rng(seed)
    ControlVector({layer: rng.normal(0, size, width).astype(np.float32) for layer in layers}, "qwen2").save(path)
    return path
