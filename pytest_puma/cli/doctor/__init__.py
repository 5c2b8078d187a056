"""`pytest-puma doctor`: what this machine offers to benchmarks, and what to do about each lack.

    ok       engine      llama-cpp-python 0.3.36 answered with the bundled model
    advice   GPU         an NVIDIA GPU is here, but this llama.cpp is built without it
                         CMAKE_ARGS=-DGGML_CUDA=on pip install --force-reinstall --no-cache-dir llama-cpp-python

The exit status is 1 if the installation cannot answer at all, else 0: a lack may be a choice.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_puma.cli.console import add_command
from pytest_puma.cli.doctor.finding import Finding
from pytest_puma.report import escape

#: Of a finding as JSON.
_KEYS = ("part", "found", "state", "advice", "details")
_STATE, _PART = 9, 12

_GB = 2**30
#: Free bytes from which on a small model fits: 3B parameters in 4 bits with their cache.
_ROOM = 4 * _GB
_FEW_CORES = "give the container or virtual machine more cores, or use a small model"
_LITTLE_MEMORY = "a model needs the size of its file, and more for its cache; pytest --puma-plan reports how much"
_LITTLE_DISK = "make room: kept answers and run folders need up to 1 GB (puma_store_mb, puma_keep_runs)"


def declare(commands: Any) -> None:
    """Declare the command."""
    text = "report what this machine offers to benchmarks, and what to do about each lack"
    parser = add_command(commands, "doctor", _doctor, text)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="report its chat format, too; as for --puma-model")
    parser.add_argument("--json", action="store_true", help="write the findings as JSON")


def _doctor(options: argparse.Namespace) -> int:
    # They import pytest, for which other commands need not wait.
    from pytest_puma.cli.doctor import engine, project

    findings = [*machine_findings(), *engine.findings(), *project.findings(Path.cwd(), options.models)]
    usable = not any(finding.broken for finding in findings)
    if options.json:
        rows = [{name: getattr(finding, name) for name in _KEYS} for finding in findings]
        sys.stdout.write(json.dumps({"usable": usable, "findings": rows}, indent=1) + "\n")
    else:
        for line in _lines(findings):
            sys.stdout.write(f"{escape.terminal(line)}\n")
    return 0 if usable else 1


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        first, *more = finding.found.splitlines() or [""]
        yield f"{finding.state:<{_STATE}}{finding.part:<{_PART}}{first}"
        for line in (*more, *finding.advice.splitlines()):
            yield f"{'':<{_STATE + _PART}}{line}"


def machine_findings() -> Iterator[Finding]:
    """Yield what is found about the machine itself."""
    yield _versions()
    yield _processors()
    yield _memory()
    yield _disk()


def _versions() -> Finding:
    from importlib.metadata import version

    versions = {name: version(name) for name in ("pytest", "pytest-puma")}
    packages = ", ".join(f"{name} {number}" for name, number in versions.items())
    return Finding(
        part="versions",
        found=f"Python {platform.python_version()}, {packages}, {platform.platform()}",
        details=versions | {"python": platform.python_version(), "platform": platform.platform()},
    )


def _processors() -> Finding:
    from pytest_puma.engine.machine import cores

    number = cores()
    found = f"{number} physical core{'' if number == 1 else 's'} for llama.cpp"
    advice = "" if number > 1 else _FEW_CORES
    return Finding(part="processors", found=found, advice=advice, details={"cores": number})


def _memory() -> Finding:
    import psutil

    memory = psutil.virtual_memory()
    found = f"{memory.available / _GB:.1f} of {memory.total / _GB:.1f} GB are free"
    advice = "" if memory.available >= _ROOM else _LITTLE_MEMORY
    details = {"free": memory.available, "total": memory.total}
    return Finding(part="memory", found=found, advice=advice, details=details)


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free
    advice = "" if free >= _GB else _LITTLE_DISK
    return Finding(part="disk", found=f"{free / _GB:.1f} GB are free here", advice=advice, details={"free": free})
