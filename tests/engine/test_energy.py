"""Energy: counters of a machine, and the share of each request in that of its batches."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_puma.core import Request, Step
from pytest_puma.engine.energy import EnergyMeter
from pytest_puma.engine.engine import NO_COUNTER, Engine
from pytest_puma.testing import ScriptedBackend
from tests.engine.ask import generate, issues, score

if TYPE_CHECKING:
    from pytest_puma.core.backend import Logits

RANGE = 262_143_328_850


def zone(powercap: Path, folder: str, name: str, microjoules: int) -> Path:
    """A zone of the kernel's powercap."""
    made = powercap / folder
    made.mkdir(parents=True)
    (made / "name").write_text(f"{name}\n")
    (made / "max_energy_range_uj").write_text(f"{RANGE}\n")
    count(made, microjoules)
    return made


def count(zone: Path, microjoules: int) -> None:
    (zone / "energy_uj").write_text(f"{microjoules}\n")


def test_packages_and_their_memory_are_added_and_no_part_is_counted_twice(tmp_path: Path) -> None:
    zones = [
        zone(tmp_path, *each, microjoules=5)
        for each in [
            ("intel-rapl:0", "package-0"),
            ("intel-rapl:0:0", "core"),
            ("intel-rapl:0:1", "dram"),
            ("intel-rapl:1", "package-1"),
            ("intel-rapl:2", "psys"),
            ("intel-rapl-mmio:0", "package-0"),
        ]
    ]
    (tmp_path / "intel-rapl").mkdir()
    meter = EnergyMeter(gpu=False, powercap=tmp_path)
    assert meter.readable
    assert meter.joules() == 0
    for place, each in enumerate(zones):
        count(each, 5 + 10**place * 1_000_000)
    assert meter.joules() == 1 + 100 + 1000


def test_a_counter_that_starts_again_goes_on(tmp_path: Path) -> None:
    package = zone(tmp_path, "intel-rapl:0", "package-0", RANGE - 2_000_000)
    meter = EnergyMeter(gpu=False, powercap=tmp_path)
    for microjoules, joules in (1_000_000, 3), (4_000_000, 6), (3_000_000, RANGE / 1e6 + 5):
        count(package, microjoules)
        assert meter.joules() == pytest.approx(joules)


def test_without_a_readable_counter_there_is_none(tmp_path: Path) -> None:
    assert not EnergyMeter(gpu=True, powercap=tmp_path / "none", nvml="libnone.so.1").readable
    (zone(tmp_path, "intel-rapl:0", "package-0", 5) / "energy_uj").unlink()
    meter = EnergyMeter(gpu=False, powercap=tmp_path)
    assert not meter.readable
    engine = Engine(ScriptedBackend({}, default="Minor"), meter)
    assert engine.run([generate("Which?")])[0].joules == 0
    assert engine.provenance().notes == (NO_COUNTER,)
    assert Engine(ScriptedBackend({})).provenance().notes == ()


_CC = shutil.which("cc")
_STUB = """
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 3; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) { *device = (void *)(long)(index + 1); return 0; }
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *energy) {
    static unsigned long long used = 1ull << 40;
    if ((long)device == 2) return 3;
    used += 500;
    *energy = used * (long)device;
    return 0;
}
"""


@pytest.mark.skipif(_CC is None, reason="no C compiler")
def test_graphics_cards_are_added_and_one_without_a_counter_is_left_out(tmp_path: Path) -> None:
    source, library = tmp_path / "nvml.c", tmp_path / "libstub.so"
    source.write_text(_STUB)
    subprocess.run([_CC or "", "-shared", "-fPIC", "-o", library, source], check=True)  # noqa: S603 - our own text
    meter = EnergyMeter(gpu=True, powercap=tmp_path, nvml=str(library))
    # Each of two reads adds half a joule to the first card, and to the third one three times as much.
    first = meter.joules()
    assert meter.joules() - first == pytest.approx(2 * 0.5 + 2 * 1.5)
    assert not EnergyMeter(gpu=False, powercap=tmp_path, nvml=str(library)).readable


class TokenMeter(EnergyMeter):
    """Two joules for each computed token of a scripted backend."""

    def __init__(self, backend: ScriptedBackend) -> None:
        self._counters = [lambda: 2.0 * self.tokens]
        self.tokens = 0
        decode = backend.decode

        def counted(steps: Sequence[Step]) -> Logits:
            self.tokens += sum(len(step.tokens) for step in steps)
            return decode(steps)

        backend.decode = counted  # type: ignore[method-assign]


def test_requests_share_the_energy_of_their_batches_by_tokens() -> None:
    backend = ScriptedBackend({}, default="Minor")
    meter = TokenMeter(backend)
    requests: list[Request] = [*(generate(each) for each in issues(30)), score("Which?", "Major", "Minor")]
    responses = Engine(backend, meter).run(requests)
    assert all(response.joules > 0 for response in responses)
    assert sum(response.joules for response in responses) == pytest.approx(meter.joules())
    (alone,) = Engine(backend, TokenMeter(backend)).run(requests[:1])
    assert alone.joules == pytest.approx(2 * (alone.usage.prompt_tokens + alone.usage.decoded_tokens - 1))


def test_without_a_meter_nothing_is_read() -> None:
    assert [each.joules for each in Engine(ScriptedBackend({}, default="Minor")).run([generate("Which?")])] == [0]
