"""The loop on scripted answers: what goes in as text comes out as an outcome."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.analysis import cautions
from pytest_puma.analysis.naive_baselines import NaiveBaselines
from pytest_puma.core import (
    Answer,
    Cell,
    Conversation,
    Generate,
    Generation,
    Model,
    Outcome,
    Prediction,
    PumaError,
    Run,
    Scenario,
    ask,
)
from pytest_puma.gates import parse_gate
from pytest_puma.perturbations import Perturbation
from pytest_puma.run.evaluate import evaluate
from pytest_puma.scenarios import (
    EstimationTawosScenario,
    FileScenario,
    PrioritizationJiraBothOrdersScenario,
    TriageJiraScenario,
)
from pytest_puma.store.record import as_json
from pytest_puma.strategies import ALL, Strategy, Task
from pytest_puma.testing import Engine, ScriptedBackend

MODEL = Model(name="script", path=Path("script.gguf"))


def cell(scenario: Scenario | None = None, strategy: str = "zero_shot", **settings: Any) -> Cell:
    said = {"samples": 12} | settings
    return Cell(scenario=scenario or TriageJiraScenario(), strategy=strategy, model=MODEL, **said)


def run(wanted: Cell, answer: str = "Major", **settings: Any) -> Outcome:
    def script(prompt: str) -> str:
        return f"It is so.\nAnswer: {answer}" if "Answer:" in prompt else answer

    return evaluate(wanted, Engine(ScriptedBackend(script)), **settings)


@pytest.mark.parametrize("strategy", ALL)
def test_every_strategy_reads_the_scripted_answer(strategy: str) -> None:
    outcome = run(cell(strategy=strategy))
    assert {prediction.answer for prediction in outcome.predictions} == {"Major"}
    assert outcome["accuracy"] == 3 / 12
    assert outcome.cell == f"triage_jira-{strategy}@script"


def test_a_row_of_the_confusion_matrix_is_what_a_gold_label_was_answered_with() -> None:
    confusion = run(cell()).confusion
    assert confusion["Minor"] == {"Critical": 0, "Major": 3, "Minor": 0, "Trivial": 0, "no answer": 0}
    assert run(cell(EstimationTawosScenario()), "3").confusion == {}


def test_unreadable_answers_are_wrong_counted_and_warned_about() -> None:
    outcome = run(cell(), "No idea.")
    assert outcome["f1_macro"] == 0
    assert outcome["parse_failure_rate"] == 1
    (warning,) = outcome.warnings
    assert warning == (
        "triage_jira-zero_shot@script: 12 of 12 replies could not be parsed (12 unparsed); "
        "the scores are not meaningful"
    )
    assert outcome.failures == {"unparsed": 12}
    assert {prediction.failure for prediction in outcome.predictions} == {"unparsed"}


class Capitalised(TriageJiraScenario):
    """Its parser spells the labels in a way that `valid_labels` does not."""

    def parse_response(self, response: str) -> str | None:
        found = super().parse_response(response)
        return found and found.upper()


def test_a_model_that_would_write_something_else_than_the_labels_is_warned_about() -> None:
    wanted = cell(strategy="option_scoring")
    sure = run(wanted)
    assert sure["outside_labels"] == pytest.approx(0, abs=1e-9)
    assert not sure.warnings
    torn = evaluate(wanted, Engine(ScriptedBackend({}, default="Major", confidence=1.0)))
    assert torn["outside_labels"] > 0.99
    (warning,) = torn.warnings
    assert re.fullmatch(f"{wanted.id}: all labels together have .*e-.* of the probability of all replies .*", warning)


def test_answers_that_are_no_labels_are_told_with_their_text() -> None:
    outcome = run(cell(Capitalised()))
    assert outcome["parse_failure_rate"] == 1
    (warning,) = outcome.warnings
    assert warning == (
        "triage_jira-zero_shot@script: 12 of 12 answers are not among valid_labels(): 'MAJOR' (12); "
        "expected one of Critical, Major, Minor, Trivial; "
        "parse_response() must return a label exactly as valid_labels() spells it, or None"
    )
    assert outcome.failures == {"not_a_label": 12}
    assert {(each.answer, each.failure, each.parsed) for each in outcome.predictions} == {
        (None, "not_a_label", "MAJOR")
    }


def test_replies_that_are_cut_off_are_counted_whether_they_are_read_or_not() -> None:
    cut = run(cell(), "Major" + 20 * "!")
    assert cut["truncation_rate"] == 1
    assert cut["parse_failure_rate"] == 0
    assert cut.failures == {}
    whole = run(cell(gates=(parse_gate("truncation_rate <= 0.05"),)))
    assert whole["truncation_rate"] == 0
    assert [verdict.status for verdict in whole.verdicts] == ["PASS"]
    rambling = run(cell(strategy="zero_shot_cot"), 300 * "x")
    assert rambling.failures == {"truncated": 12}


def test_what_the_last_replies_lacked_is_the_cause() -> None:
    engine = Engine(ScriptedBackend(lambda _: "Nobody can log in."))
    outcome = evaluate(cell(strategy="egi"), engine)
    assert outcome.failures == {"no_answer_line": 12}


def test_a_prompt_over_the_context_is_that_samples_overflow_only() -> None:
    engine = Engine(ScriptedBackend({}, default="Major", context_limit=1200))
    outcome = evaluate(cell(samples=40), engine)
    finishes = {prediction.finish for prediction in outcome.predictions}
    assert finishes == {"stop", "overflow"}
    assert 0 < outcome["overflow_rate"] < 1
    assert {p.answer for p in outcome.predictions if p.finish == "overflow"} == {None}
    assert any("longer than the context" in warning for warning in outcome.warnings)


def test_gates_are_judged_on_the_measures() -> None:
    gates = (parse_gate("accuracy >= 0.25"), parse_gate("f1_macro >= 0.5"), parse_gate("ece <= 0.1"))
    outcome = run(cell(gates=gates))
    assert [verdict.status for verdict in outcome.verdicts] == ["PASS", "FAIL", "NOT RUN"]
    assert [verdict.gate.metric for verdict in outcome.failed] == ["f1_macro"]


def test_a_shared_header_is_computed_once() -> None:
    outcome = run(cell(strategy="few_shot_8", samples=20))
    first, *others = sorted(prediction.usage.cached_tokens for prediction in outcome.predictions)
    assert first < 100
    assert others[0] > 1000


def test_the_same_cell_gives_the_same_predictions() -> None:
    def answers(outcome: Outcome) -> list[tuple[str, str | None, tuple[str, ...]]]:
        return [(p.sample_id, p.answer, p.raw) for p in outcome.predictions]

    wanted = cell(strategy="self_consistency_3")
    assert answers(run(wanted)) == answers(run(wanted))


def test_the_answer_that_hangs_on_the_order_is_counted() -> None:
    outcome = run(cell(PrioritizationJiraBothOrdersScenario(), samples=8), "A")
    assert outcome["order_dependent_rate"] == 1
    assert outcome["accuracy"] == 0.5


def test_probabilities_of_points_give_the_error_of_their_mean_too() -> None:
    outcome = run(cell(EstimationTawosScenario(), "option_scoring"), "3")
    assert outcome["mae_expected"] == pytest.approx(outcome["mae"])


def test_the_signature_holds_what_could_change_a_number() -> None:
    signature = run(cell(generation=Generation(max_tokens=7))).signature
    assert signature["generation"]["max_tokens"] == 7
    assert signature["generation"]["temperature"] == 0
    assert signature["data"]["file"] == "data/jira_balanced_200.csv"
    assert signature["engine"] == {"backend": "scripted"}


@pytest.mark.parametrize("strategy", ["few_shot_3", "egi", "self_consistency_3"])
def test_predictions_have_their_fields_and_the_whole_prompt_of_each_request(strategy: str) -> None:
    asked: set[str] = set()

    def script(prompt: str) -> str:
        asked.add(prompt)
        return "Answer: Major"

    outcome = evaluate(cell(strategy=strategy), Engine(ScriptedBackend(script)))
    told = [prompt for each in outcome.predictions for prompt in outcome.prompts(each)]
    assert {"".join(f"\n\x02{message.role}\x03{message.content}" for message in prompt) for prompt in told} == asked
    assert len(told) == sum(len(each.raw) for each in outcome.predictions)
    assert all(each.fields["description"] in outcome.prompts(each)[0][-1].content for each in outcome.predictions)


def test_what_the_prompts_of_a_cell_share_is_held_once() -> None:
    outcome = run(cell(strategy="few_shot_8"))
    (shared,) = outcome.shared_prompts
    assert shared[-1].content.count("\nPriority: ") == 8
    for prediction in outcome.predictions:
        (rest,) = prediction.prompts
        assert rest is not None
        assert len(rest[-1].content) < sum(map(len, prediction.fields.values())) + 300


def _echo(prompt: str) -> str:
    return "Minor" if "IT" in prompt.split() else "Major"


def test_a_perturbed_cell_asks_about_other_texts_and_is_measured_on_the_same_samples() -> None:
    plain, loud = (
        evaluate(cell(perturbation=name, compared_metrics=("f1_macro",)), Engine(ScriptedBackend(_echo)))
        for name in (None, "case_upper")
    )
    assert (plain.cell, loud.cell) == ("triage_jira-zero_shot@script", "triage_jira-zero_shot+case_upper@script")
    assert (plain.perturbation, loud.perturbation) == (None, "case_upper")
    assert (plain.signature["perturbation"], loud.signature["perturbation"]) == (None, "case_upper")
    facts = [[(each.sample_id, each.gold, each.units) for each in found.predictions] for found in (plain, loud)]
    assert facts[0] == facts[1]
    assert "Minor" not in {each.answer for each in plain.predictions}
    assert "Minor" in {each.answer for each in loud.predictions}
    assert plain.replicates["f1_macro"].samples == loud.replicates["f1_macro"].samples
    assert loud.replicates["f1_macro"].answers == tuple(each.answer for each in loud.predictions)


def test_examples_stay_as_they_are() -> None:
    asked: list[str] = []

    def script(prompt: str) -> str:
        asked.append(prompt)
        return "Major"

    evaluate(cell(strategy="one_shot", samples=2, perturbation="case_upper"), Engine(ScriptedBackend(script)))
    for prompt in asked:
        examples, issue = prompt.rsplit("<issue>", 1)
        assert (
            issue.partition("</issue>")[0].isupper() is False
        )  # the words `Title` and `Description` are the template's
        assert re.search(r"[a-z]{3}", re.sub("Title|Description", "", issue.partition("</issue>")[0])) is None
        assert re.search(r"[a-z]{3}", examples.rsplit("<issue>", 1)[1])


def test_labels_are_listed_in_another_order_and_scored_as_they_were() -> None:
    outcome = evaluate(
        cell(strategy="option_scoring", samples=4, perturbation="label_order"),
        Engine(ScriptedBackend({}, default="Major")),
    )
    assert outcome["accuracy"] == 1 / 4
    assert all(list(each.probabilities or ()) == TriageJiraScenario().valid_labels() for each in outcome.predictions)
    asked = [outcome.prompts(each)[-1][-1].content for each in outcome.predictions]
    assert not any("Critical, Major, Minor or Trivial" in prompt for prompt in asked)


def test_references_of_perturbed_samples_are_not_shown() -> None:
    found = [
        run(cell(perturbation=name), naive_baselines=NaiveBaselines()).naive_baselines for name in (None, "case_upper")
    ]
    assert [bool(each) for each in found] == [True, False]


def test_a_perturbation_of_ones_own_is_known_by_its_name() -> None:
    own = {"shouted": Perturbation(name="shouted", change=lambda text, _: f"{text} IT")}
    outcome = evaluate(cell(perturbation="shouted"), Engine(ScriptedBackend(_echo)), perturbations=own)
    assert {each.answer for each in outcome.predictions} == {"Minor"}


def test_progress_is_told_up_to_the_last_sample() -> None:
    told: list[tuple[int, int]] = []
    run(cell(), progress=lambda answered, samples: told.append((answered, samples)))
    assert told[-1] == (12, 12)
    assert told == sorted(told)


def test_notes_of_the_backend_reach_the_reports() -> None:
    backend = ScriptedBackend({}, default="Major")
    backend.notes = ("speaks plainly",)
    outcomes = [evaluate(cell(strategy=strategy), Engine(backend)) for strategy in ("zero_shot", "one_shot")]
    assert [each.notes for each in outcomes] == [("speaks plainly",)] * 2
    whole = Run(id="", started="", environment={}, outcomes=tuple(outcomes))
    assert whole.notes == ("script: speaks plainly",)
    assert json.loads(as_json(whole))["notes"] == ["script: speaks plainly"]


def _mute(_: Task) -> Conversation:
    yield ()
    return Answer(value=None, responses=())


def _silent(task: Task) -> Any:
    yield from ask(task.generate(task.prompt()))


def _thoughtless(_: Task) -> Conversation:
    yield from ()
    return Answer(value="Major", responses=())


def _two_requests(task: Task) -> Conversation:
    first = yield from ask(task.generate(task.prompt()))
    second: Generate = task.generate(task.prompt(), index=1)
    other = yield from ask(second)
    return Answer(value=task.read(other.text), responses=(first, other))


def _hasty(task: Task) -> Any:
    return Answer(value=task.scenario.valid_labels()[0], responses=())


def _prompting(task: Task) -> Any:
    yield task.prompt()


def _lone(task: Task) -> Any:
    response = yield task.generate(task.prompt())
    return Answer(value=task.read(response.text), responses=response)


@pytest.mark.parametrize(
    ("converse", "sentence"),
    [
        (_mute, "the strategy function _mute yields no request; expected a request, which task.generate"),
        (_silent, r"the strategy function _silent returns None; expected an Answer\(value=..., responses=...\)"),
        (_thoughtless, "without a response"),
        (_hasty, r"returns Answer\(value='Critical', .* without asking; it has no `yield`: expected a request"),
        (_prompting, r"the strategy function _prompting yields Prompt\(messages=.{1,80}\.\.\.; expected a request"),
        (_lone, r"Answer\(responses=...\) is a Response; expected a tuple: responses=\(response,\)"),
    ],
)
def test_a_strategy_that_breaks_the_contract_is_told(converse: Any, sentence: str) -> None:
    own = {"own": Strategy(name="own", converse=converse, templates=("zero_shot",))}
    with pytest.raises(PumaError, match=sentence):
        run(cell(strategy="own"), strategies=own)


def _plainly(task: Task) -> Conversation:
    first = yield task.generate(task.prompt())
    second, third = yield (task.generate(task.prompt(), index=1), task.generate(task.prompt(), index=2))
    listed = yield [task.generate(task.prompt(), index=3)]  # type: ignore[misc]
    return Answer(value=task.read(third.text), responses=(first, second, third, *listed))


def test_a_request_may_be_yielded_as_it_is_and_its_response_comes_back() -> None:
    own = {"own": Strategy(name="own", converse=_plainly, templates=("zero_shot",))}
    outcome = run(cell(strategy="own"), strategies=own)
    assert outcome["accuracy"] == 3 / 12
    assert {prediction.raw for prediction in outcome.predictions} == {("Major",) * 4}


def test_a_strategy_of_ones_own_may_ask_as_often_as_it_likes() -> None:
    own = {"own": Strategy(name="own", converse=_two_requests, templates=("zero_shot",))}
    outcome = run(cell(strategy="own"), strategies=own)
    assert [len(prediction.raw) for prediction in outcome.predictions] == [2] * 12


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


def test_rows_that_are_there_twice_are_told_with_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "tickets.csv").write_text("text,team\nrefused,access\ncharged,billing\nrefused,access\n")
    folder = tmp_path / "prompts" / "triage_jira"
    folder.mkdir(parents=True)
    (folder / "zero_shot.jinja").write_text("{{ text }}")
    outcome = run(cell(_Tickets(tmp_path / "tickets.csv"), samples=3), "access", project=tmp_path)
    assert outcome["accuracy"] == pytest.approx(2 / 3)
    assert [
        warning
        for warning in outcome.warnings
        if "1 of 3 samples repeat an earlier row: row 4 repeats row 2" in warning
    ]


class _Slow(TriageJiraScenario):
    def metrics(self) -> Any:
        def slow(found: Sequence[Prediction]) -> int:
            time.sleep(0.001)
            return len(found)

        return {"slow": slow}


def test_a_slow_metric_of_ones_own_is_named_with_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cautions, "SLOW", 0.3)
    (warning,) = run(cell(_Slow())).warnings
    assert re.match(r".*: metrics\(\): 'slow' took \d+ s of \d+ s in 301 calls, all but one for its interval", warning)
