"""Processors, memory, disk, and the programs around the models."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from pytest_puma.cli.doctor.finding import Finding

_GB = 2**30
#: Free bytes from which on a small model fits: 3B parameters in 4 bits with their cache.
_ROOM = 4 * _GB


def findings() -> Iterator[Finding]:
    """Yield what is found about the machine itself."""
    yield _versions()
    yield _processors()
    yield _memory()
    yield _disk(Path.cwd())


def _versions() -> Finding:
    versions = {name: version(name) for name in ("pytest", "pytest-puma")}
    packages = ", ".join(f"{name} {number}" for name, number in versions.items())
    return Finding(
        part="versions",
        found=f"Python {platform.python_version()}, {packages}, {platform.platform()}",
        details=versions | {"python": platform.python_version(), "platform": platform.platform()},
    )


def _processors() -> Finding:
    from pytest_puma.engine.cores import cores

    number = cores()
    details = {"cores": number}
    if number > 1:
        return Finding(part="processors", found=f"{number} physical cores for llama.cpp", details=details)
    return Finding(
        part="processors",
        found="1 physical core for llama.cpp",
        state="advice",
        advice="give the container or virtual machine more cores, or use a small model",
        details=details,
    )


def _memory() -> Finding:
    import psutil

    memory = psutil.virtual_memory()
    found = f"{memory.available / _GB:.1f} of {memory.total / _GB:.1f} GB are free"
    details = {"free": memory.available, "total": memory.total}
    if memory.available >= _ROOM:
        return Finding(part="memory", found=found, details=details)
    return Finding(
        part="memory",
        found=found,
        state="advice",
        advice="a model needs the size of its file, and more for its cache; pytest --puma-plan reports how much",
        details=details,
    )


def _disk(folder: Path) -> Finding:
    disk = shutil.disk_usage(folder)
    found = f"{disk.free / _GB:.1f} GB are free here"
    details = {"free": disk.free}
    if disk.free >= _GB:
        return Finding(part="disk", found=found, details=details)
    advice = "make room: kept answers and run folders need up to 1 GB (puma_store_mb, puma_keep_runs)"
    return Finding(part="disk", found=found, state="advice", advice=advice, details=details)
