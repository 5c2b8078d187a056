from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Gate, SettingsError
from pytest_puma.matrix import Choices, Registry, Request, Settings
from pytest_puma.runspec import read_specs
from pytest_puma.scenarios import EstimationTawosScenario, TriageJiraScenario
from pytest_puma.strategies import ALL, Strategy
from pytest_puma.strategies.direct import direct

# As a user of PUMA has it: every key of its format, and nothing of ours.
PUMA = """\
# Does a worked example help a 3B model to sort issues by priority?
id: triage_examples_3b
description: "Zero-shot against three examples, with and without a chain of thought"
scenario: triage_jira
sample_size: 50
models: [qwen2.5:3b, "mistral:7b"]
adaptation:
  strategy: [zero-shot, few-shot-3]
  cot: [false, true]
inference:
  temperature: 0.0
  seed: 42
  max_tokens: 256
  logprobs: true
  top_logprobs: 0
  format: null
perturbations: []
metrics: [f1_macro, parse_failure_rate]
sustainability:
  codecarbon: false
  country_iso: ESP
repeat: 1
profile_required: null
"""
LEAST = "scenario: triage_jira\nadaptation:\n  strategy: zero_shot\n"  # three lines
DOCS = Path(__file__).parent.parent / "docs" / "run-specs.md"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("specs")


def read(
    folder: Path, spec: str | bytes, *, name: str = "triage.puma.yaml", settings: Settings | None = None
) -> dict[str, Request]:
    path = folder / name
    path.write_bytes(spec if isinstance(spec, bytes) else spec.encode())
    return read_specs(path, settings or Settings())


def refusal(folder: Path, spec: str | bytes, *, settings: Settings | None = None) -> str:
    """The sentence behind the file's name."""
    with pytest.raises(SettingsError) as caught:
        read(folder, spec, settings=settings)
    start = f"{folder / 'triage.puma.yaml'}, "
    assert str(caught.value).startswith(start)
    return str(caught.value).removeprefix(start)


def the_one(folder: Path, spec: str) -> Request:
    (request,) = read(folder, spec).values()
    return request


def test_a_spec_of_puma_is_read_unchanged(folder: Path) -> None:
    ((name, request),) = read(folder, PUMA).items()

    assert name == "triage_examples_3b"
    assert type(request.scenario) is TriageJiraScenario
    assert request == Request(
        scenario=request.scenario,
        choices=Choices(
            strategies=("zero_shot", "zero_shot_cot", "few_shot_3", "cot_few_shot"),
            samples=50,
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
    ((name, request),) = read(folder, LEAST).items()

    assert name == "triage"
    assert request == Request(scenario=request.scenario, choices=Choices(strategies=("zero_shot",)))


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("sample_size: 7", Choices(samples=7)),
        ("inference: {seed: 0}", Choices(seed=0)),
        ("inference: {temperature: 1}", Choices(temperature=1)),
        ("inference: {temperature: 0.7, max_tokens: 1}", Choices(temperature=0.7, max_tokens=1)),
        ("inference: {logprobs: false}", Choices(logprobs=False)),
        ("inference.seed: 7", Choices(seed=7)),
        ("inference: {}\ninference.seed: 7\nsample_size: null", Choices(seed=7)),
    ],
)
def test_numbers_and_flags_become_choices(folder: Path, text: str, choices: Choices) -> None:
    assert the_one(folder, LEAST + text).choices == replace(choices, strategies=("zero_shot",))


def test_gates_are_read_in_their_order(folder: Path) -> None:
    spec = LEAST + "gates:\n  - f1_macro >= 0.45\n  - '*@qwen*: per_class.Critical.recall > 0.6'\n"

    assert the_one(folder, spec).gates == (
        Gate(metric="f1_macro", op=">=", limit=0.45),
        Gate(metric="per_class.Critical.recall", op=">", limit=0.6, scope="*@qwen*"),
    )


