"""docs/reference/ against the code: its tables name what there is, and its examples run."""

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from pytest_puma import hooks
from pytest_puma.core import Change, Flip, Measure, ModelOptions, Power, Scenario
from pytest_puma.metrics import metric_names
from pytest_puma.perturbations import ALL as PERTURBATIONS
from pytest_puma.planning.reports import FORMATS, JUNIT
from pytest_puma.planning.settings import DEFAULT_STRATEGIES, RunOptions
from pytest_puma.report.csv import COLUMNS
from pytest_puma.run.cell import DEFAULT_SAMPLES, DEFAULT_SEED
from pytest_puma.scenarios import BUILTIN
from pytest_puma.session.options import INI, OPTIONS
from pytest_puma.strategies import ALL, parse_strategy
from pytest_puma.task_types import KINDS
from tests.integration.conftest import Project

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "data" / "README.md", *ROOT.glob("docs/**/*.md")])
REFERENCE = "\n".join(page.read_text(encoding="utf-8") for page in sorted(ROOT.glob("docs/reference/*.md")))

BENCHMARK = """
import pytest
from tickets import TicketsScenario

@pytest.mark.puma({scenario}, strategies=[{strategy!r}], samples=4)
def test_teams(puma): pass
"""


def _page(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _blocks(language: str) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", REFERENCE, re.MULTILINE | re.DOTALL)


def _example(language: str, *, name: str, holding: str = "") -> str:
    """The one block that says in its first line which file it is, and holds a text."""
    named = [block for block in _blocks(language) if block.partition("\n")[0].strip("{}# ") == name]
    (block,) = [block for block in named if holding in block]
    return block


def _table(heading: str) -> list[list[str]]:
    """The rows of the table whose first column has this heading."""
    lines = iter(REFERENCE.splitlines())
    next(line for line in lines if line.startswith(f"| {heading} |"))
    next(lines)
    rows: list[list[str]] = []
    for line in lines:
        if not line.startswith("|"):
            return rows
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def _code(*cells: str) -> list[str]:
    """What stands in backticks."""
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


@pytest.fixture
def tickets(pytester: pytest.Pytester, gguf: Path) -> Project:
    """A project with the scenario of the reference, its rows and its template."""
    pytester.makeini("[pytest]")
    pytester.makepyfile(tickets=_example("python", name="tickets.py"))
    (rows,) = _blocks("csv")
    (pytester.path / "tickets.csv").write_text(rows, encoding="utf-8")
    folder = pytester.mkdir("prompts") / "tickets"
    folder.mkdir()
    template = _example("jinja", name="prompts/tickets/zero_shot.jinja")
    (folder / "zero_shot.jinja").write_text(template, encoding="utf-8")
    return Project(pytester, gguf, workers=0)


def _hook(project: Project, name: str, *, scenario: str = "TicketsScenario", strategy: str = "zero_shot") -> None:
    """The example of a hook, and a benchmark that it is needed for."""
    project.write(
        conftest=_example("python", name="conftest.py", holding=f"def {name}("),
        test_teams=BENCHMARK.format(scenario=scenario, strategy=strategy),
    )


# -- names -----------------------------------------------------------------------------------------


def test_the_table_of_options_has_each_option_beside_its_ini_key() -> None:
    rows = [(_code(option), _code(key)) for option, key, *_ in _table("command line")]
    said = [(option[0].split()[0] if option else None, key[0] if key else None) for option, key in rows]
    assert {option for option, _ in said if option} == set(OPTIONS)
    assert {key for _, key in said if key} == set(INI)
    for option, key in said:
        if option and key:
            assert key.rstrip("s") == option.lstrip("-").replace("-", "_").rstrip("s")


@pytest.mark.parametrize("page", PAGES, ids=_page)
def test_a_page_names_no_option_and_no_ini_key_that_does_not_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"--puma-[\w-]*\w", text)) <= set(OPTIONS)
    assert set(re.findall(r"(?<![\w-])puma_\w+", text)) <= set(INI)


def test_the_defaults_in_the_table_are_those_of_the_code() -> None:
    defaults = {name: row[3] for row in _table("command line") for name in _code(row[1])}
    assert defaults["puma_samples"] == str(DEFAULT_SAMPLES)
    assert defaults["puma_seed"] == str(DEFAULT_SEED)


def test_the_table_of_model_options_is_complete() -> None:
    assert [name for row in _table("key") for name in _code(row[0])] == [field.name for field in fields(ModelOptions)]


def test_the_section_on_the_marker_names_all_that_it_takes_and_its_default_strategies() -> None:
    section = REFERENCE.partition("\n## The marker\n")[2].partition("\n## ")[0]
    named = {name.partition("=")[0] for name in _code(section.rpartition("```")[2])}
    assert named >= {field.name for field in fields(RunOptions)} | {"gates"}
    assert f"(default: {', '.join(DEFAULT_STRATEGIES)})" in " ".join(section.split())


def test_the_table_of_strategies_has_the_twelve_with_their_defaults() -> None:
    rows = {name: row for row in _table("strategy") for name in _code(row[0])}
    assert tuple(rows) == ALL
    for name, (*_, tokens, temperature) in rows.items():
        if name != "option_scoring":
            strategy = parse_strategy(name)
            assert (int(tokens), float(temperature)) == (strategy.max_tokens, strategy.temperature), name


def test_the_table_of_perturbations_has_each() -> None:
    assert sorted(name for row in _table("perturbation") for name in _code(row[0])) == sorted(PERTURBATIONS)


def test_the_table_of_scenario_members_is_complete() -> None:
    said = {name.partition("(")[0] for row in _table("member") for name in _code(row[0])}
    own = {name for name in vars(Scenario) if not name.startswith("_")}
    assert said == own | {"name", "task_type"}


