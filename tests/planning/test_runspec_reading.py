"""The parts of a spec that are read, and the name under which it runs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from pytest_puma.core import Gate
from pytest_puma.perturbations import ALL as PERTURBATIONS
from pytest_puma.planning.registry import Registry
from pytest_puma.planning.settings import BenchmarkSpec, RunOptions, Settings
from pytest_puma.scenarios import EstimationTawosScenario, TriageJiraScenario
from pytest_puma.strategies import ALL, Strategy
from pytest_puma.strategies.conversations import direct
from tests.planning.specs import MINIMAL, PUMA, read, refusal, the_one

DOCS = Path(__file__).parents[2] / "docs" / "run-specs.md"


def test_a_spec_of_puma_is_read_unchanged(folder: Path) -> None:
    ((name, request),) = read(folder, PUMA).items()

    assert name == "triage_examples_3b"
    assert type(request.scenario) is TriageJiraScenario
    assert request == BenchmarkSpec(
        scenario=request.scenario,
        options=RunOptions(
            strategies=("zero_shot", "zero_shot_cot", "few_shot_3", "cot_few_shot"),
            samples=50,
            repeats=1,
            seed=42,
            max_tokens=256,
            temperature=0.0,
            logprobs=True,
        ),
        models=("qwen2.5:3b", "mistral:7b"),
        metrics=("f1_macro", "parse_failure_rate"),
        description="Zero-shot against three examples, with and without a chain of thought",
    )


def test_what_a_spec_leaves_out_stays_open(folder: Path) -> None:
    ((name, request),) = read(folder, MINIMAL).items()

    assert name == "triage"
    assert request == BenchmarkSpec(scenario=request.scenario, options=RunOptions(strategies=("zero_shot",)))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("sample_size: 7", RunOptions(samples=7)),
        ("repeat: 1", RunOptions(repeats=1)),
        ("repeat: 5", RunOptions(repeats=5)),
        ("retries: 0", RunOptions(retries=0)),
        ("retries: 2", RunOptions(retries=2)),
        ("judge: q.gguf", RunOptions(judge=("q.gguf",))),
        (
            "judge: [a=q.gguf, 'server:far=http://x/v1,model=m']",
            RunOptions(judge=("a=q.gguf", "server:far=http://x/v1,model=m")),
        ),
        ("subjects: [law, med*]", RunOptions(subjects=("law", "med*"))),
        ("subjects: law", RunOptions(subjects=("law",))),
        ("inference: {seed: 0}", RunOptions(seed=0)),
        ("inference: {temperature: 1}", RunOptions(temperature=1)),
        ("inference: {temperature: 0.7, max_tokens: 1}", RunOptions(temperature=0.7, max_tokens=1)),
        ("inference: {logprobs: false}", RunOptions(logprobs=False)),
        ("inference.seed: 7", RunOptions(seed=7)),
        ("inference: {}\ninference.seed: 7\nsample_size: null", RunOptions(seed=7)),
    ],
)
def test_numbers_and_flags_become_options(folder: Path, text: str, options: RunOptions) -> None:
    assert the_one(folder, MINIMAL + text).options == replace(options, strategies=("zero_shot",))


def test_gates_are_read_in_their_order(folder: Path) -> None:
    spec = MINIMAL + "gates:\n  - f1_macro >= 0.45\n  - '*@qwen*: per_class.Critical.recall > 0.6'\n"

    assert the_one(folder, spec).gates == (
        Gate(metric="f1_macro", op=">=", limit=0.45),
        Gate(metric="per_class.Critical.recall", op=">", limit=0.6, scope="*@qwen*"),
    )


def test_variants_are_patterns(folder: Path) -> None:
    assert the_one(folder, MINIMAL + "variants: ['polite*', plain]").variants == ("polite*", "plain")


def test_a_lone_value_stands_for_a_list_of_one(folder: Path) -> None:
    request = the_one(
        folder, MINIMAL + "models: qwen2.5:3b\nmetrics: accuracy\ngates: accuracy > 0.5\nperturbations: case_upper"
    )

    assert request.models == ("qwen2.5:3b",)
    assert request.metrics == ("accuracy",)
    assert request.gates == (Gate(metric="accuracy", op=">", limit=0.5),)
    assert request.options.perturb == ("case_upper",)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[none, typos_5pct]", ("typos_5pct",)),
        ("[Typos-20pct, truncate, typos_20pct]", ("typos_20pct", "truncate_50pct")),
        ("all", PERTURBATIONS),
        ("[none]", ()),
        ("none", ()),
        ("[]", None),
        ("null", None),
    ],
)
def test_perturbations_are_added_to_the_samples_as_they_are(
    folder: Path, text: str, names: tuple[str, ...] | None
) -> None:
    assert the_one(folder, f"{MINIMAL}perturbations: {text}").options.perturb == names


@pytest.mark.parametrize(
    ("strategy", "cot", "names"),
    [
        ("zero-shot", "null", ("zero_shot",)),
        ("[Zero-Shot, few_shot_5]", "false", ("zero_shot", "few_shot_5")),
        ("[few_shot, few-shot-3]", "[]", ("few_shot_3",)),
        ("all", "false", ALL),
        ("zero_shot", "true", ("zero_shot_cot",)),
        ("few_shot", "true", ("cot_few_shot",)),
        ("few_shot_3", "true", ("cot_few_shot",)),
        ("few_shot_5", "true", ("cot_few_shot_5",)),
        ("one_shot", "true", ("cot_few_shot_1",)),
        ("zero_shot_cot", "true", ("zero_shot_cot",)),
        ("cot_few_shot", "true", ("cot_few_shot",)),
        ("cot_few_shot_8", "true", ("cot_few_shot_8",)),
        ("self_consistency", "true", ("self_consistency_5",)),
        ("rcoif", "[false]", ("rcoif",)),
        ("[zero_shot, one_shot]", "[true, false]", ("zero_shot_cot", "zero_shot", "cot_few_shot_1", "one_shot")),
        ("[zero_shot, zero_shot_cot]", "[false, true]", ("zero_shot", "zero_shot_cot")),
    ],
)
def test_cot_asks_for_the_chain_of_thought_form(folder: Path, strategy: str, cot: str, names: tuple[str, ...]) -> None:
    spec = f"scenario: triage_jira\nadaptation:\n  strategy: {strategy}\n  cot: {cot}\n"

    assert the_one(folder, spec).options.strategies == names


@pytest.mark.parametrize(
    "text",
    [
        *("inference: {top_logprobs: 0}", "inference: {top_logprobs: null}"),
        *("inference: {format: null}", "inference: {format: ''}", "inference: {format: text}"),
        *("perturbations: null", "perturbations: []"),
        *("sustainability: false", "sustainability: null", "sustainability: {}", "sustainability: {codecarbon: false}"),
        *("repeat: null", "retries: null", "judge: []", "subjects: []"),
        *("profile_required: false", "profile_required: null", "profile_required: ''"),
        *("models: null", "models: []", "metrics: []", "gates: []", "id: null", "description: ''", "inference: null"),
    ],
)
def test_a_value_that_asks_for_nothing_changes_nothing(folder: Path, text: str) -> None:
    request = the_one(folder, MINIMAL + text)

    assert request == replace(the_one(folder, MINIMAL), scenario=request.scenario)


@pytest.mark.parametrize(
    ("spelled", "name"),
    [("triage", "triage"), ("triage-v2.1", "triage_v2_1"), ("'3B: (first try)'", "3B_first_try"), ("größe", "größe")],
)
def test_an_id_becomes_the_end_of_a_test_name(folder: Path, spelled: str, name: str) -> None:
    assert list(read(folder, f"{MINIMAL}id: {spelled}")) == [name]


@pytest.mark.parametrize(
    ("file", "name"), [("night.yaml", "night"), ("night.puma.yml", "night"), ("qwen2.5.yaml", "qwen2_5")]
)
def test_without_an_id_the_file_names_the_test(folder: Path, file: str, name: str) -> None:
    assert list(read(folder, MINIMAL, name=file)) == [name]


def test_documents_and_lists_hold_several_specs(folder: Path) -> None:
    listed = """\