def test_a_lone_value_stands_for_a_list_of_one(folder: Path) -> None:
    request = the_one(
        folder, LEAST + "models: qwen2.5:3b\nmetrics: accuracy\ngates: accuracy > 0.5\nperturbations: none"
    )

    assert request.models == ("qwen2.5:3b",)
    assert request.metrics == ("accuracy",)
    assert request.gates == (Gate(metric="accuracy", op=">", limit=0.5),)


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

    assert the_one(folder, spec).choices.strategies == names


@pytest.mark.parametrize(
    "text",
    [
        *("inference: {top_logprobs: 0}", "inference: {top_logprobs: null}"),
        *("inference: {format: null}", "inference: {format: ''}", "inference: {format: text}"),
        *("perturbations: null", "perturbations: []", "perturbations: [none]", "perturbations: none"),
        *("sustainability: false", "sustainability: null", "sustainability: {}", "sustainability: {codecarbon: false}"),
        *("repeat: 1", "repeat: null"),
        *("profile_required: false", "profile_required: null", "profile_required: ''"),
        *("models: null", "models: []", "metrics: []", "gates: []", "id: null", "description: ''", "inference: null"),
    ],
)
def test_a_value_that_asks_for_nothing_changes_nothing(folder: Path, text: str) -> None:
    request = the_one(folder, LEAST + text)

    assert request == replace(the_one(folder, LEAST), scenario=request.scenario)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "inference: {top_logprobs: 5}",
            "inference.top_logprobs: 5 is not supported: whole labels' probabilities come from the strategy option_",
        ),
        ("inference: {format: json}", "inference.format: json is not supported: replies are plain text;"),
        ("inference: {format: {type: object}}", "inference.format: {type: object} is not supported: replies are plain"),
        ("perturbations: [none, typos_5pct]", "perturbations: typos_5pct is not supported: samples stay as they are;"),
        ("sustainability: true", "sustainability: true is not supported: energy is not measured;"),
        ("sustainability: {codecarbon: true}", "sustainability.codecarbon: true is not supported: energy is not"),
        ("repeat: 3", "repeat: 3 is not supported: one seed gives the same answers each time; run again with"),
        ("profile_required: true", "profile_required: true is not supported: there are no hardware profiles;"),
        ("profile_required: gpu-entry", "profile_required: gpu-entry is not supported: there are no hardware profiles"),
    ],
)
def test_what_cannot_be_had_is_refused_with_the_reason(folder: Path, text: str, sentence: str) -> None:
    assert refusal(folder, LEAST + text).startswith(f"line 4: {sentence}")


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("", "line 1: the file holds no spec; expected one, as in 'scenario: triage_jira'"),
        ("# nothing yet\n", "line 1: the file holds no spec;"),
        ("[]", "line 1: the file holds no spec;"),
        ("\ntriage_jira", "line 2: found triage_jira; expected a spec, as in 'scenario: triage_jira'"),
        (LEAST + "---\n", "line 5: found nothing; expected a spec"),
        ("- scenario\n- [1]", "line 1: found scenario; expected a spec"),
        ("id: a\nscenario: triage_jira\n", "line 1: the spec has no adaptation.strategy; expected one, as in 'adapta"),
        ("adaptation: {strategy: egi}\n", "line 1: the spec has no scenario; expected one, as in 'scenario: triage"),
        ("scenario:\nadaptation: {strategy: egi}\n", "line 1: the spec has no scenario;"),
        ("scenario: triage_jira\nadaptation: {strategy: []}\n", "line 1: the spec has no adaptation.strategy;"),
        (LEAST + "---\n# the second\nscenario: triage_jira\n", "line 6: the spec has no adaptation.strategy;"),
    ],
)
def test_a_file_without_a_whole_spec_is_refused(folder: Path, spec: str, sentence: str) -> None:
    assert refusal(folder, spec).startswith(sentence)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (LEAST + "models: [a, b\n", "line 5: this is not YAML: expected ',' or ']'"),
        (LEAST + "\trepeat: 1", "line 4: this is not YAML: found character '\\t'"),
        (LEAST + "models: *these", "line 4: this is not YAML: found undefined alias 'these'"),
        (LEAST + "description: a: b", "line 4: this is not YAML: mapping values are not allowed here"),
        (LEAST + "description: \x07", "line 4: found '\\x07'; expected UTF-8 text without control characters"),
        ("description: grün\n".encode("latin-1"), "line 1: found '\\udcfc'; expected UTF-8 text"),
        ("id: ü\ndescription: ".encode() + b"\xff", "line 2: found '\\udcff'; expected UTF-8 text"),
    ],
)
def test_a_file_that_is_not_yaml_is_refused(folder: Path, spec: str | bytes, sentence: str) -> None:
    assert refusal(folder, spec).startswith(sentence)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sample_size: 0", "sample_size: found 0; expected a whole number from 1"),
        ("sample_size: many", "sample_size: found many; expected a whole number"),
        ("sample_size: '50'", "sample_size: found '50'; expected a whole number"),
        ("sample_size: true", "sample_size: found true; expected a whole number"),
        ("sample_size: [50]", "sample_size: found [50]; expected a whole number"),
        ("inference: {max_tokens: -1}", "inference.max_tokens: found -1; expected a whole number from 1"),
        ("inference: {seed: 4.5}", "inference.seed: found 4.5; expected a whole number from 0"),
        ("inference: {seed: -3}", "inference.seed: found -3; expected a whole number from 0"),
        ("inference: {temperature: -0.1}", "inference.temperature: found -0.1; expected a number from 0"),
        ("inference: {temperature: .nan}", "inference.temperature: found .nan; expected a number from 0"),
        ("inference: {temperature: .inf}", "inference.temperature: found .inf; expected a number from 0"),
        ("inference: {temperature: true}", "inference.temperature: found true; expected a number from 0"),
        ("inference: {logprobs: 1}", "inference.logprobs: found 1; expected true or false"),
        ("inference: {top_logprobs: false}", "inference.top_logprobs: found false; expected a whole number"),
        ("inference: 3", "inference: found 3; expected keys with values"),
        ("inference: [{seed: 1}]", "inference: found [{seed: 1}]; expected keys with values"),
        ("repeat: true", "repeat: found true; expected a whole number from 1"),
        ("sustainability: enabled", "sustainability: found enabled; expected true or false"),
        ("id: 2026-01-31", "id: found 2026-01-31; expected text, in quotes where YAML takes it for something else"),
        ("id: 2026-13-01", "id: found 2026-13-01; expected text"),
        ("id: no", "id: found no; expected text"),
        ("id: !!python/name:os.system x", "id: found !!python/name:os.system x; expected text"),
        ("description: [a, b]", "description: found [a, b]; expected text"),
        ("models: [a, 7]", "models: found 7; expected text"),
        ("models: {a: b}", "models: found {a: b}; expected text"),
        ("models: [null]", "models: found null; expected text"),
        ("gates: [triage_jira: f1_macro > 0]", "gates: found triage_jira: f1_macro > 0; expected text, in quotes"),
        ("perturbations: [typos: 5]", "perturbations: found typos: 5; expected text"),
    ],
)
def test_a_value_of_another_kind_is_refused(folder: Path, text: str, sentence: str) -> None:
    assert refusal(folder, LEAST + text).startswith(f"line 4: {sentence}")


