"""Libraries whose structures are not those of the binding, as two small C files in place of llama.cpp."""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import llama_cpp
import pytest

from pytest_puma.core import EngineError
from pytest_puma.engine.native.binding import check_layout

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")

#: A function that returns a structure of these bytes by value, as `llama_context_default_params` does.
FUNCTION = """
typedef struct {{ _Alignas(8) unsigned char bytes[{size}]; }} {name}_result;
{name}_result {name}(void) {{
    static const {name}_result content = {{ {{ {content} }} }};
    return content;
}}
"""
MODEL = bytes(llama_cpp.llama_model_default_params())
CONTEXT = bytes(llama_cpp.llama_context_default_params())


def library(folder: Path, context: bytes, model: bytes = MODEL) -> ctypes.CDLL:
    """A library with these defaults for contexts, and for models."""
    functions = {"llama_model_default_params": model, "llama_context_default_params": context}
    source, built = folder / "library.c", folder / "library.so"
    source.write_text(
        "".join(
            FUNCTION.format(name=name, size=len(content), content=", ".join(map(str, content)))
            for name, content in functions.items()
        ),
        encoding="utf-8",
    )
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", built, source], check=True)  # noqa: S603, S607
    return ctypes.CDLL(str(built))


def inserted(field: str, content: bytes) -> bytes:
    """The defaults with bytes before a field."""
    offset = getattr(llama_cpp.llama_context_params, field).offset
    return CONTEXT[:offset] + content + CONTEXT[offset:]


def switch_before_swa_full() -> bytes:
    """The defaults with one more switch, which takes a byte of the padding behind the switches."""
    offset = llama_cpp.llama_context_params.kv_unified.offset
    longer = inserted("swa_full", b"\x00")
    return longer[: offset + 2] + longer[offset + 3 :]


def test_the_library_of_the_binding_fits(tmp_path: Path) -> None:
    check_layout(llama_cpp.llama_cpp._lib)  # noqa: SLF001 - the binding has no other name for it
    check_layout(library(tmp_path, CONTEXT))


@pytest.mark.parametrize(
    ("context", "problem"),
    [
        (lambda: inserted("n_threads", bytes(8)), "it has more than {size} bytes"),
        (lambda: CONTEXT + bytes(8), "it has more than {size} bytes"),
        (lambda: inserted("type_k", bytes(4))[: len(CONTEXT)], "its type_k is 0, expected 1"),
        (switch_before_swa_full, "its kv_unified is True, expected 0"),
        (lambda: CONTEXT[:-8], "its address ctx_other is set"),
    ],
    ids=["a field more", "a field at the end", "a shifted field", "a switch in the padding", "a field less"],
)
@pytest.mark.skipif(platform.machine() != "x86_64", reason="elsewhere, bytes behind the structure cannot be seen")
def test_a_library_of_another_layout_is_refused(context: Callable[[], bytes], problem: str, tmp_path: Path) -> None:
    with pytest.raises(EngineError) as error:
        check_layout(library(tmp_path, context()))
    expected = problem.format(size=len(CONTEXT))
    assert f"llama_context_params of {tmp_path}/library.so is not that of llama-cpp-python" in str(error.value)
    assert f": {expected}; expected the library that was built with it: unset LLAMA_CPP_LIB_PATH" in str(error.value)


@pytest.mark.parametrize("field", ["devices", "tensor_buft_overrides"])
def test_a_library_without_an_address_that_options_of_gpus_need_is_refused(field: str, tmp_path: Path) -> None:
    offset = getattr(llama_cpp.llama_model_params, field).offset
    shorter = MODEL[:offset] + MODEL[offset + 8 :]
    with pytest.raises(EngineError, match=r"llama_model_params of .* is not that of llama-cpp-python .*: its address "):
        check_layout(library(tmp_path, CONTEXT, shorter))
