"""Runs with GPUs: the device in the header, in the signature and in doctor, and one worker for each."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest

from pytest_puma.cli import main
from pytest_puma.engine.machine import Gpu

pytestmark = pytest.mark.usefixtures("cold")

BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "option_scoring"], samples=4, max_tokens=4)
def test_triage(puma):
    pass
"""
#: Writes which worker loads a model on which device, as llama.cpp's log has it.
NOTED = """
import os
from pathlib import Path
import llama_cpp
from pytest_puma.engine.native import binding

@llama_cpp.llama_log_callback
def note(level, text, data):
    if b"using device" in text:
        with (Path(__file__).parent / "devices.txt").open("a") as stream:
            stream.write(f"{os.environ.get('PYTEST_XDIST_WORKER')} {text.decode()}")

binding._CALLBACK = note
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A benchmark of two cells on the bundled model."""
    pytester.makeini("[pytest]\npuma_naive_baselines = false\n")
    pytester.makepyfile(conftest=NOTED, test_triage=BENCHMARK)
    return pytester


def used(project: pytest.Pytester) -> list[tuple[str, str]]:
    """Each worker and its device."""
    text = (project.path / "devices.txt").read_text(encoding="utf-8")
    return sorted(set(re.findall(r"^(\S+) .*using device (\S+)", text, re.MULTILINE)))


def signatures(project: pytest.Pytester) -> list[dict[str, str]]:
    (record,) = (project.path / ".puma" / "runs").glob("*/run.json")
    data = json.loads(record.read_text(encoding="utf-8"))
    return [outcome["signature"]["engine"] for outcome in data["outcomes"]]


def test_a_run_names_the_device(project: pytest.Pytester, devices: Sequence[Gpu]) -> None:
    result = project.runpytest_subprocess("-p", "no:xdist")
    result.assert_outcomes(passed=2)
    names = ", ".join(gpu.name for gpu in devices)
    (line,) = [line for line in result.outlines if line.startswith("puma: computed on")]
    assert line == f"puma: computed on the GPU{'s' if len(devices) > 1 else ''} ({names})"
    (need,) = [line for line in result.outlines if line.startswith("puma: puma-tiny needs about")]
    assert f"MB on the GPU{'s' if len(devices) > 1 else ''} ({devices[0].name}" in need
    assert "fit" not in need
    for signature in signatures(project):
        assert (signature["gpu"], signature["gpu_layers"], signature["devices"]) == ("True", "-1", names)
    # The driver is no one's business but llama.cpp's: its messages stay off the terminal.
    assert not result.stderr.str()


def test_a_run_without_layers_there_names_the_cpu(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("-p", "no:xdist", "--puma-model=puma-tiny,gpu_layers=0")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["puma: computed on the CPU, as gpu_layers=0"])
    assert {signature["gpu"] for signature in signatures(project)} == {"False"}
    assert not (project.path / "devices.txt").exists()


def test_doctor_names_the_gpus(capsys: pytest.CaptureFixture[str], devices: Sequence[Gpu]) -> None:
    main(["doctor", "--json"])
    findings = {finding["part"]: finding for finding in json.loads(capsys.readouterr().out)["findings"]}
    assert findings["GPU"]["state"] == "ok"
    assert [found.partition(" (")[0] for found in findings["GPU"]["found"].split("free), ")] == [
        gpu.name.partition(" (")[0] for gpu in devices
    ]
    assert [gpu["name"] for gpu in findings["engine"]["details"]["gpus"]] == [gpu.name for gpu in devices]


@pytest.mark.usefixtures("two_devices")
def test_auto_is_a_worker_for_each_gpu_and_each_has_its_own(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("-n", "auto", "test_triage.py")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["puma: * workers, one for each GPU that the model fits on"])
    workers, names = zip(*used(project), strict=True)
    assert workers[:2] == ("gw0", "gw1")
    assert len({*names}) == len(names)


@pytest.mark.usefixtures("two_devices")
@pytest.mark.parametrize(
    ("options", "count"), [("", 2), (",split=layer", 2), (",share=1:1", 2), (",gpu=1", 1), (",split=none", 1)]
)
def test_one_process_uses_the_gpus_that_it_is_given(project: pytest.Pytester, options: str, count: int) -> None:
    arguments = [f"--puma-model=puma-tiny{options}", "--puma-strategy=zero_shot", "--puma-samples=1"]
    result = project.runpytest_subprocess("-n0", *arguments)
    result.assert_outcomes(passed=1)
    names = [device for _, device in used(project)]
    assert len(names) == count
    assert not options.startswith(",gpu") or names[0].endswith("1")