def test_an_entry_of_a_list_is_refused_with_its_own_line(folder: Path) -> None:
    sentence = refusal(folder, f"{LEAST}models:\n- qwen2.5:3b\n-\n- 7\n")

    assert sentence == "line 6: models: found nothing; expected text, in quotes where YAML takes it for something else"


def test_a_long_value_is_shown_by_its_beginning(folder: Path) -> None:
    sentence = refusal(folder, f"{LEAST}sample_size: |\n" + "  many of them, as many as there are\n" * 9)

    assert sentence.startswith(
        "line 4: sample_size: found | many of them, as many as there are many of them, as [...]; e"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("samplesize: 5", "line 4: the key 'samplesize' is unknown; did you mean 'sample_size'? there are: id, descr"),
        ("inference:\n  temprature: 5", "line 5: the key 'inference.temprature' is unknown; did you mean 'inference.t"),
        ("seed: 5", "line 4: the key 'seed' is unknown; did you mean 'inference.seed'? "),
        ("inference: {cot: true}", "line 4: the key 'inference.cot' is unknown; did you mean 'adaptation.cot'? "),
        ("sustainability: {enabled: true}", "line 4: the key 'sustainability.enabled' is unknown; "),
        ("inference: {inference: {seed: 1}}", "line 4: the key 'inference.inference' is unknown; "),
        ("<<: {seed: 5}", "line 4: the key '<<' is unknown; there are: "),
        ("? [id]\n: 5", "line 4: the key '[id]' is unknown; did you mean 'id'? "),
        ("scenario: triage_jira", "line 4: the key 'scenario' is there twice, first in line 1; keep one"),
        ("scenario: null", "line 4: the key 'scenario' is there twice, first in line 1; keep one"),
        ("adaptation: {cot: true}", "line 4: the key 'adaptation' is there twice, first in line 2; keep one"),
        ("adaptation.strategy: egi", "line 4: the key 'adaptation.strategy' is there twice, first in line 3; keep one"),
        (
            "inference:\n  seed: 1\n  seed: 1\n",
            "line 6: the key 'inference.seed' is there twice, first in line 5; keep",
        ),
    ],
)
def test_a_key_that_is_unknown_or_there_twice_is_refused(folder: Path, text: str, sentence: str) -> None:
    assert refusal(folder, LEAST + text).startswith(sentence)


