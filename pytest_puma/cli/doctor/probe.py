"""The program that `engine` runs in a process of its own: it uses llama.cpp, whose library may end its process.

Each line names the next step, so that the last one is the step that failed. The result is a JSON object in the
last line.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

#: The libraries that a benchmark cannot run without.
LIBRARIES = ("numpy", "scipy.stats", "pandas", "sklearn.linear_model", "jinja2", "yaml", "llama_cpp")


def probe(model: Path | None) -> dict[str, object]:
    """Import the libraries, ask llama.cpp about its build and devices, and use a model; any error ends the program."""
    for name in LIBRARIES:
        step(f"import {name}")
        if name == "llama_cpp":
            _import_engine()
        else:
            import_module(name)
    from pytest_puma.engine.native import gpus, offloads
    from pytest_puma.engine.native.binding import prepare
    from pytest_puma.engine.native.build import build_signature, is_lean

    step("check the functions of llama.cpp")
    prepare()
    result = {
        "version": sys.modules["llama_cpp"].__version__,
        "cpu": build_signature()["cpu"],
        "lean": is_lean(),
        "offloads": offloads(),
        "gpus": [{"name": gpu.name, "free": gpu.free} for gpu in gpus()],
    }
    if model is not None:
        from pytest_puma.engine.native.first_use import use

        step(f"answer with {model.name}")
        use(model, threads=1)
    return result


def _import_engine() -> None:
    """Import llama_cpp, after the threads of OpenMP are set; the error is the library's own, without our advice."""
    from pytest_puma.core import EngineError

    try:
        import_module("pytest_puma.engine.native")
    except EngineError as error:
        raise (error.__cause__ or error) from None


def step(text: str) -> None:
    """Name the next step."""
    print(text, flush=True)  # noqa: T201 - for the process that started this one


if __name__ == "__main__":
    sys.path[:] = sys.argv[2:]
    weights = Path(sys.argv[1]) if sys.argv[1] else None
    step(json.dumps(probe(weights)))
