"""`--puma-rescore`, as its user sees it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Project

#: Every way of asking: one request and several, texts and probabilities, two turns, under a perturbation too.
LABELS = """
import pytest

@pytest.mark.puma(
    "triage_jira",
    strategies=["zero_shot", "few_shot_3", "egi", "self_consistency_3", "option_scoring"],
    samples=6,
    perturb=["case_upper"],
)
def test_triage(puma):
    pass
"""

REPEATED = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=4, repeats=3, temperature=1.0)
def test_triage(puma):
    pass
"""

#: Choices in several orders, with and without the question, and a completion of two turns with the truth scored.
TASKS = """
import pytest
from pytest_puma import ChoiceScenario, CompletionScenario

class Places(ChoiceScenario):
    name = "places"
    data = "places.jsonl"
    key = "id"
    orders = 3
    scores = ("accuracy_uncond", "position_bias")

    def question(self, item):
        return item["question"]

    def choices(self, item):
        return item["choices"]

    def answer(self, item):
        return item["answer"]

class Capitals(CompletionScenario):
    name = "capitals"
    data = "capitals.jsonl"
    key = "id"
    scores = ("exact_match", "bits_per_byte")
    max_tokens = 8

    def instruction(self, item):
        return f"Q: What is the capital of {item['country']}?"

    def cue(self, item):
        return "A:"

    def truth(self, item):
        return item["capital"]

class Talk(Capitals):
    name = "talk"
    scores = ("exact_match",)

    def turns(self, item):
        return (self.instruction(item), "Write it again.")

@pytest.mark.puma(Places, strategies=["zero_shot", "option_scoring", "cloze_scoring"])
def test_places(puma):
    pass

@pytest.mark.puma(Capitals, strategies=["zero_shot"])
def test_capitals(puma):
    pass

@pytest.mark.puma(Talk, strategies=["zero_shot"])
def test_talk(puma):
    pass
"""

TIMED = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8, gates=["accuracy >= 0.1", "latency_mean <= 0.0"])
def test_triage(puma):
    pass
"""

TRIAGE = TIMED.replace(', "latency_mean <= 0.0"', "")

#: A scenario, to which a metric and another parser come after the run.
OWN = """
import pytest
from pytest_puma import metric
from pytest_puma.scenarios import TriageJiraScenario

@metric()
def short(sample, prediction):
    return len(prediction.text) < 10

class Own(TriageJiraScenario):
    name = "own"
    template_folder = "triage_jira"
    {changes}

@pytest.mark.puma(Own, strategies=["zero_shot"], samples=8)
def test_triage(puma):
    pass
"""

CHANGES = """scores = (short,)

    def parse_response(self, response):
        return "Critical"
"""

NO_MODEL = """
def pytest_puma_backend(model):
    raise AssertionError("a model is opened")
"""

NO_ENGINE = """
import sys

def pytest_sessionfinish(session):
    loaded = [name for name in ("llama_cpp", "pytest_puma.engine.native") if name in sys.modules]
    assert not loaded, loaded
