"""Specs that are refused: the sentence, and the line it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.planning.specs import MINIMAL, PUMA, refusal


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "inference: {top_logprobs: 5}",
            "inference.top_logprobs: 5 is not supported: whole labels' probabilities come from the strategy option_",
        ),
        ("inference: {format: json}", "inference.format: json is not supported: replies are plain text;"),
        ("inference: {format: {type: object}}", "inference.format: {type: object} is not supported: replies are plain"),
        ("sustainability: true", "sustainability: true is not supported: energy is not measured;"),
        ("sustainability: {codecarbon: true}", "sustainability.codecarbon: true is not supported: energy is not"),
        ("profile_required: true", "profile_required: true is not supported: there are no hardware profiles;"),
        ("profile_required: gpu-entry", "profile_required: gpu-entry is not supported: there are no hardware profiles"),
    ],
)
def test_what_cannot_be_had_is_refused_with_the_reason(folder: Path, text: str, sentence: str) -> None:
    assert refusal(folder, MINIMAL + text).startswith(f"line 4: {sentence}")


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("", "line 1: the file holds no spec; expected one, as in 'scenario: triage_jira'"),
        ("# nothing yet\n", "line 1: the file holds no spec;"),
        ("[]", "line 1: the file holds no spec;"),
        ("\ntriage_jira", "line 2: found triage_jira; expected a spec, as in 'scenario: triage_jira'"),
        (MINIMAL + "---\n", "line 5: found nothing; expected a spec"),
        ("- scenario\n- [1]", "line 1: found scenario; expected a spec"),
        ("id: a\nscenario: triage_jira\n", "line 1: the spec has no adaptation.strategy; expected one, as in 'adapta"),
        ("adaptation: {strategy: egi}\n", "line 1: the spec has no scenario; expected one, as in 'scenario: triage"),
        ("scenario:\nadaptation: {strategy: egi}\n", "line 1: the spec has no scenario;"),
        ("scenario: triage_jira\nadaptation: {strategy: []}\n", "line 1: the spec has no adaptation.strategy;"),
        (MINIMAL + "---\n# the second\nscenario: triage_jira\n", "line 6: the spec has no adaptation.strategy;"),
    ],
)
def test_a_file_without_a_whole_spec_is_refused(folder: Path, spec: str, sentence: str) -> None:
    assert refusal(folder, spec).startswith(sentence)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (MINIMAL + "repeat: !!bool maybe", "line 4: repeat: found !!bool maybe; expected a whole number from 1"),
        (MINIMAL + "repeat: !!int ''", "line 4: repeat: found !!int ''; expected a whole number from 1"),
        (MINIMAL + "repeat: !!timestamp x", "line 4: repeat: found !!timestamp x; expected a whole number from 1"),
        (
            MINIMAL + "repeat: !!python/object:os.system x",
            "line 4: repeat: found !!python/object:os.system x; expected",
        ),
        (MINIMAL + "models: &a [*a, *a]", "line 4: models: found &a [*a, *a]; expected text"),
        (MINIMAL + "models: [a, b\n", "line 5: this is not YAML: expected ',' or ']'"),
        (
            MINIMAL + "\trepeat: 1",
            "line 4: this is not YAML: found character '\\t' that cannot start any token: '\\trepeat: 1'; indent",
        ),
        (MINIMAL + "models: *these", "line 4: this is not YAML: found undefined alias 'these'"),
        (
            MINIMAL + "gates: triage_jira: f1_macro >= 0.4",
            "line 4: this is not YAML: mapping values are not allowed here: 'gates: triage_jira: f1_macro >= 0.4'; ",
        ),
        (
            MINIMAL + "gates: [triage_jira: f1_macro >= 0.4]",
            "line 4: gates: found triage_jira: f1_macro >= 0.4; expected text, in quotes where YAML takes it for ",
        ),
        (MINIMAL + "description: \x07", "line 4: found '\\x07'; expected UTF-8 text without control characters"),
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
        ("retries: -1", "retries: found -1; expected a whole number from 0"),
        ("retries: 0.5", "retries: found 0.5; expected a whole number from 0"),
        ("judge: [a, 7]", "judge: found 7; expected text"),
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
    assert refusal(folder, MINIMAL + text).startswith(f"line 4: {sentence}")


def test_a_perturbation_that_is_unknown_is_refused_with_its_line(folder: Path) -> None:
    sentence = refusal(folder, f"{MINIMAL}perturbations:\n- none\n- typo_5pct\n")

    assert sentence.startswith("line 6: perturbation 'typo_5pct' is unknown; did you mean 'typos_5pct'? there are: ")


def test_an_entry_of_a_list_is_refused_with_its_own_line(folder: Path) -> None:
    sentence = refusal(folder, f"{MINIMAL}models:\n- qwen2.5:3b\n-\n- 7\n")

    assert sentence == "line 6: models: found nothing; expected text, in quotes where YAML takes it for something else"


def test_a_long_value_is_shown_by_its_beginning(folder: Path) -> None:
    sentence = refusal(folder, f"{MINIMAL}sample_size: |\n" + "  many of them, as many as there are\n" * 9)

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
    assert refusal(folder, MINIMAL + text).startswith(sentence)


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
            "line 1: scenario 'triage' is unknown; did you mean 'triage_jira'? there are: aime2024, ",
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
            MINIMAL + "metrics:\n- f1_macro\n- f1_marco",
            "line 6: triage_jira has no metric 'f1_marco'; did you mean 'f1_m",
        ),
        (MINIMAL + "metrics: [mae]", "line 4: triage_jira has no metric 'mae'; "),
        (MINIMAL + "gates:\n- accuracy > 0.1\n- mae < 3", "line 6: triage_jira has no metric 'mae'; "),
        (MINIMAL + "gates:\n- accuracy", "line 5: gate 'accuracy', column 9: found no operator; "),
        (MINIMAL + "id: '--'", "line 4: the id '--' has no letter and no digit; "),
        (MINIMAL + "id: ''", "line 4: the id '' has no letter and no digit; "),
    ],
)
def test_a_name_that_nothing_has_is_refused(folder: Path, spec: str, sentence: str) -> None:
    assert refusal(folder, spec).startswith(sentence)