def test_the_table_of_metrics_has_every_family_and_no_other() -> None:
    families = {
        re.sub(r"(?<=mae_by_bin\.).+", "<bin>", re.sub(r"(?<=per_class\.).+(?=\.)", "<label>", name))
        for scenario in BUILTIN.values()
        for name in metric_names(scenario())
    }
    assert {name for row in _table("metric") for name in _code(row[0])} - {*BUILTIN, "metrics()"} == families


def test_the_table_of_references_has_every_program() -> None:
    assert {name for row in _table("name") for name in _code(row[0])} == {
        name for kind in KINDS.values() for name in kind.naive_baselines
    }


def test_the_table_of_reports_has_every_format_and_the_columns_of_the_sheet() -> None:
    rows = {row[0].strip("`"): row[1] for row in _table("`--puma-report`")}
    assert set(rows) == {*(f"{name}:PATH" for name in FORMATS), JUNIT}
    assert tuple(_code(rows["csv:PATH"])) == COLUMNS


def test_each_hook_has_an_example_and_no_other_is_named() -> None:
    names = {name for name, _ in inspect.getmembers(hooks, inspect.isfunction) if name.startswith("pytest_puma_")}
    assert set(re.findall(r"\bpytest_puma_\w+", REFERENCE)) == names
    for name in names:
        assert _example("python", name="conftest.py", holding=f"def {name}(")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=_page)
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        found = page.parent / path if path else page
        assert found.exists(), target
        headings = re.findall(r"^#+ (.+)$", found.read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
        assert not anchor or anchor in {heading.lower().replace(" ", "-") for heading in headings}, target


# -- examples --------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", _blocks("python"), ids=lambda block: block.partition("\n")[0].strip("# "))
def test_python_in_the_reference_compiles(block: str) -> None:
    assert compile(block, "docs/reference", "exec")


def test_the_example_of_testing_a_scenario_passes_without_a_model(tickets: Project) -> None:
    source = _example("python", name="test_tickets.py")
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
    tickets.write(one_label=_example("python", name="one_label.py"))
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


def test_the_example_of_an_own_metric_is_measured_and_gated(tickets: Project) -> None:
    tickets.write(missed=_example("python", name="missed.py"))
    tickets.write(conftest=_example("python", name="conftest.py", holding="def pytest_puma_backend"))
    benchmark = BENCHMARK.format(scenario="MissedTickets", strategy="zero_shot").replace(
        "tickets import Tick", "missed import Tick"
    )
    tickets.write(test_teams=benchmark.replace("import TicketsScenario", "import MissedTickets"))
    gate = "--puma-gate=missed_tickets: billing_missed <= 0.1"
    tickets.run(f"--puma-model=scripted={tickets.model}", gate, model=False).assert_outcomes(passed=1)
    assert tickets.record()["outcomes"][0]["measures"]["billing_missed"]["value"] == 0


def test_the_example_of_a_perturbation_hook_makes_its_name_known(tickets: Project) -> None:
    _hook(tickets, "pytest_puma_perturbations")
    tickets.run("--puma-perturb=shouted").assert_outcomes(passed=2)
    (found,) = tickets.record()["robustness"]
    (row,) = (row for row in _table("`run.json`") if "robustness" in row[0])
    shift = found["shifts"][0]
    assert set(_code(row[1])) == {*found, *shift, *shift["answer_changes"]} | {"axis", "old", "new"}


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
    tickets.write(conftest=_example("python", name="conftest.py", holding="def pytest_puma_backend"))
    tickets.write(test_teams=BENCHMARK.format(scenario="TicketsScenario", strategy="zero_shot"))
    tickets.run(f"--puma-model=scripted={tickets.model}", model=False).assert_outcomes(passed=1)
    capsys.readouterr()
    source: dict[str, Any] = {}
    exec(_example("python", name="look.py"), source)  # noqa: S102 - the page's own
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
    exec(_example("python", name="differ.py"), source)  # noqa: S102 - the page's own
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
    run_keys, outcome_keys = _split(_table("`run.json`"))
    assert run_keys.keys() == record.keys()
    assert outcome_keys.keys() == outcome.keys()
    assert set(run_keys["environment"]) == record["environment"].keys()
    signature = {*outcome["signature"], *outcome["signature"]["data"], *outcome["signature"]["engine"]}
    assert set(outcome_keys["signature"]) == signature
    assert set(outcome_keys["measures"]) == {field.name for field in fields(Measure)}
    (verdict,) = outcome["verdicts"]
    change = {"old", "new", "value", "low", "high", "n", "worse", "better"}
    others = {"baseline", "naive.<name>"}
    power = {field.name for field in fields(Power)} | {"no_regression", "no_drift"}
    assert set(outcome_keys["verdicts"]) == {*verdict, *verdict["gate"], *others, *change, *power}
    assert change < {field.name for field in fields(Change)}
    assert set(outcome_keys["flips"]) == {field.name for field in fields(Flip)}
    lines, _ = _split(_table("line of `predictions.jsonl`"))
    # The fixture takes `seconds` out of the predictions.
    (keys,) = {tuple(prediction) for prediction in tickets.predictions()}
    assert lines.keys() == set(keys)
    assert set(lines["usage"]) - {"seconds"} == tickets.predictions()[0]["usage"].keys()


def _split(rows: list[list[str]]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The keys of the file and those of the list in it, whose rows begin with a dash; each with the code beside it."""
    outer: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for keys, said in rows:
        (inner if keys.startswith("-") else outer).update(dict.fromkeys(_code(keys), _code(said)))
    return outer, inner
