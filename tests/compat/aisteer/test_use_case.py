"""A use case as a scenario, with scripted answers."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from pytest_puma.compat.aisteer import MCQAAccuracy, Metric, batch_retry_generate
from pytest_puma.core import DataError, Generation
from pytest_puma.datasets.sampling import draw
from pytest_puma.evaluation.tasks import tasks_of
from tests.compat.aisteer.cells import answered, cell_of, quiz, right
from tests.compat.aisteer.places import ROWS, PlacesQuiz


def test_each_row_is_a_sample_and_each_prompt_a_trial() -> None:
    outcome = answered(quiz())
    assert [prediction.key for prediction in outcome.predictions].count(("owl", 3)) == 1
    assert len(outcome.predictions) == 12
    assert outcome.execution.samples == 3
    prompts = {outcome.prompts(prediction)[0][-1].content for prediction in outcome.predictions}
    assert len(prompts) > 3


def test_its_metrics_have_the_names_of_metric_and_key() -> None:
    outcome = answered(quiz())
    assert outcome.primary == "MCQAAccuracy.trial_mean"
    assert {name: outcome[name] for name in outcome.measures if name.startswith("MCQAAccuracy")} == {
        "MCQAAccuracy.trial_mean": 1,
        "MCQAAccuracy.trial_std": 0,
        "MCQAAccuracy.question_mean": 1,
        "MCQAAccuracy.question_std": 0,
    }
    better = {name: measure.better for name, measure in outcome.measures.items() if name.startswith("MCQA")}
    assert better["MCQAPositionalBias.mean"] == "low"
    assert better["MCQAAccuracy.trial_std"] == "neither"


def test_a_constant_answer_has_the_largest_bias_and_unread_replies_are_wrong() -> None:
    constant = answered(quiz(), lambda _: "B")
    assert constant["MCQAPositionalBias.mean"] == pytest.approx(4 / 9)
    unread = answered(quiz(), lambda prompt: "both" if "floats" in prompt else right(prompt))
    assert unread["MCQAAccuracy.trial_mean"] == pytest.approx(2 / 3)
    assert unread["MCQAAccuracy.question_mean"] == pytest.approx(2 / 3)
    assert unread["parse_failure_rate"] == pytest.approx(1 / 3)
    assert math.isnan(answered(quiz(), lambda _: "?")["MCQAPositionalBias.mean"])


def test_intervals_resample_questions_of_which_each_copy_counts() -> None:
    rows = [
        {"id": number, "question": f"What is {number}?", "answer": "yes", "choices": ["yes", "no"]}
        for number in range(120)
    ]

    def half(prompt: str) -> str:
        wrong = int("".join(filter(str.isdigit, prompt.partition("?")[0]))) % 2
        return next(line[0] for line in prompt.splitlines() if line[3:] == ("no" if wrong else "yes"))

    outcome = answered(quiz(rows=rows, orders=5), half, samples=120)
    measure = outcome.measures["MCQAAccuracy.question_mean"]
    assert (measure.value, measure.n) == (0.5, 120)
    # Trials of a question are equal, so that its interval is that of 120 questions, not of 600 trials. Without the
    # copies of a resample it would be that of 76 different questions.
    assert measure.high - measure.low == pytest.approx(2 * 1.96 * math.sqrt(0.25 / 120), rel=0.15)
    trials = outcome.measures["MCQAAccuracy.trial_mean"]
    assert (trials.low, trials.high) == (measure.low, measure.high)


def test_prompts_are_the_same_in_every_run_and_leave_the_random_numbers_alone() -> None:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - the global one
    states = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    prompts = [[task.prompt() for task in tasks_of(cell_of(quiz()), None)] for _ in range(2)]
    assert prompts[0] == prompts[1]
    assert prompts[0] != [task.prompt() for task in tasks_of(cell_of(quiz(seed=9)), None)]
    assert states == (random.getstate(), np.random.get_state()[1].tolist())  # type: ignore[index]  # noqa: NPY002


def test_fewer_samples_have_the_prompts_that_they_have_among_all() -> None:
    every = {(task.sample.id, task.trial.index): task.prompt() for task in tasks_of(cell_of(quiz()), None)}
    (few, *rest) = tasks_of(cell_of(quiz(), samples=1), None)
    assert len(rest) == 3
    assert every[few.sample.id, few.trial.index] == few.prompt()
    assert answered(quiz(), samples=1)["MCQAAccuracy.trial_mean"] == 1


def test_repeats_ask_all_prompts_again() -> None:
    use_case = quiz()
    outcome = answered(use_case, repeats=2, generation=Generation(temperature=1.0))
    assert len(outcome.predictions) == 24
    assert outcome["MCQAAccuracy.question_mean"] == 1
    assert [run["trial_id"] for run in use_case.profiles(outcome)["scripted"]] == [0, 1]


def test_retries_ask_a_prompt_again_and_its_reply_stays_with_its_row() -> None:
    use_case, sampling = quiz(), Generation(temperature=1.0, max_tokens=2)
    outcome = answered(use_case, confidence=6.0, generation=sampling, retries=20)
    assert {prediction.tries > 1 for prediction in outcome.predictions} == {True, False}
    (run,) = use_case.profiles(outcome)["scripted"]
    made = [(generation["question_id"], generation["response"]) for generation in run["generations"]]
    assert made == [(prediction.sample_id, prediction.answer) for prediction in outcome.predictions]
    assert outcome["parse_failure_rate"] == 0
    once = answered(quiz(), confidence=6.0, generation=sampling)
    assert once["parse_failure_rate"] > 0


def test_profiles_have_the_form_of_aisteer(tmp_path: Path) -> None:
    use_case = quiz()
    use_case.export(use_case.profiles(answered(use_case)), tmp_path)
    profiles = json.loads((tmp_path / "profiles.json").read_text(encoding="utf-8"))
    (run,) = profiles["scripted"]
    assert run.keys() == {"trial_id", "generations", "evaluations", "params"}
    assert run["evaluations"]["MCQAAccuracy"]["trial_mean"] == 1
    assert len(run["generations"]) == 12
    assert all(made["response"] == made["reference_answer"] for made in run["generations"])
    assert {made["question_id"] for made in run["generations"]} == {"bread", "boat", "owl"}


def test_values_of_runtime_overrides_belong_to_the_id_of_a_row() -> None:
    use_case = quiz(runtime_overrides={"Steering": {"strength": "hint"}})
    for sample in draw(use_case, 3, seed=5):
        assert sample.context["runtime_kwargs"] == {"Steering": {"strength": sample.fields["hint"]}}
    with pytest.raises(DataError, match="runtime_overrides names the column 'hin'; the rows have: id, question"):
        draw(quiz(runtime_overrides={"Steering": {"strength": "hin"}}), 3, seed=5)


def test_rows_may_come_from_a_file_and_be_fewer(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    use_case = PlacesQuiz(evaluation_data_path=file, evaluation_metrics=[MCQAAccuracy()], num_samples=2, num_orders=1)
    assert [row["id"] for row in use_case.evaluation_data] == ["bread", "boat"]
    assert use_case.source().name.endswith("rows.jsonl")
    assert len(answered(use_case).predictions) == 2
    shuffled = quiz(rows=[{**ROWS[0], "id": number} for number in range(30)], shuffle=True, num_samples=30)
    assert [row["id"] for row in shuffled.evaluation_data] != list(range(30))


class Counted(Metric):
    """A metric of one's own, whose further values only `export` writes."""

    keys = ("letters",)
    better: ClassVar = {"letters": "high"}

    def compute(self, responses: list[Any], prompts: list[str] | None = None, **_: Any) -> dict[str, Any]:
        return {"letters": len({*responses}), "list": responses}