LINES = PUMA.splitlines()
KEYS = [line.split(":")[0] for line in LINES if not line.startswith("#")]


@given(st.data(), st.integers(1, len(LINES) - 1), st.from_regex(r"[A-Za-z_<][A-Za-z0-9_-]{0,15}", fullmatch=True))
def test_any_unknown_key_is_refused_with_its_line(folder: Path, data: st.DataObject, line: int, key: str) -> None:
    indent = re.match(" *", LINES[line]).group()  # type: ignore[union-attr]
    if f"{indent}{key}" in [*KEYS, "gates"]:
        key += "_"
    value = data.draw(st.sampled_from(["1", "text", "null", "[]", "{seed: 1}", "", "'", "\n    - 1"]))
    section = next(above for above in reversed(LINES[:line]) if not above.startswith(" ")) if indent else ""
    spec = [*LINES[:line], f"{indent}{key}: {value}", *LINES[line:]]

    if value == "'":
        assert "this is not YAML" in refusal(folder, "\n".join(spec))
    else:
        path = section.replace(":", ".") + key
        assert refusal(folder, "\n".join(spec)).startswith(f"line {line + 1}: the key '{path}' is unknown; ")


@given(st.binary() | st.text(alphabet="[]{}:,-&*#!|\n 'aid1").map(str.encode))
def test_bytes_that_are_no_spec_are_refused_with_a_line(folder: Path, data: bytes) -> None:
    assert refusal(folder, data).startswith("line ")


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (
            "scenario: triage\nadaptation: {strategy: egi}",
            "line 1: scenario 'triage' is unknown; there are: estimation_",
        ),
        (
            "scenario: triage_jira\nadaptation:\n  strategy:\n  - egi\n  - zeroshot\n",
            "line 5: strategy 'zeroshot' is unknown; did you mean 'zero_shot'? ",
        ),
        (
            "scenario: triage_jira\nadaptation:\n  strategy: [zero-shot, egi]\n  cot: true\n",
            "line 4: adaptation.cot: egi has no chain-of-thought form; expected zero_shot, one_shot, few_shot_K",
        ),
        (
            "scenario: triage_jira\nadaptation:\n  strategy: all\n  cot:\n  - false\n  - true\n",
            "line 6: adaptation.cot: rcoif has no chain-of-thought form; ",
        ),
        (
            LEAST + "metrics:\n- f1_macro\n- f1_marco",
            "line 6: triage_jira has no metric 'f1_marco'; did you mean 'f1_m",
        ),
        (LEAST + "metrics: [mae]", "line 4: triage_jira has no metric 'mae'; "),
        (LEAST + "gates:\n- accuracy > 0.1\n- mae < 3", "line 6: triage_jira has no metric 'mae'; "),
        (LEAST + "gates:\n- accuracy", "line 5: gate 'accuracy', column 9: found no operator; "),
        (LEAST + "id: '--'", "line 4: the id '--' has no letter and no digit; "),
        (LEAST + "id: ''", "line 4: the id '' has no letter and no digit; "),
    ],
)
def test_a_name_that_nothing_has_is_refused(folder: Path, spec: str, sentence: str) -> None:
    assert refusal(folder, spec).startswith(sentence)


