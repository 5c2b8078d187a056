"""Too little memory of a device in software, whose memory is that of its process and can be limited."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.engine.machine import Gpu
from tests.gpu.conftest import TINY
from tests.tiny_gguf import QWEN2, write_gguf

#: Two layers, of 63 MB together.
LARGE = replace(QWEN2, width=1024, feed_forward=2048, heads=8)
#: Arguments: a model's file, the bytes that may be allocated, the number of layers, and the KV slots of the cache.
PROGRAM = """
import resource
import sys
from pathlib import Path

import psutil

from pytest_puma.core import EngineError
from pytest_puma.engine.native import NativeBackend
from tests.gpu.conftest import tiny

path, room, layers, slots = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
NativeBackend(tiny(), threads=1).close()  # starts the device
allowed = psutil.Process().memory_info().vms + room
try:
    resource.setrlimit(resource.RLIMIT_AS, (allowed, resource.RLIM_INFINITY))
    NativeBackend(tiny(path, gpu_layers=layers if layers == "auto" else int(layers)), threads=1).open(slots)
except EngineError as error:
    print(error)
"""


@pytest.fixture(autouse=True)
def _in_software(devices: Sequence[Gpu]) -> None:
    if "llvmpipe" not in devices[0].name:
        pytest.skip("this limits the memory of a process, which a device in hardware does not use")


def error(*arguments: object) -> str:
    """The error with these arguments of the program."""
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_cache_without_room_is_an_error_with_a_number_of_layers() -> None:
    text = error(TINY, 100 << 20, -1, 400_000)
    assert text.startswith("puma-tiny: the memory of the GPU is too small for 4 of 4 layers: puma-tiny needs about")
    assert "; expected about gpu_layers=3 (auto takes as many as fit)" in text
    assert "failed to allocate buffer for kv cache" in text


def test_memory_of_the_machine_is_not_taken_for_that_of_the_gpu() -> None:
    text = error(TINY, 100 << 20, 2, 400_000)
    assert text.startswith("puma-tiny: llama.cpp cannot make a context of 400000 tokens for 112 sequences (llama.cpp: ")
    assert "CPU buffer" in text


@pytest.mark.parametrize("layers", [-1, "auto"])
def test_weights_without_room_are_an_error_with_a_number_of_layers(tmp_path: Path, layers: object) -> None:
    path = write_gguf(tmp_path / "large.gguf", LARGE)
    # llama.cpp maps the file, and copies it to the device.
    text = error(path, path.stat().st_size * 5 // 4, layers, 1024)
    assert text.startswith("puma-tiny: the memory of the GPU is too small for ")
    assert "llama.cpp cannot load" in text