"""


def data_of(project: Project) -> None:
    """The rows of `TASKS`."""
    places = [
        {
            "id": f"p{number}",
            "question": f"Where is shelf {number}?",
            "choices": [*choices],
            "answer": choices[number % 3],
        }
        for number, choices in enumerate([("desk", "house", "all of the above"), ("sea", "sky", "bed")] * 2)
    ]
    capitals = [
        {"id": name[:2], "country": name, "capital": city}
        for name, city in (("Norway", "Oslo"), ("Japan", "Tokyo"), ("Peru", "Lima"))
    ]
    for name, rows in (("places", places), ("capitals", capitals)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (project.pytester.path / f"{name}.jsonl").write_text(lines, encoding="utf-8")


def earlier(project: Project) -> Path:
    """The folder of the run so far, moved out of the way of the next run."""
    target = project.pytester.path / "earlier" / project.folder.name
    shutil.move(project.folder, target)
    shutil.rmtree(project.pytester.path / ".puma")
    return target


def lines_of(folder: Path) -> list[str]:
    """`predictions.jsonl` without the order in which workers finished."""
    return sorted((folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines())


def measures_of(folder: Path) -> dict[str, dict[str, Any]]:
    """The measures of each cell, without the one that is timed."""
    outcomes = json.loads((folder / "run.json").read_text(encoding="utf-8"))["outcomes"]
    return {
        each["cell"]: {name: measure for name, measure in each["measures"].items() if name != "latency_mean"}
        for each in outcomes
    }


@pytest.mark.parametrize("benchmarks", [LABELS, REPEATED, TASKS], ids=["labels", "repeats", "choices_and_texts"])
def test_a_rescored_run_is_the_run_itself(project: Project, benchmarks: str) -> None:
    data_of(project)
    project.write(test_benchmarks=benchmarks)
    project.run("--puma-max-tokens=8").assert_outcomes(passed=len(project.cell_ids()))
    before = earlier(project)

    result = project.run(f"--puma-rescore={before}", model=False)

    result.assert_outcomes(passed=len(project.cell_ids()))
    assert lines_of(project.folder) == lines_of(before)
    assert measures_of(project.folder) == measures_of(before)
    assert project.record()["rescored_from"] == before.name


def test_plain_text_prompts_are_those_of_the_run(project: Project) -> None:
    data_of(project)
    project.write(test_benchmarks=TASKS)
    project.run(f"--puma-model=base={project.model},chat=off", model=False).assert_outcomes(passed=5)
    before = earlier(project)
    project.run(f"--puma-rescore={before}", model=False).assert_outcomes(passed=5)
    assert lines_of(project.folder) == lines_of(before)


def test_a_rescored_run_can_be_rescored(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run(model=False).assert_outcomes(passed=1)
    first = earlier(alone)
    alone.run(f"--puma-rescore={first}", model=False).assert_outcomes(passed=1)
    second = earlier(alone)
    alone.run(f"--puma-rescore={second / 'run.json'}", model=False).assert_outcomes(passed=1)
    assert lines_of(alone.folder) == lines_of(first)


def test_the_run_is_named_by_its_folder_or_is_the_last_one(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE)
    scripted.run(model=False).assert_outcomes(passed=1)
    name = scripted.folder.name
    for argument in (name, "last"):
        result = scripted.run(f"--puma-rescore={argument}", model=False)
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(
            [
                "puma: rescored from the run *: 1 of its 1 cells; no model is loaded",
                "rescored from: the answers of the run *",
            ]
        )
    runs = sorted((scripted.pytester.path / ".puma" / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    records = [json.loads((run / "run.json").read_text(encoding="utf-8")) for run in runs]
    assert [record["rescored_from"] for record in records] == [None, name, runs[1].name]


def test_no_model_is_opened_and_llama_cpp_is_not_imported(project: Project) -> None:
    weights = project.pytester.path / "gone.gguf"
    shutil.copy(project.model, weights)
    project.write(test_triage=TRIAGE.replace("accuracy >= 0.1", "accuracy >= 0"))
    project.run(f"--puma-model={weights}", model=False).assert_outcomes(passed=1)
    weights.unlink()
    project.write(conftest=NO_ENGINE)

    result = project.pytester.runpytest_subprocess("--puma-rescore=last", *(["-n2"] if project.workers else []))

    result.assert_outcomes(passed=1)
    assert result.ret == 0


def test_metrics_parsers_and_gates_are_those_of_today(scripted: Project) -> None:
    scripted.write(test_triage=OWN.format(changes=""))
    scripted.run(model=False).assert_outcomes(passed=1)
    before = earlier(scripted)
    scripted.write(test_triage=OWN.format(changes=CHANGES), conftest=NO_MODEL)
    gates = ("--puma-gate=short >= 0.5", "--puma-gate=accuracy >= 0.9")

    result = scripted.run(f"--puma-rescore={before}", *gates, model=False)

    result.assert_outcomes(failed=1)
    (outcome,) = scripted.record()["outcomes"]
    assert outcome["measures"]["short"]["value"] == 1.0
    assert {line["answer"] for line in scripted.predictions()} == {"Critical"}
    assert {each["gate"]["metric"]: each["status"] for each in outcome["verdicts"]} == {
        "accuracy": "FAIL",
        "short": "PASS",
    }


def test_timed_gates_are_not_run(scripted: Project) -> None:
    scripted.write(test_triage=TIMED)
    scripted.run(model=False).assert_outcomes(failed=1)
    before = earlier(scripted)
    result = scripted.run(f"--puma-rescore={before}", model=False)
    result.assert_outcomes(passed=1)
    (outcome,) = scripted.record()["outcomes"]
    reason = f"latency_mean is that of the run {before.name}: nothing is timed when its answers are read"
    assert [(each["status"], each["reason"]) for each in outcome["verdicts"][1:]] == [("NOT RUN", reason)]
    assert "latency_mean" not in outcome["measures"]
    assert outcome["speed"] == {"prefill_tokens": 0, "prefill_seconds": 0, "decode_tokens": 0, "decode_seconds": 0}


def test_samples_and_strategies_are_those_of_the_run(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE)
    options = ("--puma-samples=11", "--puma-seed=7", "--puma-strategy=few_shot_3,option_scoring")
    scripted.run(*options, "--puma-perturb=case_lower", model=False).assert_outcomes(passed=4)
    before = earlier(scripted)
    scripted.run(f"--puma-rescore={before}", model=False).assert_outcomes(passed=4)
    assert lines_of(scripted.folder) == lines_of(before)


def test_the_command_line_selects_a_part_of_the_run(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE)
    scripted.run("--puma-samples=20", "--puma-strategy=zero_shot,egi", model=False).assert_outcomes(passed=2)
    before = earlier(scripted)
    options = ("--puma-samples=10", "--puma-strategy=egi")
    scripted.run(f"--puma-rescore={before}", *options, model=False).assert_outcomes(passed=1)
    (outcome,) = scripted.record()["outcomes"]
    assert (outcome["strategy"], outcome["samples"]) == ("egi", 10)


def test_cells_that_the_run_does_not_have_are_deselected(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE)
    scripted.run(model=False).assert_outcomes(passed=1)
    before = earlier(scripted)
    scripted.write(
        test_points=TRIAGE.replace("triage_jira", "estimation_tawos").replace("accuracy >= 0.1", "mae <= 99")
    )
    scripted.run(f"--puma-rescore={before}", model=False).assert_outcomes(
        passed=1, deselected=0 if scripted.workers else 1
    )


def test_a_cell_ends_as_early_as_in_the_run(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE)
    options = ("--puma-samples=200", "--puma-stop-early", "--puma-gate=accuracy <= 0.9")
    scripted.run(*options, model=False).assert_outcomes(passed=1)
    before = earlier(scripted)
    assert len(lines_of(before)) < 200
    scripted.run(f"--puma-rescore={before}", *options[1:], model=False).assert_outcomes(passed=1)
    assert lines_of(scripted.folder) == lines_of(before)


def test_more_samples_than_the_run_has_are_an_error(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE)
    scripted.run(model=False).assert_outcomes(passed=1)
    before = earlier(scripted)
    result = scripted.run(f"--puma-rescore={before}", "--puma-samples=10", model=False)
    result.assert_outcomes(errors=1)
    message = (
        f"--puma-rescore {before.name}: sample '*' of triage_jira-zero_shot@puma-tiny is not in the run, which has 8 "
        "answers of this cell from the file data/jira_balanced_200.csv; repeat the options of that run, such as "
        "--puma-data or --puma-stop-early, or run the benchmark again without --puma-rescore (1 more have no answer "
        "either)"
    )
    result.stdout.fnmatch_lines([f"*{message}*"])


def test_a_changed_prompt_is_an_error(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE)
    scripted.run(model=False).assert_outcomes(passed=1)
    before = earlier(scripted)
    folder = scripted.pytester.path / "prompts" / "triage_jira"
    folder.mkdir(parents=True)
    (folder / "zero_shot.jinja").write_text(
        "{% block user %}How urgent is {{ title }}?{% endblock %}", encoding="utf-8"
    )
    result = scripted.run(f"--puma-rescore={before}", model=False)
    result.assert_outcomes(errors=1)
    message = (
        "the prompt of sample '*' of triage_jira-zero_shot@puma-tiny has changed from '*' to '*'; "
        "run the benchmark again without --puma-rescore (7 more have no answer either)"
    )
    result.stdout.fnmatch_lines([f"*{message}*"])


def test_a_metric_that_needs_more_than_the_run_has_is_an_error(scripted: Project) -> None:
    data_of(scripted)
    scripted.write(test_tasks=TASKS.replace('scores = ("exact_match", "bits_per_byte")', 'scores = ("exact_match",)'))
    scripted.run("-k", "capitals", model=False).assert_outcomes(passed=1)
    before = earlier(scripted)
    scripted.write(test_tasks=TASKS)
    result = scripted.run(f"--puma-rescore={before}", "-k", "capitals", model=False)
    result.assert_outcomes(errors=1)
    message = (
        "sample '*' of capitals-zero_shot@puma-tiny makes more requests than in the run (1 there); run the benchmark "
    )
    result.stdout.fnmatch_lines([f"*{message}again without --puma-rescore*"])


def test_answers_of_an_interrupted_run_can_be_rescored(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run(model=False).assert_outcomes(passed=1)
    before = earlier(alone)
    (before / "run.json").unlink()
    alone.run(f"--puma-rescore={before}", model=False).assert_outcomes(passed=1)


def test_a_rescored_run_makes_a_baseline_and_is_compared_with_one(scripted: Project) -> None:
    gates = "--puma-gate=accuracy >= baseline - 0.02"
    scripted.write(test_triage=TRIAGE)
    scripted.run(gates, "--puma-samples=50", model=False).assert_outcomes(passed=1)
    before = earlier(scripted)
    scripted.run(f"--puma-rescore={before}", "--puma-update-baseline", model=False).assert_outcomes(passed=1)
    earlier(scripted)
    result = scripted.run(f"--puma-rescore={before}", gates, "--puma-compare=baseline", "--puma-flips", model=False)
    result.assert_outcomes(passed=1)
    (outcome,) = scripted.record()["outcomes"]
    verdict = outcome["verdicts"][-1]
    assert (verdict["gate"]["other"], verdict["status"]) == ("baseline", "PASS")
    assert "changed since" not in verdict["reason"]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--puma-model=q.gguf", "puma: --puma-rescore and --puma-model: the answers are those of the run; expected *"),
        ("--puma-temperature=1", "puma: --puma-rescore and --puma-temperature: *"),
        ("--puma-determinism=3", "puma: --puma-rescore and --puma-determinism: *"),
        ("--puma-plan", "puma: --puma-rescore and --puma-plan: *"),
    ],
)
def test_options_about_answers_to_come_are_refused(alone: Project, option: str, message: str) -> None:
    alone.write(test_triage=TRIAGE)
    result = alone.run("--puma-rescore=last", option, model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])


@pytest.mark.parametrize("argument", ["last", "20260101T000000-1", "benchmarks"])
def test_a_run_that_does_not_exist_is_a_usage_error(scripted: Project, argument: str) -> None:
    result = scripted.run(f"--puma-rescore={argument}", model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    message = (
        f"ERROR: puma: --puma-rescore '{argument}': found no predictions.jsonl of this run; "
        "expected 'last', the name of a run, or its folder; *runs has no run: run without --puma-rescore first"
    )
    result.stderr.fnmatch_lines([message])
