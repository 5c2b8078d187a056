"""Evaluation on scripted answers: text goes in, an outcome comes out."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.analysis import cautions
from pytest_puma.core import (
    Generation,
    Outcome,
    Prediction,
)
from pytest_puma.runs.run_folder import as_json
from pytest_puma.scenarios import (
    EstimationTawosScenario,
    FileScenario,
    PrioritizationJiraBothOrdersScenario,
    TriageJiraScenario,
)
from pytest_puma.testing import ScriptedBackend
from tests.factories import cell, evaluated, run


def test_a_row_of_the_confusion_matrix_is_what_a_gold_label_was_answered_with() -> None:
    confusion = evaluated(cell()).tables.confusion
    assert confusion["Minor"] == {"Major": 3}
    assert confusion["Minor"]["Minor"] == 0
    assert evaluated(cell(EstimationTawosScenario()), "3").tables.confusion == {}


def test_unreadable_answers_are_wrong_counted_and_warned_about() -> None:
    outcome = evaluated(cell(), "No idea.")
    assert outcome["f1_macro"] == 0
    assert outcome["parse_failure_rate"] == 1
    (warning,) = outcome.judgement.warnings
    assert warning == (
        "triage_jira-zero_shot@script: 12 of 12 replies could not be parsed (12 unparsed); "
        "the scores are not meaningful"
    )
    assert outcome.tables.failures == {"unparsed": 12}
    assert {prediction.failure for prediction in outcome.predictions} == {"unparsed"}


class Capitalised(TriageJiraScenario):
    """Its parser spells the labels in a way that `valid_labels` does not."""

    def parse_response(self, response: str) -> str | None:
        label = super().parse_response(response)
        return label and label.upper()


def test_a_model_that_prefers_other_texts_than_the_labels_is_warned_about() -> None:
    wanted = cell(strategy="option_scoring")
    sure = evaluated(wanted)
    assert sure["outside_labels"] == pytest.approx(0, abs=1e-9)
    assert not sure.judgement.warnings
    torn = evaluated(wanted, ScriptedBackend({}, default="Major", confidence=1.0))
    assert torn["outside_labels"] > 0.99
    (warning,) = torn.judgement.warnings
    assert re.fullmatch(f"{wanted.id}: all labels together have .*e-.* of the probability of all replies .*", warning)


def test_answers_that_are_no_labels_are_listed_with_their_text() -> None:
    outcome = evaluated(cell(Capitalised()))
    assert outcome["parse_failure_rate"] == 1
    (warning,) = outcome.judgement.warnings
    assert warning == (
        "triage_jira-zero_shot@script: 12 of 12 answers are not among valid_labels(): 'MAJOR' (12); "
        "expected one of Critical, Major, Minor, Trivial; "
        "parse_response() must return a label exactly as valid_labels() spells it, or None"
    )
    assert outcome.tables.failures == {"not_a_label": 12}
    assert {(each.answer, each.failure, each.parsed) for each in outcome.predictions} == {
        (None, "not_a_label", "MAJOR")
    }


def test_truncated_replies_are_counted_whether_they_are_parsed_or_not() -> None:
    cut = evaluated(cell(), "Major" + 20 * "!")
    assert cut["truncation_rate"] == 1
    assert cut["parse_failure_rate"] == 0
    assert cut.tables.failures == {}
    whole = evaluated(cell(gates=("truncation_rate <= 0.05",)))
    assert whole["truncation_rate"] == 0
    assert [verdict.status for verdict in whole.judgement.verdicts] == ["PASS"]
    rambling = evaluated(cell(strategy="zero_shot_cot"), 300 * "x")
    assert rambling.tables.failures == {"truncated": 12}


def test_the_cause_is_what_the_last_replies_lack() -> None:
    outcome = evaluated(cell(strategy="egi"), lambda _: "Nobody can log in.")
    assert outcome.tables.failures == {"no_answer_line": 12}


def test_a_prompt_over_the_context_is_that_samples_overflow_only() -> None:
    outcome = evaluated(cell(samples=40), ScriptedBackend({}, default="Major", context_limit=1200))
    finishes = {prediction.finish for prediction in outcome.predictions}
    assert finishes == {"stop", "overflow"}
    assert 0 < outcome["overflow_rate"] < 1
    assert {p.answer for p in outcome.predictions if p.finish == "overflow"} == {None}
    assert any("longer than the context" in warning for warning in outcome.judgement.warnings)


def test_gates_are_judged_on_the_measures() -> None:
    outcome = evaluated(cell(gates=("accuracy >= 0.25", "f1_macro >= 0.5", "ece <= 0.1")))
    assert [verdict.status for verdict in outcome.judgement.verdicts] == ["PASS", "FAIL", "NOT RUN"]
    assert [verdict.gate.metric for verdict in outcome.failed] == ["f1_macro"]


def test_a_shared_header_is_computed_once() -> None:
    outcome = evaluated(cell(strategy="few_shot_8", samples=20))
    first, *others = sorted(prediction.usage.cached_tokens for prediction in outcome.predictions)
    assert first < 100
    assert others[0] > 1000


def test_the_same_cell_gives_the_same_predictions() -> None:
    def answers(outcome: Outcome) -> list[tuple[str, str | None, tuple[str, ...]]]:
        return [(p.sample_id, p.answer, p.raw) for p in outcome.predictions]

    wanted = cell(strategy="self_consistency_3")
    assert answers(evaluated(wanted)) == answers(evaluated(wanted))


def test_answers_that_depend_on_the_order_are_counted() -> None:
    outcome = evaluated(cell(PrioritizationJiraBothOrdersScenario(), samples=8), "A")
    assert outcome["order_dependent_rate"] == 1
    assert outcome["accuracy"] == 0.5


def test_probabilities_of_points_give_the_error_of_their_mean_too() -> None:
    outcome = evaluated(cell(EstimationTawosScenario(), "option_scoring"), "3")
    assert outcome["mae_expected"] == pytest.approx(outcome["mae"])


def test_the_signature_holds_what_could_change_a_number() -> None:
    signature = evaluated(cell(generation=Generation(max_tokens=7))).execution.signature
    assert signature["generation"]["max_tokens"] == 7
    assert signature["generation"]["temperature"] == 0
    assert signature["data"]["file"] == "data/jira_balanced_200.csv"
    assert signature["engine"] == {"backend": "scripted"}


@pytest.mark.parametrize("strategy", ["few_shot_3", "egi", "self_consistency_3"])
def test_predictions_have_their_fields_and_the_whole_prompt_of_each_request(strategy: str) -> None:
    requested: set[str] = set()

    def script(prompt: str) -> str:
        requested.add(prompt)
        return "Answer: Major"

    outcome = evaluated(cell(strategy=strategy), script)
    stored = [prompt for each in outcome.predictions for prompt in outcome.prompts(each)]
    assert {
        "".join(f"\n\x02{message.role}\x03{message.content}" for message in prompt) for prompt in stored
    } == requested
    assert len(stored) == sum(len(each.raw) for each in outcome.predictions)
    assert all(each.fields["description"] in outcome.prompts(each)[0][-1].content for each in outcome.predictions)


def test_the_common_beginning_of_the_prompts_is_held_once() -> None:
    outcome = evaluated(cell(strategy="few_shot_8"))
    (shared,) = outcome.execution.shared_prompts
    assert shared[-1].content.count("\nPriority: ") == 8
    for prediction in outcome.predictions:
        (rest,) = prediction.transcript.prompts
        assert rest is not None
        assert len(rest[-1].content) < sum(map(len, prediction.fields.values())) + 300


def test_progress_is_reported_up_to_the_last_sample() -> None:
    reports: list[tuple[int, int]] = []
    evaluated(cell(), progress=lambda answered, samples: reports.append((answered, samples)))
    assert reports[-1] == (12, 12)
    assert reports == sorted(reports)


def test_notes_of_the_backend_reach_the_reports() -> None:
    backend = ScriptedBackend({}, default="Major")
    backend.notes = ("speaks plainly",)
    outcomes = [evaluated(cell(strategy=strategy), backend) for strategy in ("zero_shot", "one_shot")]
    assert [each.execution.notes for each in outcomes] == [("speaks plainly",)] * 2
    whole = run(*outcomes)
    assert whole.notes == ("script: speaks plainly",)
    assert json.loads(as_json(whole))["notes"] == ["script: speaks plainly"]


class _Tickets(FileScenario):
    name = "tickets"
    task_type = "classification"
    text_fields = ("text",)
    label_column = "team"
    template_folder = "triage_jira"

    def valid_labels(self) -> list[str]:
        return ["billing", "access"]

    def parse_response(self, response: str) -> str | None:
        return response


def test_repeated_rows_are_listed_with_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "tickets.csv").write_text("text,team\nrefused,access\ncharged,billing\nrefused,access\n")
    folder = tmp_path / "prompts" / "triage_jira"
    folder.mkdir(parents=True)
    (folder / "zero_shot.jinja").write_text("{{ text }}")
    outcome = evaluated(cell(_Tickets(tmp_path / "tickets.csv"), samples=3), "access", project=tmp_path)
    assert outcome["accuracy"] == pytest.approx(2 / 3)
    assert [
        warning
        for warning in outcome.judgement.warnings
        if "1 of 3 samples repeat an earlier row: row 4 repeats row 2" in warning
    ]


class SlowToOpen(ScriptedBackend):
    """It makes what its variant needs when a cache is opened, as llama.cpp's backend does with vectors of pairs."""

    def open(self, kv_slots: int, streams: int = 0) -> None:
        time.sleep(0.3)
        super().open(kv_slots, streams)


def test_the_time_to_open_a_cache_is_none_of_the_seconds_of_a_cell() -> None:
    started = time.perf_counter()
    execution = evaluated(cell(), SlowToOpen({}, default="Major")).execution
    assert execution.speed.open_seconds >= 0.3
    assert 0 < execution.seconds <= time.perf_counter() - started - 0.3


class _Slow(TriageJiraScenario):
    def metrics(self) -> Any:
        def slow(predictions: Sequence[Prediction]) -> int:
            time.sleep(0.001)
            return len(predictions)

        return {"slow": slow}


def test_a_slow_own_metric_is_named_with_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cautions, "SLOW", 0.3)
    (warning,) = evaluated(cell(_Slow())).judgement.warnings
    assert re.match(r".*: metrics\(\): 'slow' took \d+ s of \d+ s in 301 calls, all but one for its interval", warning)
