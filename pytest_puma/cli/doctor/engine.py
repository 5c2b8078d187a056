"""llama.cpp: whether it answers, and on what.

It runs in a child process, so that a broken library cannot end this one.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_puma.cli.doctor.finding import Finding
from pytest_puma.phrases import shortened
from pytest_puma.platform.bundled import bundled_folder
from pytest_puma.platform.installation import install
from pytest_puma.platform.processes import run_program, signal_name

_PROGRAM = Path(__file__).with_name("probe.py")
_SECONDS = 300.0
_AGAIN = install("--force-reinstall --no-cache-dir")
_BUILD = (
    f"compile it on this machine, which takes about ten minutes: {_AGAIN} --no-binary llama-cpp-python llama-cpp-python"
)
_MAX_REASON = 300
#: The variable by which llama-cpp-python loads another library than its own.
_OVERRIDE = "LLAMA_CPP_LIB_PATH"
#: The beginning of an error whose message is a sentence.
_OURS = "pytest_puma.errors.EngineError: "


def findings() -> Iterator[Finding]:
    """Yield what is found about llama.cpp and its devices."""
    model = next(iter(sorted(bundled_folder("models").glob("*.gguf"))), None)
    try:
        process = run_probe(model)
    except subprocess.TimeoutExpired:
        found = f"does not answer within {_SECONDS:.0f} s"
        yield Finding(part="engine", found=found, broken=True, advice=_BUILD)
        return
    steps = process.stdout.splitlines()
    if process.returncode:
        yield _broken(process, steps)
        return
    result = json.loads(steps[-1])
    answered = "can be imported" if model is None else "answers with the bundled model"
    lean = " (a lean build: only the parts of llama.cpp that benchmarks use)" if result["lean"] else ""
    yield Finding(part="engine", found=f"llama-cpp-python {result['version']} {answered}{lean}", details=result)
    yield gpu_finding(result)


def run_probe(model: Path | None) -> subprocess.CompletedProcess[str]:
    """Run the program."""
    return run_program(_PROGRAM, "" if model is None else model, seconds=_SECONDS)


def _broken(process: subprocess.CompletedProcess[str], steps: list[str]) -> Finding:
    """The step that failed, why, and what to do about it."""
    step = steps[-1] if steps else "start Python"
    lines = [line.strip() for line in process.stderr.splitlines() if line.strip()]
    reason = shortened(lines[-1].removeprefix(_OURS), _MAX_REASON) if lines else "no message"
    ending = "" if process.returncode > 0 else f" ({signal_name(-process.returncode)})"
    library = step.removeprefix("import ").partition(".")[0]
    foreign = step.startswith("import ") and library != "llama_cpp"
    advice = f"install it again: {_AGAIN} {library}" if foreign else _BUILD
    if not foreign and _OVERRIDE in os.environ:
        advice = f"unset {_OVERRIDE}, as llama-cpp-python then loads its own library, or {_BUILD}"
    if process.returncode == -signal.SIGILL:
        advice = f"the library is compiled for another processor; {_BUILD}"
    found = f"cannot {step}{ending}: {reason}"
    return Finding(part="engine", found=found, broken=True, advice=advice, details={"step": step})


def gpu_finding(result: Mapping[str, Any]) -> Finding:
    """The devices that llama.cpp computes on, or how to build it for one that it does not use."""
    if result["gpus"]:
        names = ", ".join(f"{gpu['name']} ({gpu['free'] / 2**30:.1f} GB free)" for gpu in result["gpus"])
        return Finding(part="GPU", found=names)
    if result["offloads"]:
        return Finding(part="GPU", found="one that shares the memory of the host")
    for is_here, name, flag in (
        (shutil.which("nvidia-smi") or Path("/proc/driver/nvidia/version").exists(), "an NVIDIA", "-DGGML_CUDA=on"),
        (Path("/dev/kfd").exists(), "an AMD", "-DGGML_HIP=on"),
        (platform.system() == "Darwin" and platform.machine() == "arm64", "Apple's", "-DGGML_METAL=on"),
    ):
        if is_here:
            advice = f"CMAKE_ARGS={flag} {_AGAIN} llama-cpp-python"
            found = f"{name} GPU is here, but this llama.cpp is built without it, or its driver does not work"
            return Finding(part="GPU", found=found, advice=advice)
    return Finding(part="GPU", found="none: models are computed on the processors")