@pytest.mark.parametrize(
    ("spelled", "name"),
    [("triage", "triage"), ("triage-v2.1", "triage_v2_1"), ("'3B: (first try)'", "3B_first_try"), ("größe", "größe")],
)
def test_an_id_becomes_the_end_of_a_test_name(folder: Path, spelled: str, name: str) -> None:
    assert list(read(folder, f"{LEAST}id: {spelled}")) == [name]


@pytest.mark.parametrize(
    ("file", "name"), [("night.yaml", "night"), ("night.puma.yml", "night"), ("qwen2.5.yaml", "qwen2_5")]
)
def test_without_an_id_the_file_names_the_test(folder: Path, file: str, name: str) -> None:
    assert list(read(folder, LEAST, name=file)) == [name]


def test_documents_and_lists_hold_several_specs(folder: Path) -> None:
    listed = """\
- {id: a, scenario: estimation_tawos, adaptation: {strategy: egi}}
- {scenario: triage_jira, adaptation: {strategy: egi}}
"""
    requests = read(folder, f"{listed}---\n{LEAST}")

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
    assert refusal(folder, f"{LEAST}{first}\n---\n{LEAST}{second}\n").startswith(sentence)


def test_own_scenarios_and_strategies_are_known_by_name(folder: Path) -> None:
    class Urgency(TriageJiraScenario):
        name = "urgency"

    asking = Strategy(name="ask_nicely", converse=direct, templates=("ask_nicely",))
    registry = Registry(scenarios={"urgency": Urgency}, strategies={"ask_nicely": asking})
    spec = "scenario: urgency\nadaptation: {strategy: ask-nicely}\n"

    (request,) = read(folder, spec, settings=Settings(registry=registry)).values()
    assert type(request.scenario) is Urgency
    assert request.choices.strategies == ("ask_nicely",)
    sentence = refusal(folder, f"{spec}adaptation.cot: true", settings=Settings(registry=registry))
    assert sentence.startswith("line 3: adaptation.cot: ask_nicely has no chain-of-thought form; ")


def test_each_example_of_the_docs_is_a_spec(folder: Path) -> None:
    examples = re.findall(r"```yaml\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)

    assert examples
    assert all(read(folder, example) for example in examples)


def test_the_docs_name_every_key(folder: Path) -> None:
    known = refusal(folder, f"{LEAST}unknown: 1").partition("there are: ")[2].split(", ")

    assert len(known) > 20
    assert [key for key in known if f"`{key}`" not in DOCS.read_text("utf-8")] == []


def test_the_spec_of_puma_says_every_key_of_puma(folder: Path) -> None:
    known = refusal(folder, f"{LEAST}unknown: 1").partition("there are: ")[2].split(", ")
    said = yaml.safe_load(PUMA)
    paths = {f"{key}.{inner}" for key, value in said.items() if isinstance(value, dict) for inner in value} | set(said)

    assert set(known) - paths == {"gates"}
