from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pytest_puma.core import Kept, Message, Outcome, Speed, Usage, Verdict
from pytest_puma.core.verdict import Status
from pytest_puma.metrics import score
from pytest_puma.report import notes
from pytest_puma.report.markdown import as_markdown
from pytest_puma.report.rows import HEADERS, all_rows, metric_rows, number
from pytest_puma.report.terminal import flips, misses, summary, worst_misses
from tests.factories import Estimation, Triage, change, flip, measure, outcome, prediction, predictions, run, verdict

RATES = {
    "mae": measure("mae", 2.0, 1.25, 3.5, n=40),
    "rmse": measure("rmse", 3.0, 2.0, 4.0, n=40, note="n under 30"),
    "parse_failure_rate": measure("parse_failure_rate", 0.04, 0.0, 0.1),
}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12345, "0.123"),
        (0.0, "0"),
        (1.0, "1.00"),
        (12.345, "12.35"),
        (1234.5, "1.23e+03"),
        (-0.0, "0"),
        (math.nan, "-"),
    ],
)
def test_numbers_have_three_digits_or_two_places(value: float, text: str) -> None:
    assert number(value) == text


def test_a_cell_is_a_row_and_each_further_metric_another() -> None:
    whole = outcome(
        measures=RATES,
        metrics=("mae", "rmse", "ece"),
        usage=Usage(prompt_tokens=900, cached_tokens=400),
        speed=Speed(prefill_tokens=500),
    )
    lines = summary(run(whole), ".puma/runs/r", 200)
    assert lines[2].split() == [
        "triage",
        "zero_shot",
        "m",
        "40",
        "mae",
        "2.00",
        "[1.25,",
        "3.50]",
        "4%",
        "500",
        "0.0",
        "-",
    ]
    assert lines[3].split() == ["40", "rmse", "3.00*", "[2.00,", "4.00]"]
    assert lines[4:] == ["* n under 30 (rmse of triage-zero_shot@m)", "predictions: .puma/runs/r"]


def test_a_star_of_a_naive_baseline_alone_has_its_footnote_too() -> None:
    noted = measure("mae", 2.0, 1.25, 3.5, n=40, note="n under 30")
    whole = outcome(measures=RATES, metrics=("mae",), naive_baselines={"mean": {"mae": noted}})
    assert notes.footnotes([replace(whole, naive_baselines={"mean": {"mae": RATES["mae"]}})]) == []
    footnote = "* n under 30 (mae of naive.mean in triage)"
    assert footnote in summary(run(whole), "", 200)
    assert f"- \\{footnote}" in as_markdown(run(whole)).splitlines()


def test_notes_that_differ_in_numbers_alone_are_one_line_with_a_count() -> None:
    def noted(cell: str, note: str) -> Outcome:
        gates = (verdict("accuracy >= 0.5"), verdict("accuracy >= 0.6"))
        return outcome(cell, measures=RATES | {"accuracy": measure(note=note)}, verdicts=gates)

    cells = [noted(f"triage-few_shot_{n}@m", f"one sample is {n}% of all that differs") for n in (3, 5, 8)]
    assert notes.footnotes([*cells, noted("triage-egi@m", "no error was seen")]) == [
        "* one sample is 3% of all that differs (accuracy of triage-few_shot_3@m, and 2 alike)",
        "* no error was seen (accuracy of triage-egi@m)",
    ]


def _column(name: str, outcomes: Outcome) -> list[str]:
    return [row[HEADERS.index(name)] for row in all_rows([outcomes])]


