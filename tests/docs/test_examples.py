"""The examples of docs/reference/ run."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Change, Flip, Measure, Model, Power, Prediction
from pytest_puma.models.base import BaseModel
from tests.docs.reference import code_blocks, example, names_in, table
from tests.integration.conftest import Project
from tests.tiny_controls import write_lora, write_vector

BENCHMARK = """
import pytest
from tickets import TicketsScenario

@pytest.mark.puma({scenario}, strategies=[{strategy!r}], samples=4)
def test_teams(puma): pass
"""


@pytest.fixture
def tickets(pytester: pytest.Pytester, gguf: Path) -> Project:
    """A project with the scenario of the reference, its rows and its template."""
    pytester.makeini("[pytest]")
    pytester.makepyfile(tickets=example("python", name="tickets.py"))
    (rows,) = code_blocks("csv")
    (pytester.path / "tickets.csv").write_text(rows, encoding="utf-8")
    folder = pytester.mkdir("prompts") / "tickets"
    folder.mkdir()
    template = example("jinja", name="prompts/tickets/zero_shot.jinja")
    (folder / "zero_shot.jinja").write_text(template, encoding="utf-8")
    return Project(pytester, gguf, workers=0)


def _hook(
    project: Project, name: str, *, scenario: str = "TicketsScenario", strategy: str = "zero_shot", holding: str = ""
) -> None:
    """The example of a hook, and a benchmark that needs it; `holding`: a text in it, where there are several."""
    project.write(
        conftest=example("python", name="conftest.py", holding=holding or f"def {name}("),
        test_teams=BENCHMARK.format(scenario=scenario, strategy=strategy),
    )


# -- names -----------------------------------------------------------------------------------------


def test_the_example_of_testing_a_scenario_passes_without_a_model(tickets: Project) -> None:
    source = example("python", name="test_tickets.py")
    tickets.write(test_tickets=source)
    tickets.run(model=False).assert_outcomes(passed=source.count("\ndef test_"))


def test_the_example_of_a_scenario_hook_makes_its_name_known(tickets: Project) -> None:
    _hook(tickets, "pytest_puma_scenarios", scenario="'tickets'")
    tickets.run("--puma-scenario=tickets").assert_outcomes(passed=1)
    assert {prediction["cell"] for prediction in tickets.predictions()} == {"tickets-zero_shot@tiny"}


def test_the_example_of_a_strategy_hook_asks_three_times(tickets: Project) -> None:
    _hook(tickets, "pytest_puma_strategies", strategy="unanimous")
    tickets.run().assert_outcomes(passed=1)
    assert {len(prediction["raw"]) for prediction in tickets.predictions()} == {3}


def test_the_example_of_a_strategy_gets_nothing_but_labels_from_any_model(tickets: Project) -> None:
    tickets.write(one_label=example("python", name="one_label.py"))
    tickets.write(
        conftest="from one_label import ONE_LABEL\n\ndef pytest_puma_strategies():\n    return [ONE_LABEL]\n",
        test_teams=BENCHMARK.format(scenario="TicketsScenario", strategy="one_label"),
    )
    with (tickets.pytester.path / "tickets.csv").open("a", encoding="utf-8") as stream:
        stream.write("T-5,Hello,access\n")
    tickets.run("--puma-samples=5").assert_outcomes(passed=1)
    answers = {prediction["sample_id"]: prediction["answer"] for prediction in tickets.predictions()}
    assert answers.pop("T-5") is None
    assert set(answers.values()) <= {"billing", "access"}
    assert tickets.record()["outcomes"][0]["failures"] == {"one_word": 1}


def test_the_example_of_own_variants_runs_them_beside_the_plain_model(tickets: Project) -> None:
    _hook(tickets, "pytest_puma_variants", holding="ControlVector.load(")
    base = BaseModel.of(Model(name="tiny", path=tickets.model))
    for seed, name in enumerate(("polite", "verbose")):
        write_vector(tickets.pytester.path / f"{name}.gguf", (1,), width=base.width, seed=seed)
    name = "blk.0.attn_output.weight"
    inputs, outputs = base.shapes[name]
    write_lora(tickets.pytester.path / "tone.gguf", {name: (inputs, outputs)}, architecture=base.architecture)
    tickets.run().assert_outcomes(passed=3)
    assert {line["cell"].partition("@")[2] for line in tickets.predictions()} == {
        *("tiny", "tiny+mix-0.5", "tiny+mix-1")
    }


def test_the_example_of_an_own_function_changes_hidden_states(tickets: Project) -> None:
    _hook(tickets, "pytest_puma_variants", holding="def clipped(")
    tickets.run().assert_outcomes(passed=2)
    assert {line["cell"].partition("@")[2] for line in tickets.predictions()} == {"tiny", "tiny+clipped"}


def test_the_example_of_an_own_metric_is_measured_and_gated(tickets: Project) -> None:
    tickets.write(missed=example("python", name="missed.py"))
    tickets.write(conftest=example("python", name="conftest.py", holding="def pytest_puma_backend"))
    benchmark = BENCHMARK.format(scenario="MissedTickets", strategy="zero_shot").replace(
        "tickets import Tick", "missed import Tick"
    )
    tickets.write(test_teams=benchmark.replace("import TicketsScenario", "import MissedTickets"))
    gate = "--puma-gate=missed_tickets: billing_missed <= 0.1"
    tickets.run(f"--puma-model=scripted={tickets.model}", gate, model=False).assert_outcomes(passed=1)
    assert tickets.record()["outcomes"][0]["measures"]["billing_missed"]["value"] == 0


def test_the_example_of_a_metric_hook_is_measured_and_gated(tickets: Project) -> None:
    _hook(tickets, "pytest_puma_metrics")
    tickets.run("--puma-gate=reply_length <= 1000").assert_outcomes(passed=1)
    measure = tickets.record()["outcomes"][0]["measures"]["reply_length"]
    assert (measure["better"], measure["unit"]) == ("low", "characters")


def test_the_example_of_a_judge_scores_the_answers(tickets: Project) -> None:
    judge = example("python", name="conftest.py", holding="def pytest_puma_responder(")
    polite = example("python", name="polite.py", holding="def is_polite(")
    metrics = "from polite import is_polite\n\ndef pytest_puma_metrics():\n    return [is_polite]\n"
    benchmark = BENCHMARK.format(scenario="TicketsScenario", strategy="zero_shot")
    tickets.write(conftest=f"{judge}\n\n{metrics}", polite=polite, test_teams=benchmark)
    tickets.run("--puma-gate=is_polite <= 0.5").assert_outcomes(passed=1)
    assert tickets.record()["outcomes"][0]["measures"]["is_polite"]["value"] == 0


def test_the_example_of_a_perturbation_hook_makes_its_name_known(tickets: Project) -> None:
    _hook(tickets, "pytest_puma_perturbations")
    tickets.run("--puma-perturb=shouted").assert_outcomes(passed=2)
    (result,) = tickets.record()["robustness"]
    (row,) = (row for row in table("`run.json`") if "robustness" in row[0])
    shift = result["shifts"][0]
    assert set(names_in(row[1])) == {*result, *shift, *shift["answer_changes"]} | {"axis", "old", "new"}


def test_the_example_of_a_backend_hook_answers_for_its_model_alone(tickets: Project) -> None:
    _hook(tickets, "pytest_puma_backend")
    tickets.run(f"--puma-model=scripted={tickets.model}").assert_outcomes(passed=2)
    engines = {outcome["model"]: outcome["signature"]["engine"] for outcome in tickets.record()["outcomes"]}
    assert "weights_sha256" in engines["tiny"]
    assert "weights_sha256" not in engines["scripted"]
    scripted = [each["answer"] for each in tickets.predictions() if each["cell"].endswith("@scripted")]
    assert scripted == ["billing", "access", "billing", "billing"]


def test_the_example_of_loading_a_run_shows_its_wrong_answers(
    tickets: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    tickets.write(conftest=example("python", name="conftest.py", holding="def pytest_puma_backend"))
    tickets.write(test_teams=BENCHMARK.format(scenario="TicketsScenario", strategy="zero_shot"))
    tickets.run(f"--puma-model=scripted={tickets.model}", model=False).assert_outcomes(passed=1)
    capsys.readouterr()
    source: dict[str, Any] = {}
    exec(example("python", name="look.py"), source)  # noqa: S102 - the page's own
    measures = source["look_at"](tickets.pytester.path)
    assert measures.loc["accuracy", "tickets-zero_shot@scripted"] == 0.75
    shown = capsys.readouterr().out
    assert "T-4" in shown
    assert "<ticket>The second factor never arrives.</ticket>" in shown


def test_the_example_of_two_models_shows_the_samples_on_which_they_disagree(
    tickets: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    tickets.write(
        conftest="""
        from pytest_puma.testing import ScriptedBackend

        def pytest_puma_backend(model):
            return ScriptedBackend({"password": "access"} if model.name == "a" else {}, default="billing")
        """
    )
    tickets.write(test_teams=BENCHMARK.format(scenario="TicketsScenario", strategy="zero_shot"))
    models = [f"--puma-model={name}={tickets.model}" for name in "ab"]
    tickets.run(*models, model=False).assert_outcomes(passed=2)
    capsys.readouterr()
    source: dict[str, Any] = {}
    exec(example("python", name="differ.py"), source)  # noqa: S102 - the page's own
    rows = source["differ"]("zero_shot", "a", "b", tickets.pytester.path)
    assert list(rows[["sample_id", "model", "raw"]].itertuples(index=False, name=None)) == [
        ("T-2", "a", "access"),
        ("T-2", "b", "billing"),
    ]
    assert capsys.readouterr().out.count("T-2") == 2


def test_the_tables_of_the_run_folder_have_every_key_of_a_real_one(tickets: Project) -> None:
    gate = "accuracy >= 0"
    tickets.write(test_teams=BENCHMARK.format(scenario="TicketsScenario", strategy="zero_shot"))
    tickets.run(f"--puma-gate={gate}").assert_outcomes(passed=1)
    record = tickets.record()
    (outcome,) = record["outcomes"]
    run_keys, outcome_keys = _split(table("`run.json`"))
    # A run of plain models has no variants.
    assert run_keys.keys() == {*record.keys(), "variants", "fronts", "best", "weights"}
    assert outcome_keys.keys() == {*outcome.keys(), "peak_memory"}
    assert set(run_keys["environment"]) == record["environment"].keys()
    signature = {*outcome["signature"], *outcome["signature"]["data"], *outcome["signature"]["engine"]}
    where_set = {"split", "share", "main_gpu", "cpu_moe", "rpc", "ubatch"}
    assert set(outcome_keys["signature"]) == signature | where_set
    assert set(outcome_keys["measures"]) == {field.name for field in fields(Measure)}
    (verdict,) = outcome["verdicts"]
    change = {"old", "new", "value", "low", "high", "n", "worse", "better"}
    others = {"baseline", "naive.<name>"}
    power = {field.name for field in fields(Power)} | {"no_regression", "no_drift"}
    assert set(outcome_keys["verdicts"]) == {*verdict, *verdict["gate"], *others, *change, *power}
    assert change < {field.name for field in fields(Change)}
    assert set(outcome_keys["flips"]) == {field.name for field in fields(Flip)}
    lines, _ = _split(table("line of `predictions.jsonl`"))
    names = {"kind", "cell", "node_id", "attempt"} | {field.name for field in fields(Prediction)}
    assert lines.keys() == names
    turns, _ = _split(table("turn of a transcript"))
    read = {"prompt", "text", "finish", "usage"}
    assert {key for prediction in tickets.predictions() for turn in prediction["turns"] for key in turn} == read
    assert turns.keys() == read | {"continuations", "likelihoods", "logprobs", "cited", "metric"}


def _split(rows: list[list[str]]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The keys of the file and those of the list in it, whose rows begin with a dash; each with the code beside it."""
    outer: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for keys, result in rows:
        (inner if keys.startswith("-") else outer).update(dict.fromkeys(names_in(keys), names_in(result)))
    return outer, inner
