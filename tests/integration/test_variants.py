"""Variants of a model as cells of their own, which share its weights."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.platform.bundled import bundled_folder
from pytest_puma.scenarios import TriageJiraScenario, draw
from tests.integration.conftest import ONE_PROCESS, TRIAGE, Project
from tests.integration.varying import run_grid, write_files
from tests.prediction_lines import prediction_lines
from tests.tiny_controls import write_lora, write_vector

CONFTEST = """
from pathlib import Path
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    with Path("opened.txt").open("a") as file:
        print(model.name, file=file)
    shouted = {"loud-1": lambda prompt: asked("loud-1", "Trivial"), "loud-2": lambda prompt: asked("loud-2", "Minor")}
    return ScriptedBackend(lambda prompt: asked("plain", "Major"), digest="5a", variants=shouted)

def asked(who, answer):
    with Path("asked.txt").open("a") as file:
        print(who, file=file)
    return answer
"""


@pytest.fixture
def varied(project: Project) -> Project:
    """A project whose model answers by a script."""
    project.write(conftest=CONFTEST)
    return write_files(project)


def _answers(project: Project) -> dict[str, set[str]]:
    """The answers of each model in the last run."""
    answers: dict[str, set[str]] = {}
    last = max((project.pytester.path / ".puma" / "runs").iterdir())
    for line in prediction_lines(last / "predictions.jsonl"):
        answers.setdefault(str(line["cell"]).partition("@")[2], set()).add(str(line["answer"]))
    return answers


def _asked(project: Project) -> list[str]:
    file = project.pytester.path / "asked.txt"
    return sorted(set(file.read_text().split())) if file.exists() else []


def test_a_grid_loads_the_weights_once(varied: Project) -> None:
    result = run_grid(varied, "--puma-flips")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        ["replies of *-zero_shot to *:", "  plain   'Major'", "  loud-1  'Trivial'", "  loud-2  'Minor'"]
    )
    result.stdout.fnmatch_lines(["loud is on all layers of its file, as no layers were named: steer=loud.gguf@LAYERS"])
    assert (varied.pytester.path / "opened.txt").read_text().split() == ["q"]
    assert _answers(varied) == {"q": {"Major"}, "q+loud-1": {"Trivial"}, "q+loud-2": {"Minor"}}


@ONE_PROCESS
def test_a_test_selects_its_variants(varied: Project) -> None:
    varied.write(test_it=TRIAGE.replace("samples=8", 'samples=8, variants=["plain", "*-2"]'))
    run_grid(varied).assert_outcomes(passed=2)
    assert _answers(varied) == {"q": {"Major"}, "q+loud-2": {"Minor"}}
    varied.run("--puma-model=q.gguf", model=False).assert_outcomes(passed=1)
    varied.write(test_all=TRIAGE)
    run_grid(varied).assert_outcomes(passed=2 + 3)
    rescored = varied.run("--puma-rescore=last", "-v", model=False)
    rescored.assert_outcomes(passed=2 + 3)
    assert not [line for line in rescored.outlines if "test_it.py" in line and "loud-1" in line]
    result = varied.run("--puma-model=q.gguf,steer=loud.gguf:0/1", model=False)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*variants: '[*]-2' matches no variant of this run; *there are: plain, loud-1*"])


@ONE_PROCESS
def test_kept_answers_are_those_of_their_variant(varied: Project) -> None:
    run_grid(varied).assert_outcomes(passed=3)
    (varied.pytester.path / "asked.txt").unlink()
    run_grid(varied).assert_outcomes(passed=3)
    assert _asked(varied) == []
    assert _answers(varied) == {"q": {"Major"}, "q+loud-1": {"Trivial"}, "q+loud-2": {"Minor"}}
    write_vector(varied.pytester.path / "loud.gguf", seed=1)
    run_grid(varied).assert_outcomes(passed=3)
    assert _asked(varied) == ["loud-1", "loud-2"]


@ONE_PROCESS
def test_variants_are_read_offline(varied: Project) -> None:
    run_grid(varied).assert_outcomes(passed=3)
    (varied.pytester.path / "opened.txt").unlink()
    result = varied.run("--puma-offline", "--puma-model=q@5a,steer=loud.gguf:0/1/2", model=False)
    result.assert_outcomes(passed=3)
    assert not (varied.pytester.path / "opened.txt").exists()
    assert _answers(varied) == {"q": {"Major"}, "q+loud-1": {"Trivial"}, "q+loud-2": {"Minor"}}


@ONE_PROCESS
def test_the_plain_model_and_a_variant_may_be_two_arguments(varied: Project) -> None:
    result = varied.run("--puma-model=q.gguf", "--puma-model=q.gguf,steer=loud.gguf:2", model=False)
    result.assert_outcomes(passed=2)
    assert (varied.pytester.path / "opened.txt").read_text().split() == ["q"]


@ONE_PROCESS
def test_an_id_that_a_control_makes_too_long_names_its_file(varied: Project) -> None:
    shutil.copy(varied.pytester.path / "loud.gguf", varied.pytester.path / f"{'loud' * 20}.gguf")
    result = varied.run(f"--puma-model=q.gguf,steer={'loud' * 20}.gguf", model=False)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        ["*the id triage_jira-zero_shot@q+loud* characters; *, or files of controls with shorter*"]
    )


def test_variants_of_two_models_of_one_name_are_refused(varied: Project) -> None:
    shutil.copy(varied.pytester.path / "q.gguf", varied.pytester.path / "other.gguf")
    result = varied.run("--puma-model=q.gguf", "--puma-model=q=other.gguf,steer=loud.gguf:2", model=False)
    result.stderr.fnmatch_lines(["*'q.gguf' is named 'q+loud-2' too*"])


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("q.gguf,steer=lout.gguf", "*no such file*"),
        ("q+x=q.gguf", "*the alias 'q+x' contains '+'*"),
        ("recorded:r=r.jsonl,lora=loud.gguf", "*answers that are recorded cannot be those of a variant*"),
        (
            "q.gguf,lora=loud.gguf",
            "*--puma-model 'q.gguf,lora=loud.gguf': *loud.gguf is a control vector, and no LoRA*",
        ),
        ("q.gguf,steer=a.gguf", "*a.gguf is a LoRA adapter, and no control vector; expected a file of repeng*"),
        ("q.gguf,lora=a.gguf:0/1", "*a.gguf is a LoRA for llama; q is qwen2*"),
        ("p=q.gguf,steer=loud.gguf:0/1@1/40", "*@40: p has layers 1 to 2*"),
        ("q.gguf,heads=wide.gguf", "*wide.gguf has directions of 640 numbers, the attention of q has 192: it was*"),
        ("q.gguf,heads=loud.jsonl", "*heads=loud.jsonl: vectors of pairs are for the outputs of layers*"),
        ("q.gguf,ablate=loud.gguf@2,when=loud.gguf:0.2@2", "*loud-when-0.2-L2: a condition is a cosine*layers 1 to 1*"),
        ("q.gguf,ablate=loud.gguf@2,when=loud.gguf:2@1", "*loud-when-2-L1: a condition is a cosine from -1 to 1*"),
        ("q.gguf,steer=wide.gguf", "*wide.gguf has directions of 640 numbers, q has 192: it was made for another*"),
    ],
)
def test_a_mistake_is_an_error_before_anything_runs(varied: Project, argument: str, sentence: str) -> None:
    write_lora(varied.pytester.path / "a.gguf", architecture="llama")
    write_vector(varied.pytester.path / "wide.gguf", width=640)
    (varied.pytester.path / "loud.jsonl").write_text('{"positive": "A", "negative": "B"}\n' * 4)
    (varied.pytester.path / "r.jsonl").write_text('{"id": "1", "text": "Major"}\n')
    result = varied.run(f"--puma-model={argument}", model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([sentence])


def test_a_file_name_with_a_plus_gives_another_name(varied: Project) -> None:
    Path(varied.pytester.path / "q.gguf").rename(varied.pytester.path / "c++.gguf")
    varied.run("--puma-model=c++.gguf", model=False).assert_outcomes(passed=1)
    assert set(_answers(varied)) == {"c__"}


@ONE_PROCESS
def test_pairs_of_texts_steer_a_real_model(project: Project) -> None:
    folder = project.pytester.path
    texts = ("The login fails.", "A page is slow.", "The colour is wrong.", "Nobody can pay.")
    lines = [json.dumps({"positive": text.upper(), "negative": text}) for text in texts]
    (folder / "loud.jsonl").write_text("\n".join(lines))
    shutil.copy(bundled_folder("models") / "puma-tiny.gguf", folder / "q.gguf")
    project.write(test_it=TRIAGE)
    result = project.run("--puma-model=q.gguf,steer=loud.jsonl:0/1/9", model=False)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*puma: variants*", "*loud-1*", "*loud-9*"])


@ONE_PROCESS
def test_pairs_that_quote_a_sample_are_a_collection_error(varied: Project) -> None:
    (title,) = (sample.fields["title"] for sample in draw(TriageJiraScenario(), 1, seed=42))
    lines = [json.dumps({"positive": f"LOUD {text}", "negative": "No."}) for text in ("a", "b", "c", f"so: {title}")]
    (varied.pytester.path / "loud.jsonl").write_text("\n".join(lines), encoding="utf-8")
    run = partial(varied.run, model=False)
    result = run("--puma-model=q.gguf,steer=loud.jsonl:0/1")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*loud.jsonl, line 4: the pair quotes sample * of triage_jira (*"])
    run("--puma-model=q.gguf,steer=loud.jsonl:0").assert_outcomes(passed=1)


def test_variants_of_real_weights_answer_in_a_grid_as_they_do_alone(project: Project) -> None:
    folder = project.pytester.path
    shutil.copy(bundled_folder("models") / "puma-tiny.gguf", folder / "q.gguf")
    write_vector(folder / "loud.gguf", size=0.5)
    write_lora(folder / "a.gguf")
    project.write(test_it=TRIAGE)

    def run(argument: str, cells: int) -> dict[str, Any]:
        """The predictions by cell and sample."""
        project.run(f"--puma-model={argument},strict=on,gpu_layers=0", model=False).assert_outcomes(passed=cells)
        lines = {f"{line['cell']} {line['sample_id']}": line for line in project.predictions()}
        shutil.rmtree(folder / ".puma")
        return lines

    grid = run("q.gguf,steer=loud.gguf:0/2@1,lora=a.gguf:0/1", 4)
    alone = run("q.gguf,steer=loud.gguf:2@1,lora=a.gguf", 1) | run("q.gguf,steer=loud.gguf:2/0@1", 2)
    assert (len(grid), len(alone)) == (4 * 8, 3 * 8)
    assert {name: grid[name] for name in alone} == alone
    texts = [[line["raw"] for name, line in grid.items() if f"@{model} " in name] for model in ("q", "q+a-1")]
    assert texts[0] != texts[1]


@ONE_PROCESS
def test_hooks_of_real_weights_run_in_a_grid_and_are_kept(project: Project) -> None:
    folder = project.pytester.path
    shutil.copy(bundled_folder("models") / "puma-tiny.gguf", folder / "q.gguf")
    write_vector(folder / "loud.gguf", size=0.5)
    project.write(test_it=TRIAGE)
    argument = "q.gguf,steer=loud.gguf:0/9@1,scope=reply,when=loud.gguf:-1@1,rotate=loud.gguf:0/80"

    def run() -> pytest.RunResult:
        result = project.run(f"--puma-model={argument}", "--puma-report=html:page.html", model=False)
        result.assert_outcomes(passed=4)
        return result

    run()
    texts: dict[str, list[str]] = {}
    for line in project.predictions():
        texts.setdefault(line["cell"].partition("@")[2], []).append(line["raw"])
    assert set(texts) == {"q", "q+loud-reply-9-L1+loud-when--1-L1"} | {
        f"q+{steered}loud-when--1-L1+loud-rotate-80" for steered in ("", "loud-reply-9-L1+")
    }
    assert texts["q"] != texts["q+loud-when--1-L1+loud-rotate-80"]
    run().stdout.fnmatch_lines(["kept answers: all 32 of 4 cells*"])