def test_each_gate_has_a_row_with_its_verdict_and_its_limit() -> None:
    fall = change(old=0.76, new=0.66, value=-0.1)
    whole = outcome(
        verdicts=(
            verdict("accuracy >= 0.6"),
            verdict("accuracy >= baseline - 0.02", "FAIL", change=fall),
            verdict("accuracy >= baseline * 0.9 !fail", "INCONCLUSIVE", change=replace(fall, quotient=True)),
            verdict("accuracy >= naive.majority", change=replace(fall, new=0.65)),
            verdict("parse_failure_rate <= 0.05"),
            verdict("no_regression", "FAIL", p=0.003),
            verdict("no_drift", "NO BASELINE"),
        )
    )
    assert _column("metric", whole) == ["accuracy"] * 4 + ["parse_failure_rate", "no_regression", "no_drift"]
    assert _column("verdict", whole) == ["PASS", "FAIL", "INCONCLUSIVE", "PASS", "PASS", "FAIL", "NO BASELINE"]
    assert _column("value", whole) == ["0.66"] * 4 + ["0", "p=0.003", "-"]
    assert _column("gate", whole) == [
        ">= 0.6",
        ">= baseline - 0.02 (0.74)",
        ">= baseline * 0.9 (0.684) !fail",
        # The change is over other samples than the value.
        ">= naive.majority",
        "<= 0.05",
        "p > 0.05",
        "",
    ]


def test_the_limit_of_a_row_is_on_the_side_that_its_verdict_says() -> None:
    fall = change(old=0.76, new=0.66, value=-0.1)
    gates = (verdict("accuracy >= 0.6"), verdict("accuracy >= baseline - 0.02", "FAIL", change=fall))
    kept, missed = metric_rows([outcome(verdicts=gates)])
    assert [kept.limit, missed.limit] == pytest.approx([0.6, 0.74])


def test_the_seconds_of_kept_answers_are_no_time_of_the_model() -> None:
    kept = Kept(responses=50, kept=50, together=True, runs=("r",))
    cells = [
        outcome(seconds=82.04),
        outcome(seconds=1.1, kept=kept),
        outcome(seconds=30.0, kept=replace(kept, kept=20)),
        outcome(seconds=82.04, kept=replace(kept, kept=0)),
        outcome(seconds=0.2, signature={"data": None, "engine": {"answers": "a.jsonl"}}),
    ]
    assert [_column("s", each) for each in cells] == [["82.0"], ["kept"], ["30.0 + kept"], ["82.0"], ["read"]]


def test_the_throughput_of_a_model_is_that_of_the_cells_that_were_computed() -> None:
    usage = Usage(prompt_tokens=900, cached_tokens=400, decoded_tokens=100)
    whole = outcome(usage=usage, speed=Speed(prefill_tokens=500, decode_tokens=100), seconds=4.0)
    kept = replace(whole, seconds=0.1, kept=Kept(responses=50, kept=50, together=True, runs=("r",)))
    reread = replace(whole, seconds=0.1, speed=Speed())
    assert notes.throughputs([whole, replace(whole, seconds=6.0), kept, reread]) == [
        "throughput: m: 10.00 answers and 120 tokens a second"
    ]
    assert notes.throughputs([kept, reread]) == []
    assert _column("s", reread) == ["read"]


def _limit(metric: str, status: Status) -> Verdict:
    return verdict(f"{metric} <= 2", status)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (
            [("rmse", "FAIL"), ("parse_failure_rate", "PASS")],
            [("mae", "-"), ("rmse", "FAIL"), ("parse_failure_rate", "PASS")],
        ),
        ([("mae", "PASS"), ("parse_failure_rate", "FAIL")], [("mae", "PASS"), ("parse_failure_rate", "FAIL")]),
        ([("parse_failure_rate", "PASS")], [("mae", "-"), ("parse_failure_rate", "PASS")]),
        ([], [("mae", "-")]),
    ],
)
def test_a_verdict_stands_only_beside_the_metric_that_its_gate_is_about(
    verdicts: list[tuple[str, Status]], expected: list[tuple[str, str]]
) -> None:
    whole = outcome(measures=RATES, metrics=("mae",), verdicts=tuple(_limit(*each) for each in verdicts))
    assert list(zip(_column("metric", whole), _column("verdict", whole), strict=True)) == expected


