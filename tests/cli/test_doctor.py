"""The command `pytest-puma doctor`: each part of the machine, each lack with advice, and libraries that are broken."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from pytest_puma.cli import main
from pytest_puma.cli.doctor import engine, project
from pytest_puma.cli.doctor.finding import Finding
from pytest_puma.engine.native.openmp import LIBRARY
from pytest_puma.metrics.library import EXTRAS
from pytest_puma.sandbox import pool
from tests.docs.reference import ROOT

PARTS = ("versions", "processors", "memory", "disk", "engine", "GPU", "project", "models", "answers", "git", "extras")
#: The command alone: other commands may import what is broken here.
DOCTOR = """
import argparse
from pytest_puma.cli import doctor
parser = argparse.ArgumentParser()
doctor.declare(parser.add_subparsers())
options = parser.parse_args(["doctor", "--json"])
raise SystemExit(options.run(options))
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def findings() -> dict[str, Finding]:
    """Findings about the project in this folder, by part."""
    return {each.part: each for each in project.findings(Path.cwd())}


def test_a_sound_installation_answers_and_each_lack_has_advice(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    states = {line[9:21].strip(): line[:9].strip() for line in lines if line[:1] != " "}
    assert tuple(states) == (*PARTS, "sandbox")
    assert states["engine"] == "ok"
    assert set(states.values()) <= {"ok", "advice"}
    assert [line for line in lines if "answers with the bundled model" in line]


def test_json_has_the_same_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["usable"] is True
    by_part = {each["part"]: each for each in record["findings"]}
    assert by_part["engine"]["details"].keys() == {"version", "cpu", "lean", "offloads", "gpus"}
    assert by_part["processors"]["details"]["cores"] >= 1
    assert all(bool(each["advice"]) == (each["state"] != "ok") for each in by_part.values())


@pytest.mark.parametrize(
    ("library", "content", "problem", "advice"),
    [
        (
            "llama_cpp",
            "import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n",
            "cannot import llama_cpp (SIGILL): no message",
            "the library is compiled for another processor; compile it on this machine",
        ),
        (
            "llama_cpp",
            "raise OSError('libllama.so: cannot open shared object file')\n",
            "cannot import llama_cpp: OSError: libllama.so: cannot open shared object file",
            "compile it on this machine, which takes about ten minutes: pip install --force-reinstall",
        ),
        (
            "numpy",
            "raise ImportError('libopenblas.so')\n",
            "cannot import numpy: ImportError: libopenblas.so",
            "install it again: pip install --force-reinstall --no-cache-dir numpy",
        ),
    ],
    ids=["illegal instruction", "missing library", "numpy"],
)
def test_a_broken_library_ends_only_the_child(
    tmp_path: Path, library: str, content: str, problem: str, advice: str
) -> None:
    broken = tmp_path / library
    broken.mkdir()
    (broken / "__init__.py").write_text(content, encoding="utf-8")
    program = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n{DOCTOR}"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert result.returncode == 1, result.stderr
    record = json.loads(result.stdout)
    assert record["usable"] is False
    (finding,) = (each for each in record["findings"] if each["state"] == "broken")
    assert finding["found"] == problem
    assert finding["advice"].startswith(advice)


def test_another_library_that_does_not_fit_has_the_advice_to_do_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / LIBRARY.name).write_text("no library", encoding="utf-8")
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    finding = next(engine.findings())
    assert finding.found.startswith("cannot import llama_cpp: RuntimeError: Failed to load shared library ")
    assert finding.advice.startswith("unset LLAMA_CPP_LIB_PATH, as llama-cpp-python then loads its own library, or ")


@pytest.mark.parametrize("lean", [True, False])
def test_a_lean_build_is_named(monkeypatch: pytest.MonkeyPatch, *, lean: bool) -> None:
    result = {"version": "0.3.36", "lean": lean, "gpus": [], "offloads": False}
    process = subprocess.CompletedProcess("", 0, stdout=json.dumps(result), stderr="")
    monkeypatch.setattr(engine, "run_probe", lambda _model: process)
    named = " (a lean build: only the parts of llama.cpp that benchmarks use)"
    assert next(engine.findings()).found == f"llama-cpp-python 0.3.36 answers with the bundled model{named * lean}"


