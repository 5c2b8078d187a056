"""Variants of a model, compared with the plain one: gates, the table, the sentences below it."""

from __future__ import annotations

import json

import pytest

from pytest_puma.runs.past_run import PastRun
from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.varying import run_grid, write_files


@pytest.fixture
def varied(project: Project) -> Project:
    return write_files(project)


PLAIN_GATES = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=40, gates=["accuracy >= plain - 0.02"])
def test_triage(puma):
    pass
"""
#: As good as the plain model, better, and worse than it, by the lengths of prompts.
SCRIPTS = """
from pytest_puma.testing import ScriptedBackend

LABELS = ["Trivial", "Minor", "Major", "Critical"]

def pytest_puma_backend(model):
    same = lambda prompt: LABELS[len(prompt) % 4]
    return ScriptedBackend(same, digest="5a", variants={"loud-1": same, "loud-2": lambda prompt: "I cannot say."})
"""


def test_a_gate_compares_each_variant_with_its_plain_model(varied: Project) -> None:
    varied.write(conftest=SCRIPTS, test_it=PLAIN_GATES)
    result = run_grid(varied)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "triage_jira-zero_shot@q+loud-2: accuracy is lower by * against q, more than the 0.02 allowed *",
            "pass: triage_jira-zero_shot@q+loud-1: accuracy is the same [[]0, 0[]] against q, *",
            "*puma: variants*",
            "scenario *strategy *model *variant *metric *value *change *95 % interval *Holm *flips*",
            "triage_jira *zero_shot *q *loud-1 *f1_macro* 0 *0%*",
            "* loud-2 *f1_macro *0 *100%*",
        ]
    )


@ONE_PROCESS
@pytest.mark.parametrize(
    ("seed", "outcome", "sentences"),
    [
        (
            1,
            pytest.ExitCode.OK,
            [
                "pass: triage_jira-zero_shot@q+loud-1: f1_macro is the same [[]0, 0[]] against q, *",
                "*loud-1: accuracy >= plain - 0.9 was not judged: *zero_shot@q does not compare accuracy; name it in *",
            ],
        ),
        (
            2,
            pytest.ExitCode.TESTS_FAILED,
            [
                "*q+loud-1, q+loud-2: not compared with the plain model: their cells have other samples",
                "FAILED puma::f1_macro >= plain - 0.9 !fail (triage_jira-zero_shot@q+loud-1)*",
            ],
        ),
    ],
)
def test_the_plain_model_may_be_a_cell_of_another_test_on_the_same_samples(
    varied: Project, seed: int, outcome: pytest.ExitCode, sentences: list[str]
) -> None:
    tests = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8, seed=1, variants=["plain"])
def test_plain(puma):
    pass

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8, seed=SEED, variants=["loud-*"],
                  gates=["f1_macro >= plain - 0.9 !fail", "accuracy >= plain - 0.9"])
def test_variants(puma):
    pass
"""
    varied.write(conftest=SCRIPTS, test_it=tests.replace("SEED", str(seed)))
    result = run_grid(varied)
    assert result.ret == outcome
    for sentence in sentences:
        result.stdout.fnmatch_lines([sentence])


@ONE_PROCESS
def test_a_gate_on_variants_rests_in_a_run_of_plain_models(varied: Project) -> None:
    varied.write(conftest=SCRIPTS, test_it=PLAIN_GATES)
    varied.run("--puma-model=q.gguf", model=False).assert_outcomes(passed=1)


@ONE_PROCESS
def test_a_variant_without_its_plain_model_is_not_judged(varied: Project) -> None:
    varied.write(conftest=SCRIPTS, test_it=PLAIN_GATES)
    result = varied.run("--puma-model=q.gguf,steer=loud.gguf:1/2", model=False)
    result.stdout.fnmatch_lines(
        [
            "not run: *@q+loud-1: * was not judged: q did not run: add 0 to the list, as in steer=polite.gguf:0/4/8*",
            "q+loud-1, q+loud-2: to compare with the plain model, add 0 to the list, as in steer=polite.gguf:0/4/8",
        ]
    )


@ONE_PROCESS
def test_the_maximum_over_variants_is_corrected_for_the_choice(varied: Project) -> None:
    varied.write(
        conftest=SCRIPTS, test_it=PLAIN_GATES.replace("accuracy >= plain - 0.02", "max(accuracy over variant) >= 0.9")
    )
    result = run_grid(varied)
    result.stdout.fnmatch_lines(
        ["*FAIL*triage_jira-zero_shot@q: max of 3, q*: accuracy*corrected for choosing the max of 3*"]
    )


@ONE_PROCESS
def test_variants_are_compared_on_request(varied: Project) -> None:
    varied.write(conftest=SCRIPTS)
    result = run_grid(varied, "--puma-compare=variant")
    result.stdout.fnmatch_lines(["*puma: comparison*", "*q+loud-1*@q*", "*q+loud-2*@q*"])


TONE = """
import pytest
from pytest_puma import CompletionScenario, metric

@metric
def shouted(sample, prediction):
    return prediction.text.isupper()

class Tone(CompletionScenario):
    name = "tone"
    data = "questions.jsonl"
    scores = (shouted,)

    def instruction(self, item):
        return item["question"]

    def truth(self, item):
        return ""

@pytest.mark.puma(Tone, strategies=["zero_shot"], samples="all")
def test_tone(puma):
    pass
"""


@ONE_PROCESS
def test_of_a_score_more_is_fixed_and_less_is_broken(varied: Project) -> None:
    questions = [json.dumps({"id": str(number), "question": f"What is {number}?"}) for number in range(12)]
    (varied.pytester.path / "questions.jsonl").write_text("\n".join(questions))
    varied.write(
        conftest="""
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    quiet = lambda prompt: "quiet"
    return ScriptedBackend(quiet, digest="5a", variants={"loud-1": lambda prompt: "LOUD", "loud-2": quiet})
""",
        test_it=TONE,
    )
    run_grid(varied).assert_outcomes(passed=3)
    (run,) = (varied.pytester.path / ".puma" / "runs").iterdir()
    (result,) = json.loads((run / "run.json").read_text())["variants"]
    changes = [shift["answer_changes"] for shift in result["shifts"]]
    assert [(each["fixed"], each["broken"], each["still_wrong"]) for each in changes] == [(12, 0, 0), (0, 0, 0)]


@ONE_PROCESS
def test_a_run_keeps_the_trade_off_between_the_metrics_of_a_sweep(varied: Project) -> None:
    varied.write(conftest=SCRIPTS, test_it=PLAIN_GATES.replace("gates=", 'metrics=["f1_macro", "accuracy"], gates='))
    run_grid(varied)
    (folder,) = (varied.pytester.path / ".puma" / "runs").iterdir()
    (front,) = PastRun(folder).run.fronts
    assert (front.metric, front.other_metric) == ("f1_macro", "accuracy")
    assert [point.standing for point in front.points] == ["undecided", "undecided", "dominated"]