def test_on_eighty_columns_a_row_keeps_its_n_and_what_all_rows_of_a_cell_share_is_a_line_above() -> None:
    fall = change(old=0.76, new=0.66, value=-0.1)
    gates = (
        verdict("accuracy >= 0.6"),
        verdict("accuracy >= baseline - 0.02", "FAIL", change=fall),
        verdict("parse_failure_rate <= 0.05"),
    )
    whole = outcome("triage_jira-few_shot_3@qwen2.5-3b-instruct", verdicts=gates)
    assert summary(run(whole), "", 80)[:6] == [
        " n  metric              value  95 % interval  verdict  gate",
        "--  ------------------  -----  -------------  -------  -------------------------",
        "triage_jira, few_shot_3, qwen2.5-3b-instruct, 0% parse failures",
        "50  accuracy             0.66  [0.52, 0.77]   PASS     >= 0.6",
        "50  accuracy             0.66  [0.52, 0.77]   FAIL     >= baseline - 0.02 (0.74)",
        "50  parse_failure_rate      0  [0, 0.07]      PASS     <= 0.05",
    ]


def test_the_strategy_of_a_perturbed_cell_is_shown_with_its_perturbation() -> None:
    whole = outcome("triage-zero_shot+case_upper@m", measures=RATES, metrics=("mae",))
    lines = summary(run(whole), "", 200)
    assert lines[2].split()[:3] == ["triage", "zero_shot+case_upper", "m"]


def test_trivial_programs_stand_behind_the_last_cell_of_their_scenario_a_perturbed_one_too() -> None:
    plain = outcome(measures=RATES, metrics=("mae",), naive_baselines={"mean": {"mae": RATES["mae"]}})
    perturbed = outcome("triage-zero_shot+case_upper@m", measures=RATES, metrics=("mae",))
    lines = summary(run(plain, perturbed), "", 200)
    assert [line.split()[1] for line in lines[2:5]] == ["zero_shot", "zero_shot+case_upper", "naive.mean"]


def test_the_worst_misses_are_parse_failures_then_the_largest_errors() -> None:
    answered = score(Estimation(), (), predictions(["3", "3", "3", "5", "5"], ["1", "3", "34", None, "8"]))
    assert [each.sample_id for each in worst_misses(answered)] == ["s3", "s2", "s4", "s0"]


def test_among_labels_the_surest_miss_is_the_worst() -> None:
    unsure = prediction("unsure", answer="B", probabilities={"A": 0.4, "B": 0.6})
    sure = prediction("sure", answer="B", probabilities={"A": 0.1, "B": 0.9})
    right = prediction("right", probabilities={"A": 1.0})
    answered = score(Triage(), (), [unsure, right, sure])
    assert [each.sample_id for each in worst_misses(answered)] == ["sure", "unsure"]


def test_without_a_wrong_answer_there_are_no_misses() -> None:
    assert misses(outcome()) == []


def test_below_a_regression_new_misses_come_first_with_the_earlier_answer() -> None:
    answered = score(
        Triage(), (), [prediction(f"s{row}", answer="B", probabilities={"B": 0.9 - row / 10}) for row in range(7)]
    )
    fall = verdict("accuracy >= baseline", "FAIL")
    flipped = (flip("s6", new="B"), flip("s5", new="B"), flip("s9", better=True))
    one = outcome(predictions=tuple(answered), flips=flipped, verdicts=(fall,))
    lines = misses(one)
    assert lines[1] == "the worst 5 of 7 misses, first the 2 that are worse than in the baseline:"
    assert [line.split(":")[0].strip() for line in lines[2::3]] == ["s5", "s6", "s0", "s1", "s2"]
    assert lines[2].endswith("gold is A, was A")
    assert lines[8].endswith("gold is A")
    of_value = replace(one, verdicts=(verdict("accuracy >= 0.9", "FAIL"), verdict("accuracy >= baseline")))
    assert misses(of_value)[1] == "the worst 5 of 7 misses:"
    assert misses(of_value)[2].startswith("  s0: ")


