"""Files that stay on the disk: `puma_keep_runs` and `puma_keep_prompts`."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.integration.conftest import INI, ONE_PROCESS, TRIAGE, Project
from tests.integration.test_full_disk import command_of, lines_of

#: Waits until a second run has ended.
WAITING = """
import pathlib
import time
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8)
def test_triage(puma):
    root = pathlib.Path({root!r})
    (root / "waits").touch()
    while not (root / "go").exists():
        time.sleep(0.01)
"""


def runs_of(project: Project) -> list[Path]:
    return sorted((project.pytester.path / ".puma" / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)


def with_predictions(project: Project) -> list[Path]:
    return [folder for folder in runs_of(project) if (folder / "predictions.jsonl").exists()]


def test_older_runs_lose_their_predictions_and_a_line_says_so(alone: Project) -> None:
    alone.pytester.makeini(f"{INI}puma_keep_runs = 2\n")
    alone.write(test_triage=TRIAGE)
    for _ in range(2):
        assert "puma_keep_runs" not in alone.run().stdout.str()
    oldest = min(runs_of(alone), key=lambda path: path.name)
    result = alone.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["puma_keep_runs = 2: removed the predictions of 1 older runs (0.0 MB)"])
    assert len(runs_of(alone)) == 3
    assert set(runs_of(alone)) - set(with_predictions(alone)) == {oldest}
    assert all((folder / "run.json").exists() for folder in runs_of(alone))
    result = alone.run(f"--puma-rescore={oldest.name}", model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: puma: --puma-rescore '*': found no predictions.jsonl of this run; those of older runs are removed*"]
    )


def test_the_run_that_is_rescored_keeps_its_predictions(alone: Project) -> None:
    alone.pytester.makeini(f"{INI}puma_keep_runs = 1\n")
    alone.write(test_triage=TRIAGE)
    alone.run(model=False).assert_outcomes(passed=1)
    (first,) = runs_of(alone)
    for _ in range(2):
        alone.run(f"--puma-rescore={first.name}", model=False).assert_outcomes(passed=1)
    assert len(with_predictions(alone)) == 2
    assert first in with_predictions(alone)


def test_a_run_that_goes_on_keeps_its_predictions(scripted: Project) -> None:
    root = scripted.pytester.path
    scripted.pytester.makeini(f"{INI}puma_keep_runs = 1\n")
    scripted.write(test_waiting=WAITING.format(root=str(root)), test_triage=TRIAGE)
    command = command_of(scripted, "-p", "no:cacheprovider", "test_waiting.py")
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        # Its predictions come with the report of the set-up.
        while not list(root.glob(".puma/runs/*/predictions.jsonl")):
            assert process.poll() is None
            time.sleep(0.01)
        (going,) = runs_of(scripted)
        for _ in range(2):
            scripted.run("test_triage.py").assert_outcomes(passed=1)
        assert going in with_predictions(scripted)
        assert len(with_predictions(scripted)) == 2
        (root / "go").touch()
        output, _ = process.communicate()
    assert process.returncode == 0, output
    assert len(lines_of(going)) == 9
    assert {path.name for path in going.iterdir()} == {"predictions.jsonl", "run.json"}


@pytest.mark.parametrize("value", ["0", "-1", "many"])
def test_a_number_of_runs_that_is_none_is_a_usage_error(alone: Project, value: str) -> None:
    alone.pytester.makeini(f"{INI}puma_keep_runs = {value}\n")
    alone.write(test_triage=TRIAGE)
    result = alone.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: puma: ini key puma_keep_runs*"])


#: Samples without a key, so that reports quote them; one of them is there twice.
QUOTED = """
import pandas as pd
import pytest
from pytest_puma import Scenario

ROWS = [(f"Zebra {i % 7} is lost", "sad" if i % 2 else "glad") for i in range(8)]

class Mood(Scenario):
    name = "mood"
    task_type = "classification"
    text_fields = ("text",)

    def sample(self, n, seed=42):
        return pd.DataFrame(ROWS, columns=["text", "mood"]).head(n)

    def gold_label(self, instance):
        return instance["mood"]

    def valid_labels(self):
        return ["sad", "glad"]

    def parse_response(self, response):
        return response

@pytest.mark.puma(Mood(), strategies=["zero_shot", "option_scoring"], samples=8)
def test_mood(puma):
    pass
"""
SAYS = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend(lambda prompt: "{mood}")
"""
QUOTE = "Zebra"


def quoting(project: Project, ini: str) -> set[str]:
    """The files with a text of the samples after a run with flips."""
    root = project.pytester.path
    project.pytester.makeini(INI + ini)
    project.write(conftest=SAYS.format(mood="sad"), test_mood=QUOTED)
    prompts = root / "prompts" / "mood"
    prompts.mkdir(parents=True)
    (prompts / "zero_shot.jinja").write_text("How? {{ text }}", encoding="utf-8")
    project.run("--puma-update-baseline").assert_outcomes(passed=2)
    shutil.rmtree(root / ".puma")
    project.write(conftest=SAYS.format(mood="glad"))
    reports = ("--puma-report=json:out.json", "--puma-report=md:out.md", "--puma-report=csv:out.csv")
    project.run("--puma-flips", *reports).assert_outcomes(passed=2)
    assert any(outcome["flips"] for outcome in project.record()["outcomes"])
    places = [*root.glob("out.*"), *(root / "benchmarks").rglob("*"), *(root / ".puma").rglob("*")]
    return {path.name for path in places if path.is_file() and QUOTE.encode() in path.read_bytes()}


@ONE_PROCESS
def test_files_quote_the_samples(project: Project) -> None:
    assert quoting(project, "") == {"predictions.jsonl", "run.json", "out.json", "out.md"}


def test_without_prompts_no_file_quotes_a_sample(project: Project) -> None:
    assert quoting(project, "puma_keep_prompts = false\n") == set()
    predictions = project.predictions()
    assert len(predictions) == 16
    assert {line["answer"] for line in predictions} <= {"sad", "glad"}
    assert all(line["gold"] and line["sample_id"] for line in predictions)
    result = project.run("--puma-rescore=last", model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: puma: --puma-rescore 'last': *: the run kept no prompts (ini key puma_keep_*"])
    project.run("--puma-only-flips").assert_outcomes(passed=2)


@ONE_PROCESS
def test_a_cell_that_was_cut_off_is_left_out_of_a_rescoring_and_a_line_says_so(project: Project) -> None:
    project.write(test_triage=TRIAGE.replace('["zero_shot"]', '["zero_shot", "few_shot_3"]'))
    project.run(model=False).assert_outcomes(passed=2)
    file = project.folder / "predictions.jsonl"
    last = [line for line in lines_of(project.folder) if line["kind"] == "cell"][-1]["cell"]
    file.write_bytes(file.read_bytes()[:-100])
    result = project.run("--puma-rescore=last", model=False)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [f"puma: {last} is cut off after 7 of its 8 predictions in predictions.jsonl; the cell is left out"]
    )
    newest = max(runs_of(project), key=lambda path: path.stat().st_mtime_ns)
    (outcome,) = json.loads((newest / "run.json").read_text(encoding="utf-8"))["outcomes"]
    assert outcome["cell"] != last
