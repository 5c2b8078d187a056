"""Energy counters of this machine: those of Linux for processors and their memory, and NVML for NVIDIA's GPUs.

    /sys/class/powercap/intel-rapl:0/name                   package-0
    /sys/class/powercap/intel-rapl:0/energy_uj              261143328850
    /sys/class/powercap/intel-rapl:0/max_energy_range_uj    262143328850

A counter is that of the whole machine: what other processes use is in it. Of a package, its cores are a part, its
memory (`dram`) is not. Where no counter is readable, nothing is estimated in its place.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from pathlib import Path

POWERCAP = Path("/sys/class/powercap")
_NVML = "libnvidia-ml.so.1"
#: Returns the joules since the counter was opened.
Counter = Callable[[], float]


class EnergyMeter:
    """The joules that all readable counters of this machine have counted; `gpu`: with those of its GPUs."""

    def __init__(self, *, gpu: bool, powercap: Path = POWERCAP, nvml: str = _NVML) -> None:
        self._counters: list[Counter] = [*_packages(powercap), *(_gpus(nvml) if gpu else ())]

    @property
    def readable(self) -> bool:
        """Whether there is a counter that this user may read."""
        return bool(self._counters)

    def joules(self) -> float:
        """Return the joules since it was made."""
        return sum(counter() for counter in self._counters)


class _Package:
    """A file of microjoules that starts again at 0 behind its maximum."""

    def __init__(self, zone: Path) -> None:
        self._file = zone / "energy_uj"
        self._range = int((zone / "max_energy_range_uj").read_text())
        self._last = int(self._file.read_text())
        self._total = 0

    def __call__(self) -> float:
        now = int(self._file.read_text())
        self._total += (now - self._last) % self._range
        self._last = now
        return self._total / 1e6


class _Gpu:
    """A GPU, which counts millijoules since its driver was loaded; 0 for one without a counter."""

    def __init__(self, library: ctypes.CDLL, device: ctypes.c_void_p) -> None:
        self._library, self._device = library, device
        self._energy = ctypes.c_ulonglong()
        self._first = self.read()

    def read(self) -> int:
        """Return the millijoules."""
        self._library.nvmlDeviceGetTotalEnergyConsumption(self._device, ctypes.byref(self._energy))
        return self._energy.value

    def __call__(self) -> float:
        return (self.read() - self._first) / 1e3


def _packages(powercap: Path) -> Iterator[Counter]:
    # Other drivers, such as `intel-rapl-mmio`, count the same packages once more.
    for zone in sorted(powercap.glob("intel-rapl:*")):
        name = (zone / "name").read_text().strip()
        # On most systems, root alone may read them.
        if (name.startswith("package") or name == "dram") and os.access(zone / "energy_uj", os.R_OK):
            yield _Package(zone)


def _gpus(nvml: str) -> Iterator[Counter]:
    try:
        library = ctypes.CDLL(nvml)
    except OSError:
        return
    count = ctypes.c_uint()
    if library.nvmlInit_v2() or library.nvmlDeviceGetCount_v2(ctypes.byref(count)):
        return
    for index in range(count.value):
        device = ctypes.c_void_p()
        if not library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(device)):
            gpu = _Gpu(library, device)
            if gpu.read():
                yield gpu