def test_a_new_miss_of_a_trial_or_of_a_score_shows_what_it_was() -> None:
    trials = score(Triage(), (), [prediction("s", trial=trial, answer="B", raw=("B",)) for trial in range(2)])
    one = outcome(
        predictions=tuple(trials),
        samples=1,
        trials=2,
        flips=(flip("s", trial=1, old="A", new="B", scores=(0.75, 0.25)),),
        verdicts=(verdict("no_regression", "FAIL", p=0.01),),
    )
    assert misses(one)[2] == "  s #2: answered B, gold is A, was A, score 0.75 to 0.25"


def test_a_miss_names_its_trial_if_samples_have_several() -> None:
    trials = tuple(prediction("s", trial=trial, answer="B", raw=("B",)) for trial in range(2))
    assert misses(outcome(predictions=trials, samples=1, trials=2))[2].startswith("  s #1: answered B")
    assert misses(outcome(predictions=trials[:1], samples=1, trials=1))[2].startswith("  s: answered B")


def test_a_miss_shows_its_texts_and_a_scored_one_its_probabilities() -> None:
    scored = prediction("s", answer="B", raw=("",), probabilities={"A": 0.125, "B": 0.875})
    written = prediction("t", answer="B", raw=("B,\nI say",))
    lines = misses(outcome(verdicts=(verdict("mae <= 0", "FAIL"),), predictions=(scored, written)))
    assert [line.strip() for line in lines if "raw" in line] == ["raw    B 87.5%, A 12.5%", "raw    'B, I say'"]


def test_a_miss_shows_what_its_prompt_has_of_its_own() -> None:
    shared = (Message(role="user", content="Which team? "),)
    texts = ("My invoice is wrong.", f"{'My password is refused. ' * 9}Reply with the team only.", "")
    missed = tuple(
        prediction(str(n), answer="B", prompts=((Message(role="user", content=text),),)) for n, text in enumerate(texts)
    )
    whole = outcome(predictions=missed, shared_prompts=(shared,))
    lines = [line.strip() for line in misses(whole) if line.strip().startswith("prompt ")]
    assert lines == [
        "prompt My invoice is wrong.",
        (
            "prompt My password is refused. My password is refused. My ... "
            "My password is refused. Reply with the team only."
        ),
        "prompt Which team?",
    ]


def test_the_end_that_all_prompts_share_is_not_shown() -> None:
    missed = tuple(
        prediction(str(n), answer="B", prompts=((Message(role="user", content=f"<item>\n{text}</item>\nTeam?"),),))
        for n, text in enumerate(("My invoice is wrong.", f"{'No password works. ' * 9}It is refused."))
    )
    lines = [
        line.strip()
        for line in misses(outcome(predictions=missed, shared_prompts=((),)))
        if line.strip().startswith("prompt ")
    ]
    assert lines[0] == "prompt <item> My invoice is wrong"
    assert lines[1].endswith(" It is refused")


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("unparsed", "no answer, as the parser found none in the reply (unparsed)"),
        ("overflow", "no answer, as the prompt is longer than the context (overflow)"),
        ("refused", "no answer (refused)"),
        ("", "no answer"),
    ],
)
def test_a_missing_answer_has_its_cause_in_words(failure: str, words: str) -> None:
    missed = prediction("s", answer=None, failure=failure, raw=("hm",))
    assert misses(outcome(predictions=(missed,)))[2] == f"  s: {words}, gold is A"


def test_a_flip_of_a_sample_without_a_key_shows_its_text() -> None:
    changed = (flip("3f2c1d9a0b1e", new="B", text="My password is refused."), flip("T-1", better=True))
    assert flips(outcome(flips=changed))[1:] == [
        "  worse   3f2c1d9a0b1e (My password is refused.): gold is A, was A, is B",
        "  better  T-1: gold is A, was B, is A",
    ]