@pytest.mark.parametrize(
    ("result", "device", "state"),
    [
        ({"gpus": [{"name": "H100", "free": 2**36}], "offloads": True}, "H100 (64.0 GB free)", "ok"),
        ({"gpus": [], "offloads": True}, "one that shares the memory of the host", "ok"),
    ],
)
def test_the_devices_of_llama_cpp_are_named(result: Mapping[str, Any], device: str, state: str) -> None:
    finding = engine.gpu_finding(result)
    assert (finding.found, finding.state) == (device, state)


def test_a_gpu_that_llama_cpp_does_not_use_has_the_command_that_compiles_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = engine.gpu_finding({"gpus": [], "offloads": False})
    assert finding.state == "advice"
    assert finding.advice.startswith("CMAKE_ARGS=-DGGML_CUDA=on pip install")


# -- the project -----------------------------------------------------------------------------------


def test_an_empty_folder_lacks_an_ini_file_a_model_and_a_commit() -> None:
    by_part = findings()
    assert {part for part, each in by_part.items() if each.state == "advice"} >= {"project", "models", "git"}
    assert by_part["answers"].found.startswith("none is kept yet")


@pytest.mark.parametrize(
    ("ini", "content"),
    [
        ("pytest.ini", "[pytest]\npuma_model_dirs = weights 'other weights'\n"),
        ("pyproject.toml", '[tool.pytest]\npuma_model_dirs = ["weights", "other weights"]\n'),
    ],
)
def test_models_are_searched_where_the_ini_file_says(tmp_path: Path, ini: str, content: str) -> None:
    Path(ini).write_text(content, encoding="utf-8")
    for name in ("weights/a.gguf", "other weights/b.gguf", "c.gguf"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()
    by_part = findings()
    assert by_part["project"].found == str(tmp_path / ini)
    assert by_part["models"].found.startswith("a.gguf, b.gguf, in ")
    assert by_part["models"].details["folders"] == {
        str(tmp_path / "weights"): ["a.gguf"],
        str(tmp_path / "other weights"): ["b.gguf"],
    }


def test_a_damaged_store_names_the_command_that_reads_its_answers() -> None:
    store = Path(".puma", "responses.sqlite")
    store.parent.mkdir()
    store.write_bytes(b"no database" * 1000)
    answers = findings()["answers"]
    assert answers.state == "advice"
    assert f"`sqlite3 {store.resolve()} .recover` prints what can still be read" in answers.advice


def test_a_store_that_is_off_is_reported() -> None:
    Path("pytest.ini").write_text("[pytest]\npuma_store = off\n", encoding="utf-8")
    assert findings()["answers"].found == "are not kept"


def test_the_commit_of_a_repository_is_reported(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *command], check=True)  # noqa: S603 - fixed commands
    assert findings()["git"].found.startswith("a repository at commit ")


# -- what is true of the package -------------------------------------------------------------------


def test_the_extras_are_those_of_the_package() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert project.EXTRAS.keys() == declared.keys() - {"docs", "metrics", "test", "training", "speed", "dev"}
    assert {name: project.EXTRAS[name][0] for name in EXTRAS} == dict(EXTRAS)


def test_no_metric_runs_code_of_replies() -> None:
    rooms = [ROOT / "pytest_puma" / room for room in ("metrics", "scenarios", "strategies")]
    files = [path for room in rooms for path in room.rglob("*.py")]
    assert len(files) > 50
    # A `BoundedFunction` runs functions of this package.
    assert not [path.name for path in files if "subprocess" in path.read_text(encoding="utf-8")]
    called = {
        node.func.id
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert called.isdisjoint({"exec", "eval"})


def test_the_chat_format_of_a_model_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "puma-tiny", "nothing.gguf"]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = next(index for index, line in enumerate(lines) if "puma-tiny, from the template in" in line)
    assert lines[start].startswith("ok       chat format puma-tiny")
    assert [line.strip() for line in lines[start + 1 : start + 4]] == [
        "content: text",
        "system role: yes",
        "variables: none",
    ]
    assert "answer ends with: '<|im_end|>'" in "".join(lines[start:])
    assert any(line.startswith("advice   chat format nothing.gguf: ") for line in lines)


def test_the_sandbox_is_found_with_the_languages_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pool, "landlock_version", lambda: 4)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("bash", "javac"):  # without java
        (tmp_path / name).write_text("", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    assert findings()["sandbox"].found == "--puma-run-code can run programs of replies, in Python, Bash"
    monkeypatch.setattr(pool, "landlock_version", lambda: 0)
    assert "it has no Landlock, and no bwrap on the PATH" in findings()["sandbox"].advice
