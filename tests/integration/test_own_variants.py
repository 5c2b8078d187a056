"""Variants that a conftest.py adds by the hook."""

from __future__ import annotations

import pytest

from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.varying import write_files
from tests.tiny_controls import WIDTH, write_lora, write_vector
from tests.tiny_gguf import LLAMA_NO_BOS, write_gguf

HOOK = f"""
import numpy as np
from pytest_puma import ControlVector, Variant, hook, lora, quant, steer
from pytest_puma.testing import ScriptedBackend

LOUD = ControlVector({{1: np.ones({WIDTH}), 2: np.ones({WIDTH})}})

def scaled(k):
    def scale(states, where):
        return k * states
    return scale

def pytest_puma_backend(model):
    variants = {{"loud-1": lambda prompt: "Minor", "mix": lambda prompt: "Trivial"}}
    return ScriptedBackend({{}}, default="Major", digest="5a", variants=variants)

def pytest_puma_variants(model):
    return RETURNED
"""
MIX = "[Variant.of(steer(LOUD, strength=s), steer('loud.gguf', layers=(1, 2)), name='mix') for s in (0.5,)]"


def _project(project: Project, returned: str) -> Project:
    project.write(conftest=HOOK.replace("RETURNED", returned))
    return write_files(project)


def _run(project: Project, *arguments: str) -> pytest.RunResult:
    return project.run(*arguments, model=False)


def test_variants_of_the_hook_run_beside_those_of_the_argument(project: Project) -> None:
    _run(_project(project, MIX), "--puma-model=q.gguf,steer=loud.gguf:0/1", "-v").assert_outcomes(passed=3)
    answers = {(str(line["cell"]).partition("@")[2], line["answer"]) for line in project.predictions()}
    assert answers == {("q", "Major"), ("q+loud-1", "Minor"), ("q+mix", "Trivial")}


@ONE_PROCESS
def test_their_kept_answers_are_found_offline_and_by_their_contents(project: Project) -> None:
    _run(_project(project, MIX), "--puma-model=q.gguf").assert_outcomes(passed=2)
    offline = ("--puma-offline", "--puma-model=q@5a")
    _run(project, *offline).assert_outcomes(passed=2)
    project.write(conftest=HOOK.replace("RETURNED", MIX.replace("0.5", "0.25")))
    _run(project, *offline).assert_outcomes(passed=1, errors=1)


@ONE_PROCESS
@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        ("[steer(LOUD)]", "*hook pytest_puma_variants: found Control(*; expected Variants, as Variant.of(lora(*"),
        ("Variant.of(steer(LOUD))", "*hook pytest_puma_variants: found Variant(*; expected a list*"),
        (
            "[Variant.of(steer(LOUD, strength=0), name='off')]",
            "*hook pytest_puma_variants: variant 'off' has no control with a strength*",
        ),
        ("[Variant.of(steer(LOUD), name='a+b')]", "*a variant is named 'a+b'; expected letters, digits and any of*"),
        ("[Variant.of(steer(LOUD), name='plain')]", "*a variant is named 'plain'; expected letters*not 'plain'*"),
        ("[Variant.of(steer('loud.gguf'))]", "*hook pytest_puma_variants: the name 'q+loud-1' is taken; give yours*"),
        ("[Variant.of(steer(LOUD)), Variant.of(steer(2 * LOUD))]", "*the name 'q+vector-1' is taken; give yours*"),
        ("[Variant.of(lora('a.gguf'))]", "*hook pytest_puma_variants: a.gguf is a LoRA for llama; q is qwen2*"),
        ("[Variant.of(steer(LOUD, layers=7))]", "*hook pytest_puma_variants: @7: q has layers 1 to 2*"),
        (
            "[Variant.of(steer(LOUD, scope='tail'))]",
            "*hook pytest_puma_variants: steer 'vector': found scope 'tail'*",
        ),
        (
            "[Variant.of(steer(LOUD, kind='when', strength=0.2, layers=1), quant('Q8_0'), name='w')]",
            "*hook pytest_puma_variants: variant 'w' has a condition without a vector that acts under it; *",
        ),
        (
            "[Variant.of(steer(LOUD, kind='when', layers=1), steer(LOUD, scope='last'), name='w')]",
            "*hook pytest_puma_variants: q+w: when= decides behind the prompt, and vectors act on the reply; *",
        ),
        ("[Variant.of(steer(None))]", "*hook pytest_puma_variants raised TypeError: *(conftest.py:17)"),
        ("(1 / 0 for _ in 'a')", "*hook pytest_puma_variants raised ZeroDivisionError: *(conftest.py:17)"),
        ("[][0]", "*hook pytest_puma_variants raised IndexError: list index out of range (conftest.py:17)"),
        ("[Variant.of(hook(print, layers=1))]", "*hook 'print': found version ''; expected a function of*"),
        (
            "[Variant.of(hook(scaled(k), layers=1, version='7'), name=f'k{k}') for k in (-9, 1)]",
            "*hook pytest_puma_variants: q+k-9 and q+k1: found two functions 'scale' with one version*",
        ),
        ("[Variant.of(hook(print, layers=3, version='1'))]", "*print-hook-1-L3: q has layers 1 to 2*"),
        (
            "[Variant.of(quant('other.gguf'))]",
            "*hook pytest_puma_variants: other.gguf is no other quantisation of q: *",
        ),
        ("[Variant.of(steer('wide.gguf'))]", "*wide.gguf has directions of 640 numbers, q has 192*"),
    ],
)
def test_a_mistake_is_an_error_before_anything_runs(project: Project, returned: str, sentence: str) -> None:
    write_lora(project.pytester.path / "a.gguf", architecture="llama")
    write_vector(project.pytester.path / "wide.gguf", width=640)
    write_gguf(project.pytester.path / "other.gguf", LLAMA_NO_BOS)
    result = _run(_project(project, returned), "--puma-model=q.gguf,steer=loud.gguf")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([sentence])


OWN = """
from pytest_puma import Variant, hook

def silent(states, where):
    return 0 * states

def pytest_puma_variants(model):
    return [Variant.of(hook(silent, version="1", layers=(1, 2)))]
"""


@ONE_PROCESS
def test_a_function_of_ones_own_changes_answers_which_are_kept_by_its_version(project: Project) -> None:
    project.write(conftest=OWN)
    write_files(project)
    _run(project, "--puma-model=q.gguf").assert_outcomes(passed=2)
    answers = {(line["cell"], line["sample_id"]): line["answer"] for line in project.predictions()}
    plain, changed = (
        [answer for (cell, _), answer in answers.items() if cell.endswith(f"@{model}")]
        for model in ("q", "q+silent-hook-1-L1-2")
    )
    assert len(plain) == len(changed) == 8
    assert plain != changed
    _run(project, "--puma-model=q.gguf", "--puma-offline").assert_outcomes(passed=2)
    project.write(conftest=OWN.replace('"1"', '"2"'))
    _run(project, "--puma-model=q.gguf", "--puma-offline").assert_outcomes(passed=1, errors=1)


@ONE_PROCESS
def test_a_function_that_returns_other_rows_is_an_error_of_its_own_cells(project: Project) -> None:
    project.write(conftest=OWN.replace("0 * states", "states[1:]"))
    result = _run(write_files(project), "--puma-model=q.gguf")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*hook function 'silent' returned float32 of the shape (*for l_out-1; expected*"])
