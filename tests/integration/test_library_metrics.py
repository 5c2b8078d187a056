"""Metrics of the library as a user names them: measured, compared with a baseline, refused at collection."""

from __future__ import annotations

import json

import pytest
from sacrebleu.metrics.bleu import BLEU

from tests.integration.conftest import ONE_PROCESS, SCRIPTED, TRIAGE, Project

COUNTRIES = """
import pytest
from pytest_puma import CompletionScenario

class Countries(CompletionScenario):
    name = "countries"
    data = "countries.jsonl"
    group_columns = ("subject",)
    scores = {scores}
    strategies = ("zero_shot",)

    def instruction(self, item):
        return "What is the capital of " + item["country"] + "?"

    def truth(self, item):
        return item["capital"]

    def context(self, item):
        return {context}

@pytest.mark.puma(Countries, gates={gates})
def test_countries(puma):
    pass
"""

#: A wrong answer for every fifth country, and one of the words of the right one for every third.
REPLIES = """
import re
from pytest_puma.testing import ScriptedBackend

def reply(prompt):
    number = int(re.findall("country ([0-9]+)", prompt)[-1])
    if number % 5 == 0:
        return "I do not know"
    return f"the town of {number}" if number % 3 == 0 else f"the old town of {number}"

def pytest_puma_backend(model):
    return ScriptedBackend(reply)
"""

ABSENT = """
import sys
for name in [*sys.modules]:
    if name.partition(".")[0] == "sacrebleu":
        del sys.modules[name]
sys.modules["sacrebleu"] = None
"""


def countries(
    project: Project, *scores: str, gates: tuple[str, ...] = (), context: str = "{}", conftest: str = ""
) -> Project:
    project.write(
        test_countries=COUNTRIES.format(scores=scores, gates=list(gates), context=context), conftest=REPLIES + conftest
    )
    rows = [
        {
            "country": f"country {number}",
            "capital": f"the old town of {number}",
            "subject": "north" if number % 2 else "south",
        }
        for number in range(1, 41)
    ]
    (project.pytester.path / "countries.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return project


def test_they_are_measured_gated_and_sliced_with_intervals(project: Project) -> None:
    countries(project, "exact_match", "bleu", "ter", gates=("rouge_l[mean subject] >= 0.5", "bleu <= 100"))
    project.run().assert_outcomes(passed=1)
    measures = project.record()["outcomes"][0]["measures"]
    # 21 exact replies; 11 lack one word of five; 8 share none with the answer.
    values = {"exact_match": 21 / 40, "ter": 100 * (11 + 8 * 5) / 200, "rouge_l": (21 + 11 * 2 * 4 / 9) / 40}
    for name in (*values, "bleu"):
        measure = measures[name]
        assert measure["value"] == pytest.approx(values.get(name, measure["value"]), abs=1e-6), name
        assert measure["low"] < measure["value"] < measure["high"], name
        assert measure["n"] == 40
    assert (measures["ter"]["better"], measures["bleu"]["unit"]) == ("low", "points")
    assert "rouge_l[mean subject]" in measures
    assert "chrf" not in measures


def test_bleu_is_that_of_the_whole_corpus_in_the_report(alone: Project) -> None:
    countries(alone, "bleu")
    alone.run().assert_outcomes(passed=1)
    texts = [prediction["raw"][-1] for prediction in alone.predictions()]
    references = [[prediction["gold"] for prediction in alone.predictions()]]
    expected = BLEU().corpus_score(texts, references).score
    assert alone.record()["outcomes"][0]["measures"]["bleu"]["value"] == pytest.approx(expected, abs=1e-6)


def test_a_worse_corpus_fails_against_its_baseline(alone: Project) -> None:
    countries(alone, "bleu", "ter", gates=("bleu >= baseline - 1", "ter <= baseline + 1"))
    alone.run("--puma-update-baseline").assert_outcomes(passed=1)
    alone.write(conftest=REPLIES.replace("% 3 == 0", "% 3 < 3"))
    result = alone.run()
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*bleu >= baseline - 1*", "*ter <= baseline + 1*"])


@pytest.mark.parametrize(
    ("score", "fault"),
    [
        ("exact_mach", "scores has 'exact_mach'; did you mean 'exact_match'? expected a Metric or the name of one; *"),
        ("accuracy_chars", "metric 'accuracy_chars' applies to choice; this is a completion"),
    ],
)
@ONE_PROCESS
def test_a_score_that_cannot_be_is_an_error_at_collection(project: Project, score: str, fault: str) -> None:
    result = countries(project, score).run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*countries: {fault}"])
    assert not (project.pytester.path / ".puma").exists()


@pytest.mark.parametrize(("scores", "gates"), [(("bleu",), ()), (("exact_match",), ("bleu >= 10",))])
def test_a_missing_library_is_an_error_at_collection_with_the_command_that_installs_it(
    alone: Project, scores: tuple[str, ...], gates: tuple[str, ...]
) -> None:
    result = countries(alone, *scores, gates=gates, conftest=ABSENT).run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*metric 'bleu' needs sacrebleu, which is not installed; *pip install *[[]text]'*"])


def test_other_files_run_without_the_library_of_one(alone: Project) -> None:
    countries(alone, "bleu").write(test_triage=TRIAGE, conftest=SCRIPTED + ABSENT)
    result = alone.run()
    result.stdout.fnmatch_lines(["*needs sacrebleu, *; --continue-on-collection-errors runs the benchmarks of the *"])
    alone.run("--continue-on-collection-errors").assert_outcomes(errors=1, passed=1)


def test_a_misspelt_metric_has_its_hint_without_the_library_of_another(alone: Project) -> None:
    """The small set `translate_mini`, which no test of the project runs, needs the library."""
    alone.write(test_triage=TRIAGE, conftest=REPLIES + ABSENT)
    result = alone.run("--puma-gate=accurracy >= 0.5")
    fault = "no scenario has the metric 'accurracy'; did you mean 'accuracy'? there are: "
    result.stdout.fnmatch_lines([f"puma: gate 'accurracy >= 0.5': {fault}*"])


def test_metrics_that_need_no_library_work_without_it(alone: Project) -> None:
    countries(alone, "exact_match", "rouge_lsum", conftest=ABSENT).run().assert_outcomes(passed=1)


def test_a_missing_argument_names_the_metric_and_the_sample(alone: Project) -> None:
    result = countries(alone, "json.schema").run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*json.schema: the context of sample '*' has nothing as 'json_schema'; expected a JSON*"]
    )


def test_none_as_argument_leaves_a_sample_out(alone: Project) -> None:
    context = '{"json_schema": {"type": "string"} if item["subject"] == "north" else None}'
    countries(alone, "json.schema", context=context).run().assert_outcomes(passed=1)
    measure = alone.record()["outcomes"][0]["measures"]["json.schema"]
    assert (measure["n"], measure["value"]) == (20, 0)
