"""Findings, and those about the machine itself: versions, processors, memory and disk."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeAlias

State: TypeAlias = Literal["ok", "advice", "broken"]
_GB = 2**30
#: Free bytes from which on a small model fits: 3B parameters in 4 bits with their cache.
_ROOM = 4 * _GB
_FEW_CORES = "give the container or virtual machine more cores, or use a small model"
_LITTLE_MEMORY = "a model needs the size of its file, and more for its cache; pytest --puma-plan reports how much"
_LITTLE_DISK = "make room: kept answers and run folders need up to 1 GB (puma_store_mb, puma_keep_runs)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A `part`, the fact `found` about it, and the `advice` for a lack, in lines.

    `broken`: no benchmark can run. `details`: for programs.
    """

    part: str
    found: str
    advice: str = ""
    broken: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """`advice`: something could be better."""
        return "broken" if self.broken else "advice" if self.advice else "ok"


def findings() -> Iterator[Finding]:
    """Yield what is found about the machine itself."""
    yield _versions()
    yield _processors()
    yield _memory()
    yield _disk()


def _versions() -> Finding:
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
