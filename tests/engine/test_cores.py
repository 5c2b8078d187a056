from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from pytest_puma.engine.machine import cores


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Eight physical cores with two threads each, all allowed, no quota."""
    monkeypatch.setattr(psutil, "cpu_count", lambda logical: 16 if logical else 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    return set_quota(monkeypatch, "max 100000")


def set_quota(patch: pytest.MonkeyPatch, text: str) -> pytest.MonkeyPatch:
    """Linux control groups (version 2) have this text in the file of the quota."""
    read_text = Path.read_text

    def read(path: Path, **options: Any) -> str:
        return text if path == Path("/sys/fs/cgroup/cpu.max") else read_text(path, **options)

    patch.setattr(Path, "read_text", read)
    return patch


@pytest.mark.usefixtures("host")
def test_physical_cores_count() -> None:
    assert cores() == 8


def test_only_cores_that_the_process_may_use_count(host: pytest.MonkeyPatch) -> None:
    host.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    assert cores() == 3


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000", 8), ("200000 100000", 2), ("350000 100000", 3), ("50000 100000", 1), ("nonsense", 8), ("", 8)],
)
def test_a_container_gets_what_its_quota_allows(host: pytest.MonkeyPatch, quota: str, expected: int) -> None:
    set_quota(host, quota)
    assert cores() == expected


def test_without_a_count_of_physical_cores_all_cores_count(host: pytest.MonkeyPatch) -> None:
    host.setattr(psutil, "cpu_count", lambda **_: None)
    host.setattr(os, "cpu_count", lambda: 5)
    assert cores() == 5


def test_a_system_without_affinity_uses_all_cores(host: pytest.MonkeyPatch) -> None:
    host.delattr(os, "sched_getaffinity")
    assert cores() == 8


def test_the_real_host_has_at_least_one() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)
