"""Energy of the answers: by the counters of the machine, or not at all."""

from __future__ import annotations

from functools import partial
from itertools import count

import pytest

from pytest_puma.engine import energy
from pytest_puma.engine.energy import EnergyMeter
from tests.integration.conftest import Project

BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["option_scoring"], samples=12, gates=["joules_per_right <= 1e9"])
def test_triage(puma):
    pass
"""
KEPT = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend({}, default="Major", digest="5a")
"""


class RisingMeter(EnergyMeter):
    """Its only counter goes on by a joule each time that it is read."""

    def __init__(self, *, gpu: bool) -> None:
        self._counters = [count(1).__next__]
        assert not gpu


def test_joules_are_measured_by_a_counter_and_not_of_kept_answers(
    alone: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(energy, "EnergyMeter", RisingMeter)
    alone.write(conftest=KEPT, test_triage=BENCHMARK)
    alone.pytester.makeini("[pytest]\npuma_grid_g_per_kwh = 360\n")
    alone.run("--puma-energy").assert_outcomes(passed=1)
    (outcome,) = alone.record()["outcomes"]
    right = outcome["measures"]["accuracy"]["value"] * 12
    assert right > 0
    mean, per_right = (outcome["measures"][name]["value"] for name in ("joules_mean", "joules_per_right"))
    assert mean > 0
    assert outcome["measures"]["joules_mean"]["note"].endswith(f"{mean / 1e4:.3g} g of CO2 at 360 g/kWh")
    assert abs(per_right - mean * 12 / right) < 1e-9
    result = alone.run("--puma-energy")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["not run: *joules_per_right is not measured: some answers*"])


def test_without_a_counter_a_note_says_so_and_no_gate_on_energy_is_judged(
    alone: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(energy, "EnergyMeter", partial(EnergyMeter, powercap=alone.pytester.path, nvml="none"))
    alone.write(test_triage=BENCHMARK)
    result = alone.run("--puma-energy")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*energy: not measured: no readable counter*"])
    result.stdout.fnmatch_lines(["not run: *joules_per_right is not measured: it needs --puma-energy and a readable*"])
    assert "joules_mean" not in alone.record()["outcomes"][0]["measures"]


def test_nobody_who_did_not_ask_reads_of_energy(alone: Project) -> None:
    alone.write(test_triage=BENCHMARK.replace("joules_per_right <= 1e9", "accuracy >= 0"))
    result = alone.run()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*counter*")


def test_a_factor_below_nothing_is_refused(alone: Project) -> None:
    alone.write(test_triage=BENCHMARK)
    alone.pytester.makeini("[pytest]\npuma_grid_g_per_kwh = -1\n")
    result = alone.run("--puma-energy")
    result.stderr.fnmatch_lines(["*ini key puma_grid_g_per_kwh is -1.0; expected a number from 0*"])
