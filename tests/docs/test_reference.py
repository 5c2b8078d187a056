"""The tables and links of docs/reference/ against the code."""

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

from pytest_puma import ChoiceScenario, CompletionScenario, FileScenario, hooks
from pytest_puma.core import CellId, Execution, Judgement, ModelOptions, Outcome, Scenario, Tables
from pytest_puma.core.scenario import OptionalMembers
from pytest_puma.evaluation.cell import DEFAULT_SAMPLES, DEFAULT_SEED
from pytest_puma.metrics import metric_names
from pytest_puma.perturbations import ALL as PERTURBATIONS
from pytest_puma.planning.reports import FORMATS, JUNIT
from pytest_puma.planning.settings import RunOptions
from pytest_puma.report.export import COLUMNS
from pytest_puma.scenarios import BUILTIN
from pytest_puma.scenarios.composed import ComposedScenario
from pytest_puma.session.settings.options import INI, OPTIONS
from pytest_puma.strategies import ALL, parse_strategy
from pytest_puma.task_types import KINDS
from tests.docs.reference import PAGES, REFERENCE, ROOT, code_blocks, names_in, page_name, table

#: Methods of composed scenarios that a user neither calls nor overrides.
INTERNAL = (
    *("composes", "task_type", "declares_examples", "on_file", "question_text", "target_text"),
    *("split_path", "split_in_folder", "split_names", "parts", "path"),
)


def _options() -> list[tuple[str | None, str | None, str]]:
    """The option and the ini key of each section of options.md that is about one, and the text of the section."""
    page = (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
    found = []
    for section in re.split(r"\n(?=##)", page):
        heading, _, text = section.partition("\n")
        names = names_in(heading) if heading.startswith("### ") else []
        option = next((name for name in names if name.startswith("--")), None)
        found += [(option, next((name for name in names if name != option), None), text)] if names else []
    return found


def test_each_option_and_each_ini_key_has_a_heading_with_the_other_one_beside_it() -> None:
    assert sorted(option for option, _, _ in _options() if option) == sorted(OPTIONS)
    assert sorted(key for _, key, _ in _options() if key) == sorted(INI)
    for option, key, _ in _options():
        if option and key:
            assert key.rstrip("s") == option.lstrip("-").replace("-", "_").rstrip("s")


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_a_page_names_no_option_and_no_ini_key_that_does_not_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"--puma-[\w-]*\w", text)) <= set(OPTIONS)
    assert set(re.findall(r"(?<![\w-])puma_\w+", text)) <= set(INI)


def test_the_defaults_are_those_of_the_code() -> None:
    texts = {key: text for _, key, text in _options()}
    assert f"Default: {DEFAULT_SAMPLES}.\n" in texts["puma_samples"]
    assert f"Default: {DEFAULT_SEED}.\n" in texts["puma_seed"]


def test_the_table_of_model_options_is_complete() -> None:
    assert [name for row in table("key") for name in names_in(row[0])] == [field.name for field in fields(ModelOptions)]


def test_the_section_on_the_marker_names_all_that_it_takes_and_its_default_strategies() -> None:
    section = REFERENCE.partition("\n## The marker\n")[2].partition("\n## ")[0]
    named = {name.partition("=")[0] for name in names_in(section.rpartition("```")[2])}
    assert named >= {field.name for field in fields(RunOptions)} | {"gates"}
    assert f"(default: {', '.join(KINDS['classification'].strategies)})" in " ".join(section.split())


def test_the_table_of_strategies_has_the_twelve_with_their_defaults() -> None:
    rows = {name: row for row in table("strategy") for name in names_in(row[0])}
    assert tuple(rows) == ALL
    for name, (*_, tokens, temperature) in rows.items():
        if name != "option_scoring":
            strategy = parse_strategy(name)
            assert (int(tokens), float(temperature)) == (strategy.max_tokens, strategy.temperature), name


