"""Several trials of a sample: what is asked, counted and compared, and what a single trial leaves as it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from pytest_puma.analysis.naive_baselines import NaiveBaselines
from pytest_puma.core import Generation, Outcome, Sample, SettingsError, Trial
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.tasks import tasks_of
from pytest_puma.scenarios import PrioritizationJiraBothOrdersScenario, TriageJiraScenario
from pytest_puma.testing import ScriptedBackend
from tests.factories import cell, entry, evaluated, flip

SAMPLED = Generation(temperature=1.0)


def hesitant() -> ScriptedBackend:
    """A model that says `Major` most of the time, byte by byte."""
    return ScriptedBackend({}, default="Major", confidence=7.0)


def repeated(repeats: int = 3, *, samples: int = 6, **fields: Any) -> Cell:
    return cell(samples=samples, repeats=repeats, generation=SAMPLED, **fields)


def keys(outcome: Outcome) -> list[tuple[str, int]]:
    return [prediction.key for prediction in outcome.predictions]


def test_each_trial_has_a_prediction_and_trials_of_a_sample_stand_together() -> None:
    outcome = evaluated(repeated(), hesitant())
    ids = [prediction.sample_id for prediction in outcome.predictions if prediction.trial == 0]

    assert keys(outcome) == [(sample_id, trial) for sample_id in ids for trial in range(3)]
    assert (outcome.execution.samples, outcome.execution.trials, outcome.execution.left_out) == (6, 18, 0)
    assert outcome.execution.signature["repeats"] == 3


def test_each_trial_is_sampled_anew_and_the_first_as_without_repeats() -> None:
    outcome, single = evaluated(repeated(), hesitant()), evaluated(repeated(1), hesitant())
    texts = {prediction.key: prediction.raw for prediction in outcome.predictions}

    assert len({texts[key] for key in keys(outcome)}) > 6
    assert {each.key: each.raw for each in single.predictions} == {key: texts[key] for key in texts if key[1] == 0}
    assert evaluated(repeated(), hesitant()).predictions[1].raw == outcome.predictions[1].raw


def test_trials_of_a_sample_are_one_unit_and_a_single_trial_changes_no_unit() -> None:
    outcome, single = evaluated(repeated(), hesitant()), evaluated(repeated(1), hesitant())

    assert {each.units for each in outcome.predictions} == {(each.sample_id,) * 2 for each in single.predictions}
    assert all(each.units == (each.sample_id,) for each in single.predictions)


def test_a_repeat_computes_no_prompt_a_second_time() -> None:
    outcome, single = evaluated(repeated(4, samples=1), hesitant()), evaluated(repeated(1, samples=1), hesitant())
    first, *others = (prediction.usage for prediction in outcome.predictions)

    assert first.prompt_tokens - first.cached_tokens == single.predictions[0].usage.prompt_tokens
    assert all(each.prompt_tokens - each.cached_tokens <= 1 for each in others)


def test_the_prompt_of_a_sample_is_rendered_once() -> None:
    rendered = []

    class Counted(TriageJiraScenario):
        def valid_labels(self) -> list[str]:
            rendered.append(1)
            return super().valid_labels()

    tasks = tasks_of(repeated(5, samples=2, scenario=Counted()), None)
    rendered.clear()
    prompts = [task.prompt() for task in tasks]
    assert len(rendered) == 2
    assert len({prompt.messages for prompt in prompts}) == 2


def test_progress_counts_samples() -> None:
    calls: list[tuple[int, int]] = []
    evaluated(repeated(), hesitant(), progress=lambda answered, samples: calls.append((answered, samples)))

    assert calls[-1] == (6, 6)
    assert {samples for _, samples in calls} == {6}
    assert [answered for answered, _ in calls] == sorted(answered for answered, _ in calls)


def test_some_samples_are_asked_with_all_their_trials() -> None:
    all_ids = [sample_id for sample_id, trial in keys(evaluated(repeated(), hesitant())) if trial == 0]
    outcome = evaluated(repeated(), hesitant(), only=all_ids[1:3])

    assert keys(outcome) == [(sample_id, trial) for sample_id in all_ids[1:3] for trial in range(3)]
    with pytest.raises(SettingsError, match="none of the 1 samples to ask is among the 6 of this run"):
        evaluated(repeated(), hesitant(), only=["nothing"])


def test_the_check_of_batch_invariance_counts_samples() -> None:
    outcome = evaluated(repeated(), hesitant(), determinism=4)
    assert outcome.execution.determinism is not None
    assert (outcome.execution.determinism.samples, outcome.execution.determinism.texts) == (4, 0)


def test_early_stopping_looks_at_samples() -> None:
    gated = repeated(2, samples=50, gates=("accuracy <= 0.95",))
    outcome = evaluated(gated, "Major", stop_early=True)

    assert (outcome.execution.samples, outcome.execution.trials, outcome.execution.left_out) == (23, 46, 27)


def test_prompts_beyond_the_context_are_counted_once() -> None:
    short = ScriptedBackend({}, default="Major", context_limit=100)
    (warning,) = [each for each in evaluated(repeated(3), short).judgement.warnings if "context" in each]
    assert warning.endswith(": 6 of 6 prompts are longer than the context and were not answered")


def test_a_baseline_is_compared_on_the_trials_that_both_have() -> None:
    gated = repeated(2, gates=("accuracy >= baseline - 0.05",))
    old = evaluated(repeated(3), "Major")
    (verdict,) = evaluated(gated, "Major", baseline=entry(old)).judgement.verdicts

    assert "baseline main@3f2c1d9 on the 12 trials that both have" in verdict.reason
    assert verdict.reason.endswith("; changed since: the repeats")
    assert verdict.change is not None
    assert verdict.change.value == 0

    (verdict,) = evaluated(gated, "Major", baseline=entry(evaluated(repeated(2), "Major"))).judgement.verdicts
    assert "that both have" not in verdict.reason


def test_flips_name_the_trial_where_samples_have_several() -> None:
    old = entry(evaluated(repeated(2), "Minor"))
    flips = evaluated(repeated(2), "Major", baseline=old).judgement.flips
    single = evaluated(repeated(1), "Major", baseline=old).judgement.flips

    assert {each.trial for each in flips} == {0, 1}
    assert {each.trial for each in single} == {None}
    assert len(flips) == 2 * len(single)
    assert [flip("T-1", trial=1).sample, flip("T-1").sample] == ["T-1 #2", "T-1"]


def test_a_naive_baseline_answers_once_for_all_trials_of_a_sample() -> None:
    gate = "accuracy >= naive.majority"
    outcome = evaluated(repeated(3, gates=(gate,)), "Major", naive_baselines=NaiveBaselines())
    single = evaluated(repeated(1, gates=(gate,)), "Major", naive_baselines=NaiveBaselines())

    assert outcome.tables.naive_baselines == single.tables.naive_baselines
    change, other = outcome.judgement.verdicts[0].change, single.judgement.verdicts[0].change
    assert change is not None
    assert other is not None
    assert (change.old, change.new) == pytest.approx((other.old, other.new))


def test_the_interval_of_answers_that_all_trials_share_is_that_of_a_single_trial() -> None:
    outcome, single = evaluated(repeated(5, samples=40), "Major"), evaluated(repeated(1, samples=40), "Major")
    measure, other = outcome.measures["f1_macro"], single.measures["f1_macro"]

    assert measure.value == pytest.approx(other.value)
    assert measure.high - measure.low >= 0.9 * (other.high - other.low)


def test_pairs_in_both_orders_are_matched_trial_by_trial() -> None:
    outcome = evaluated(repeated(3, scenario=PrioritizationJiraBothOrdersScenario()), "A")
    assert outcome.measures["order_dependent_rate"].value == 1


@pytest.mark.parametrize("strategy", ["zero_shot", "option_scoring"])
def test_repeats_at_temperature_0_are_refused(strategy: str) -> None:
    with pytest.raises(SettingsError, match=rf"strategy {strategy}: repeats is 2 and temperature is 0, so all repeats"):
        cell(strategy=strategy, repeats=2)
    assert cell(strategy="self_consistency_2", repeats=2).repeats == 2, "its own temperature is above 0"


class TwoTrials(TriageJiraScenario):
    """A scenario with trials of its own."""

    indices: tuple[int, ...] = (0, 1)

    def trials(self, sample: Sample, seed: int, repeats: int) -> Iterator[Trial]:
        del sample, seed, repeats
        return map(Trial, self.indices)


def test_a_scenario_can_define_its_trials() -> None:
    assert evaluated(cell(TwoTrials(), samples=3)).execution.trials == 6


@pytest.mark.parametrize("indices", [(), (1, 2), (0, 0)])
def test_trials_that_are_not_numbered_from_0_are_refused(indices: tuple[int, ...]) -> None:
    class Odd(TwoTrials):
        pass

    Odd.indices = indices
    with pytest.raises(SettingsError, match=r"trials\(\) of sample '.+' has the indices \[.*\]; expected 0, 1, 2"):
        evaluated(replace(cell(samples=3), scenario=Odd()))