def test_a_metric_of_ones_own_names_its_numbers() -> None:
    outcome = answered(PlacesQuiz(ROWS, [Counted(unit="letter")], num_orders=4))
    assert outcome["Counted.letters"] == 3
    assert "Counted.list" not in outcome.measures


class Chat(PlacesQuiz):
    """Prompts as lists of messages, replies as they are."""

    def generate(self, model_or_pipeline: Any, tokenizer: Any, *_: Any, **__: Any) -> list[dict[str, Any]]:
        system = {"role": "system", "content": "Be brief."}
        prompts = [
            {"id": row["id"], "prompt": [system, {"role": "user", "content": row["question"]}]}
            for row in self.evaluation_data
        ]
        texts = batch_retry_generate(prompts, model_or_pipeline, tokenizer)
        return [{"response": text, "reference_answer": "yes", "question_id": None} for text in texts]


def test_a_prompt_may_be_a_chat_and_the_reply_stays_a_text() -> None:
    outcome = answered(quiz(Chat), lambda prompt: "<think>no</think>yes" if "floats" in prompt else "no")
    assert outcome["MCQAAccuracy.trial_mean"] == pytest.approx(1 / 3)
    assert [message.role for message in outcome.prompts(outcome.predictions[0])[0]] == ["system", "user"]