def test_the_table_of_further_strategies_has_their_defaults() -> None:
    for (name,), (*_, tokens, temperature) in ((names_in(row[0]), row) for row in table("further strategy")):
        strategy = parse_strategy(name)
        assert (int(tokens), float(temperature)) == (strategy.max_tokens, strategy.temperature), name
        assert parse_strategy(name.rpartition("_")[0]).name == name


def test_the_table_of_perturbations_has_each() -> None:
    assert sorted(name for row in table("perturbation") for name in names_in(row[0])) == sorted(PERTURBATIONS)


def test_the_table_of_scenario_members_is_complete() -> None:
    members = {name.partition("(")[0] for row in table("member") for name in names_in(row[0])}
    own = {name for name in vars(Scenario) if not name.startswith("_")}
    assert members == own | {"name", "task_type"}


@pytest.mark.parametrize("scenario", [CompletionScenario, ChoiceScenario])
def test_the_tables_of_composed_scenarios_are_complete(scenario: type[ComposedScenario]) -> None:
    page = (ROOT / "docs" / "reference" / "composed.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE)
    documented = {name.partition("(")[0] for name in names_in(*cells)}
    inherited = {*vars(Scenario), *vars(FileScenario)} - {"scores", "stop", "max_tokens", "context"}
    classes = (*(kind for kind in scenario.__mro__ if issubclass(kind, ComposedScenario)), OptionalMembers)
    names = {name for kind in classes for name in vars(kind)}
    own = {name for name in names - inherited - set(INTERNAL) if not name.startswith("_")}
    assert own <= documented


def test_the_table_of_metrics_has_every_family_and_no_other() -> None:
    families = {
        re.sub(r"(?<=mae_by_bin\.).+", "<bin>", re.sub(r"(?<=per_class\.).+(?=\.)", "<label>", name))
        for scenario in BUILTIN.values()
        for name in metric_names(scenario())
    }
    assert {name for row in table("metric") for name in names_in(row[0])} - {*BUILTIN, "metrics()"} == families


def test_the_table_of_naive_baselines_is_complete() -> None:
    assert {name for row in table("name") for name in names_in(row[0])} == {
        name for kind in KINDS.values() for name in kind.naive_baselines
    }


def test_the_table_of_reports_has_every_format_and_the_columns_of_the_csv() -> None:
    rows = {row[0].strip("`"): row[1] for row in table("`--puma-report`")}
    assert set(rows) == {*(f"{name}:PATH" for name in FORMATS), JUNIT}
    assert tuple(names_in(rows["csv:PATH"])) == COLUMNS


def test_each_hook_has_an_example_and_no_other_is_named() -> None:
    names = {name for name, _ in inspect.getmembers(hooks, inspect.isfunction) if name.startswith("pytest_puma_")}
    assert set(re.findall(r"\bpytest_puma_\w+", REFERENCE)) == names
    assert names
    for name in names:
        blocks = [block for block in code_blocks("python") if f"def {name}(" in block]
        assert blocks, name
        assert all(block.startswith("# conftest.py\n") for block in blocks)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=page_name)
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        result = page.parent / path if path else page
        assert result.exists(), target
        headings = re.findall(r"^#+ (.+)$", result.read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
        assert not anchor or anchor in {heading.lower().replace(" ", "-") for heading in headings}, target


# -- examples --------------------------------------------------------------------------------------


def test_the_table_of_records_has_their_fields() -> None:
    records = {names_in(row[0])[0].removeprefix("puma."): {*names_in(row[1])} for row in table("record")}
    internal = {"shared_prompts", "node_id", "attempt", "cross_cell_gates", "replicates"}
    for name, record in (("name", CellId), ("tables", Tables), ("judgement", Judgement), ("execution", Execution)):
        assert records[name] - {"puma.cell"} == {field.name for field in fields(record)} - internal
    assert records.keys() <= {field.name for field in fields(Outcome)}