- {id: a, scenario: estimation_tawos, adaptation: {strategy: egi}}
- {scenario: triage_jira, adaptation: {strategy: egi}}
"""
    requests = read(folder, f"{listed}---\n{MINIMAL}")

    assert {name: type(request.scenario) for name, request in requests.items()} == {
        "a": EstimationTawosScenario,
        "triage_2": TriageJiraScenario,
        "triage_3": TriageJiraScenario,
    }


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ("id: a-b", "id: a_b", "line 9: the id 'a_b' makes the test name of a spec above; expected one of its own"),
        ("id: triage_2", "", "line 6: the id 'triage_2' makes the test name of a spec above; "),
    ],
)
def test_two_specs_of_one_name_are_refused(folder: Path, first: str, second: str, sentence: str) -> None:
    assert refusal(folder, f"{MINIMAL}{first}\n---\n{MINIMAL}{second}\n").startswith(sentence)


def test_own_scenarios_and_strategies_are_known_by_name(folder: Path) -> None:
    class Urgency(TriageJiraScenario):
        name = "urgency"

    asking = Strategy(name="ask_nicely", converse=direct, templates=("ask_nicely",))
    registry = Registry(scenarios={"urgency": Urgency}, strategies={"ask_nicely": asking})
    spec = "scenario: urgency\nadaptation: {strategy: ask-nicely}\n"

    (request,) = read(folder, spec, settings=Settings(registry=registry)).values()
    assert type(request.scenario) is Urgency
    assert request.options.strategies == ("ask_nicely",)
    sentence = refusal(folder, f"{spec}adaptation.cot: true", settings=Settings(registry=registry))
    assert sentence.startswith("line 3: adaptation.cot: ask_nicely has no chain-of-thought form; ")


def test_each_example_of_the_docs_is_a_spec(folder: Path) -> None:
    examples = re.findall(r"```yaml\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)

    assert examples
    assert all(read(folder, example) for example in examples)


def test_the_docs_name_every_key(folder: Path) -> None:
    keys = refusal(folder, f"{MINIMAL}unknown: 1").partition("there are: ")[2].split(", ")

    assert len(keys) > 20
    assert [key for key in keys if f"`{key}`" not in DOCS.read_text("utf-8")] == []


def test_the_spec_of_puma_says_every_key_of_puma(folder: Path) -> None:
    keys = refusal(folder, f"{MINIMAL}unknown: 1").partition("there are: ")[2].split(", ")
    text = yaml.safe_load(PUMA)
    paths = {f"{key}.{inner}" for key, value in text.items() if isinstance(value, dict) for inner in value} | set(text)

    assert set(keys) - paths == {"gates", "judge", "retries", "subjects", "variants"}
