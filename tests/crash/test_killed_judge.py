"""A run that is killed while a judge looks at replies: the replies and the verdicts until then are kept."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.crash.project import CrashProject
from tests.integration.judging import BENCHMARK, CONFTEST

#: Kills all processes of the run as it asks the judge for the ninth time, one request after the other.
KILLING = CONFTEST.replace(
    '    def answer(prompt):\n        note("asked.txt", model.name)\n',
    """    def answer(prompt):
        note("asked.txt", model.name)
        if model.name == "kind" and os.path.exists("kill"):
            if open("asked.txt").read().count("kind") > 8:
                os.killpg(os.getpgid(0), 9)
""",
).replace("digest=", "parallel=1, digest=")


@pytest.mark.parametrize("workers", ["-pno:xdist", "-n2"])
def test_verdicts_before_a_kill_are_kept(tmp_path: Path, gguf: Path, workers: str) -> None:
    shutil.copy(gguf, tmp_path / "any.gguf")
    project = CrashProject(tmp_path)
    project.write("conftest.py", KILLING)
    project.write("test_triage.py", BENCHMARK.replace("GATES", "['judge.calm >= 0.9']").replace(", JUDGE", ""))
    run = (workers, "--puma-model=tested=any.gguf", "--puma-judge=kind=any.gguf", "-oaddopts=")
    project.write("kill", "")
    assert project.run(*run).code == -9
    before = _asked(tmp_path)
    (tmp_path / "kill").unlink()
    (tmp_path / "asked.txt").unlink()
    finished = project.run(*run)
    assert finished.code == 0, finished.output
    after, outcomes = _asked(tmp_path), project.records()[-1]["outcomes"]
    assert 0 < after["kind"] < _whole(tmp_path, project, run)["kind"]
    assert before["tested"] + after["tested"] == 12
    assert [outcome["measures"]["judge.calm"]["value"] for outcome in outcomes] == [1.0, 1.0]


def _asked(folder: Path) -> Counter[str]:
    return Counter((folder / "asked.txt").read_text(encoding="utf-8").split())


def _whole(folder: Path, project: CrashProject, run: tuple[str, ...]) -> Counter[str]:
    """What a run without the store asks."""
    (folder / "asked.txt").unlink()
    assert project.run(*run, "--puma-store=off").code == 0
    return _asked(folder)
