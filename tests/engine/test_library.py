"""The library that llama-cpp-python really loads: its digest, and one that cannot be loaded."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import llama_cpp
import pytest

from pytest_puma.engine.native.build import is_lean, library_digest
from pytest_puma.engine.native.openmp import LIBRARY

DIGEST = "from pytest_puma.engine.native.build import library_digest; print(library_digest())"
IMPORT = """
from pytest_puma.core import EngineError
try:
    import pytest_puma.engine.native
except EngineError as error:
    print(error)
"""

PREPARE = """
from pytest_puma.core import EngineError
from pytest_puma.engine.native.binding import prepare
try:
    prepare()
except EngineError as error:
    print(error)
"""
#: All of llama.cpp, with a function whose structure is longer than that of the binding.
LONGER = """
typedef struct {{ _Alignas(8) unsigned char bytes[{size}]; }} result;
result llama_context_default_params(void) {{ result longer = {{ {{ 0 }} }}; return longer; }}
"""


def output(program: str, **variables: str) -> str:
    """What a program prints in a process of its own: a library is loaded once."""
    environment = {**os.environ, **variables}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout.strip()


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A folder with another build: the same code, and some bytes behind its end."""
    folder = tmp_path / "build"
    shutil.copytree(LIBRARY.parent, folder)
    with (folder / LIBRARY.name).open("ab") as library:
        library.write(b"built by another compiler")
    return folder


def test_the_digest_is_that_of_the_library_that_is_loaded(build: Path) -> None:
    assert output(DIGEST) == library_digest()
    other = output(DIGEST, LLAMA_CPP_LIB_PATH=str(build))
    assert other != library_digest()
    # Links in another folder are the same library, by a relative path too.
    links = build.with_name("links")
    links.mkdir()
    for path in build.iterdir():
        (links / path.name).symlink_to(path)
    relative = os.path.relpath(links)
    assert output(DIGEST, LLAMA_CPP_LIB_PATH=relative) == other


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have another variable")
def test_a_part_that_the_linker_takes_from_elsewhere_is_in_the_digest(tmp_path: Path) -> None:
    for path in LIBRARY.parent.glob("libggml-base.*"):
        copy = Path(shutil.copy(path, tmp_path))
        with copy.open("ab") as library:
            library.write(b"built by another compiler")
    assert output(DIGEST, LD_LIBRARY_PATH=str(tmp_path)) != library_digest()


def test_a_library_that_cannot_be_loaded_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / LIBRARY.name).write_text("no library", encoding="utf-8")
    problem = output(IMPORT, LLAMA_CPP_LIB_PATH=str(tmp_path))
    assert problem.startswith(f"llama.cpp cannot be loaded from LLAMA_CPP_LIB_PATH={tmp_path}: RuntimeError: ")
    assert problem.endswith(
        "expected the library of llama-cpp-python for this machine: unset LLAMA_CPP_LIB_PATH, or ask pytest-puma "
        "doctor how to install it"
    )
    missing = output(IMPORT, LLAMA_CPP_LIB_PATH=str(tmp_path / "none"))
    assert "FileNotFoundError: Shared library with base name 'llama' not found" in missing


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_library_that_lacks_another_one_is_a_sentence(tmp_path: Path) -> None:
    source = tmp_path / "empty.c"
    source.touch()
    runtime, library = tmp_path / "libruntime.so", tmp_path / LIBRARY.name
    link = ["cc", "-shared", "-fPIC", str(source), "-o"]
    subprocess.run([*link, str(runtime), "-Wl,-soname,libruntime.so.12"], check=True)  # noqa: S603
    subprocess.run([*link, str(library), "-Wl,--no-as-needed", str(runtime)], check=True)  # noqa: S603
    problem = output(IMPORT, LLAMA_CPP_LIB_PATH=str(tmp_path))
    assert "libruntime.so.12: cannot open shared object file: No such file or directory; expected" in problem
    runtime.rename(tmp_path / "libruntime.so.12")
    lacking = output(IMPORT, LLAMA_CPP_LIB_PATH=str(tmp_path), LD_LIBRARY_PATH=str(tmp_path))
    assert "undefined symbol: llama_" in lacking


def test_a_build_without_the_parts_that_nobody_loads_is_lean() -> None:
    assert is_lean() == (not any("mtmd" in path.name for path in LIBRARY.parent.iterdir()))


@pytest.mark.skipif(
    shutil.which("cc") is None or platform.machine() != "x86_64", reason="it needs a C compiler, and x86"
)
def test_a_library_of_another_layout_is_refused_before_its_first_use(tmp_path: Path) -> None:
    size = ctypes.sizeof(llama_cpp.llama_context_params) + 8
    source = tmp_path / "longer.c"
    source.write_text(LONGER.format(size=size), encoding="utf-8")
    library, linked = tmp_path / LIBRARY.name, f"-Wl,-rpath,{LIBRARY.parent}"
    command = ["cc", "-shared", "-fPIC", "-o", library, source, "-Wl,--no-as-needed", linked, LIBRARY]
    subprocess.run(list(map(str, command)), check=True)  # noqa: S603
    problem = output(PREPARE, LLAMA_CPP_LIB_PATH=str(tmp_path))
    assert problem.startswith(f"llama.cpp: llama_context_params of {library} is not that of llama-cpp-python ")
