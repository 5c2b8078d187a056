from __future__ import annotations

from dataclasses import replace

from pytest_puma.core import AnswerChanges, Flip, Gap, Robustness, Shift
from pytest_puma.report.markdown import as_markdown
from pytest_puma.report.robustness import COLUMNS
from tests.factories import change, fault, flip, measure, outcome, run, verdict

KEPT = verdict("accuracy >= 0.5", reason="it keeps >= 0.5")
MISSED = verdict("accuracy >= 0.9", "FAIL", "accuracy is under 0.9")
ABSENT = verdict("accuracy >= baseline", "NO BASELINE", "there is no baseline yet")
UNSURE = verdict("accuracy >= baseline", "INCONCLUSIVE", "it may miss >= baseline")


def flips(worse: int, better: int = 0) -> tuple[Flip, ...]:
    """Flips for the better first."""
    return tuple(flip(f"s{row}", better=row >= worse) for row in reversed(range(worse + better)))


ROBUSTNESS = Robustness(
    cell="triage-zero_shot@m",
    scenario="triage",
    strategy="zero_shot",
    model="m",
    metric="accuracy",
    value=0.66,
    shifts=(
        Shift(
            perturbation="case_upper",
            change=change(),
            answer_changes=AnswerChanges(
                rate=measure("flip_rate", 0.5, 0.3, 0.7),
                fixed=5,
                broken=15,
                still_wrong=5,
            ),
            test="mcnemar",
            p=0.02,
            adjusted=0.04,
        ),
        Shift(
            perturbation="label_order",
            change=change(new=0.66, value=0.0, low=0.0, high=0.0, worse=0, better=0),
            answer_changes=AnswerChanges(
                rate=measure("flip_rate", 0.0, 0.0, 0.07),
                fixed=0,
                broken=0,
                still_wrong=0,
            ),
            test="mcnemar",
            p=1.0,
            adjusted=1.0,
        ),
    ),
    worst="case_upper",
    worst_value=0.46,
    worst_corrected=0.47,
    always_right=measure("always_right", 0.4, 0.3, 0.5),
    gaps=(Gap(axis="gender", old="woman", new="man", change=change()),),
)


def test_a_kept_run_is_a_heading_and_a_table() -> None:
    heading, blank, *table = as_markdown(run(outcome(verdicts=(KEPT,)))).splitlines()

    assert (heading, blank) == ("### puma: no gate missed", "")
    header, rule, row = ([cell.strip() for cell in line.strip("|").split("|")] for line in table)
    assert header == [
        "scenario",
        "strategy",
        "model",
        "n",
        "metric",
        "value",
        "95 % interval",
        "parse failures",
        "verdict",
        "gate",
    ]
    assert set("".join(rule)) == {"-"}
    assert row == ["triage", "zero_shot", "m", "50", "accuracy", "0.66", "[0.52, 0.77]", "0%", "PASS", "\\>= 0.5"]


def test_gates_without_a_baseline_are_counted_if_no_gate_is_missed() -> None:
    cells = (outcome(verdicts=(KEPT, ABSENT)), outcome("b", verdicts=(ABSENT,)))
    texts = {
        as_markdown(run(*cells, verdicts=(KEPT,))): "no gate missed; 2 of 4 gates had no baseline to compare with",
        as_markdown(run(outcome(verdicts=(MISSED, ABSENT)))): "1 of 1 cells missed a gate",
    }
    assert [text.splitlines()[0] for text in texts] == [f"### puma: {heading}" for heading in texts.values()]


def test_what_is_not_kept_is_a_sentence_each() -> None:
    text = as_markdown(
        run(outcome(verdicts=(MISSED, UNSURE), warnings=("w",)), outcome("b", verdicts=(UNSURE,)), problems=("gone",))
    )

    assert text.startswith("### puma: 1 of 2 cells missed a gate, 1 problem of the run\n")
    failures, table, sentences, *folded = text.split("\n\n")[1:]
    assert failures.splitlines() == ["- **FAIL** `triage-zero_shot@m`: accuracy is under 0.9", "- **FAIL** gone"]
    assert table.startswith("| scenario ")
    assert sentences.splitlines() == [
        "- inconclusive: `triage-zero_shot@m` and 1 more: it may miss >= baseline",
        "- warning: `triage-zero_shot@m`: w",
    ]
    summary = "<details><summary>notes: statistics, origin of the answers, times</summary>"
    assert folded == [summary, "- 2 of 3 gates could not decide", "</details>\n"]


def test_a_missed_gate_whose_sentence_does_not_name_it_stands_in_front() -> None:
    worse = verdict("no_regression", "FAIL", "a regression (p = 0.01)")
    under = verdict("accuracy >= 0.9", "FAIL", "accuracy 0.66 is under 0.9")
    text = as_markdown(run(outcome(verdicts=(replace(ABSENT, fails=True), worse, under))))

    assert [line for line in text.splitlines() if line.startswith("- ")][:3] == [
        "- **NO BASELINE** `triage-zero_shot@m`: accuracy >= baseline: there is no baseline yet",
        "- **FAIL** `triage-zero_shot@m`: no_regression: a regression (p = 0.01)",
        "- **FAIL** `triage-zero_shot@m`: accuracy 0.66 is under 0.9",
    ]


def test_a_run_that_failed_as_a_whole_does_not_look_kept() -> None:
    text = as_markdown(run(outcome(), problems=("a gate fits no cell",)))

    assert text.startswith("### puma: 1 problem of the run\n")


def test_doubt_that_fails_the_test_is_reported_as_a_miss() -> None:
    text = as_markdown(run(outcome(verdicts=(replace(UNSURE, fails=True),))))

    assert text.count("it may miss") == 1
    assert "**INCONCLUSIVE** `triage-zero_shot@m`: accuracy >= baseline: it may miss >= baseline" in text
    assert "1 of 1 cells missed a gate" in text


def test_flips_are_folded_up_those_for_the_worse_first() -> None:
    text = as_markdown(run(outcome(flips=flips(2, 1))))
    folded = text[text.index("<details>") :].splitlines()

    assert folded[0] == "<details><summary>triage-zero_shot@m: 2 answers worse, 1 better</summary>"
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in folded if line.startswith("|")]
    assert rows[0] == ["sample", "gold", "was", "is", ""]
    assert rows[2:] == [["s1", "A", "A", "-", "worse"], ["s0", "A", "A", "-", "worse"], ["s2", "A", "B", "A", "better"]]
    assert folded[-1] == "</details>"


def test_many_flips_are_counted_not_listed() -> None:
    text = as_markdown(run(outcome(flips=flips(25))))

    assert text.count("| worse") == 20
    assert "\nand 5 more\n" in text


def test_text_of_the_data_means_nothing_to_markdown() -> None:
    named = measure("per_class.a|b*c.f1")
    text = as_markdown(run(outcome(metrics=("x",), measures={**outcome().measures, "x": named})))

    assert "per_class.a\\|b\\*c.f1" in text


def test_perturbations_are_a_table_and_sentences_of_their_own() -> None:
    text = as_markdown(run(outcome(), robustness=(ROBUSTNESS,)))
    table, sentences = text.partition("#### perturbations\n\n")[2].split("\n\n")

    header, _, first, second = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    assert header == [column.title for column in COLUMNS]
    assert first[:8] == ["triage", "zero_shot", "m", "case_upper", "accuracy", "0.46", "-0.2", "[-0.4, 0.1]"]
    assert first[8:] == ["0.040", "50%", "[0.3, 0.7]", "20%", "60%", "20%"]
    assert second[3:] == ["label_order", "accuracy", "0.66", "0", "[0, 0]", "1.000", "0%", "[0, 0.07]", "-", "-", "-"]
    worst, gap = sentences.splitlines()
    assert worst.startswith("- worst: `triage-zero_shot@m`: accuracy is 0.46 under case_upper, 0.66 without ")
    assert "(0.47 corrected for choosing the worst of 2); significant changes (Holm): 1 of 2; " in worst
    assert worst.endswith("; 40% [0.3, 0.5] of n=50 are right under all")
    assert gap == "- gap: `triage-zero_shot@m`: gender: accuracy of man minus that of woman is -0.2 [-0.4, 0.1] n=50"


def test_without_perturbations_there_is_no_section_about_them() -> None:
    assert "perturbations" not in as_markdown(run(outcome()))


def test_everything_that_makes_a_run_red_is_counted_in_the_heading_and_has_a_sentence() -> None:
    best = "max(accuracy over strategy) >= 0.9"
    picked, kept = verdict(best, "FAIL", "triage@m: max of 2: under"), verdict(best, reason="points@m: kept")
    faults = (
        fault("b@m", "setup", "puma: no prompt"),
        fault("c@m", "crash", "worker 'gw0' crashed"),
        fault("d@m", "call", "assert 0.25 > 0.9"),
    )
    outcomes = (outcome(verdicts=(MISSED,), node_id="t.py::a"), outcome("d@m", node_id="t.py::d"))
    text = as_markdown(run(*outcomes, verdicts=(picked, kept), faults=faults, problems=("e did not arrive",)))

    heading = (
        "1 of 4 cells missed a gate, 1 gate on several cells missed, 2 errors, 1 test failed, 1 problem of the run"
    )
    assert text.startswith(f"### puma: {heading}\n")
    assert [line for line in text.splitlines() if line.startswith("- ")] == [
        "- **FAIL** `triage-zero_shot@m`: accuracy is under 0.9",
        "- **FAIL** `triage@m`: max of 2: under",
        "- **ERROR** `b@m`: puma: no prompt",
        "- **ERROR** `c@m`: worker 'gw0' crashed",
        "- **FAILED** `d@m`: assert 0.25 > 0.9",
        "- **FAIL** e did not arrive",
        "- pass: `points@m`: kept",
    ]


def test_the_change_since_the_baseline_is_shown_also_where_the_gate_is_kept() -> None:
    kept = verdict("accuracy >= baseline - 0.3", change=change())
    text = as_markdown(run(outcome(verdicts=(kept,))))
    header, _, row = text.partition("#### change since the baseline\n\n")[2].splitlines()

    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert [cell.strip() for cell in header.strip("|").split("|")][:3] == ["cell", "gate", "metric"]
    assert cells[:3] == ["`triage-zero_shot@m`", "accuracy >= baseline - 0.3", "accuracy"]
    assert cells[3:] == ["50", "0.66", "0.46", "-0.2", "[-0.4, 0.1]", "PASS"]


def test_a_warning_of_several_cells_appears_once_with_their_number() -> None:
    names = ("a-s@m", "b-s@m", "c-s@m")
    cells = [outcome(name, warnings=(f"{name}: no chat template", f"{name}: of {name}")) for name in names]
    warnings = [line for line in as_markdown(run(*cells)).splitlines() if "warning" in line]
    each = [f"- warning: `{name}`: of `{name}`" for name in names]
    assert warnings == ["- warning: `a-s@m` and 2 more: no chat template", *each]


def test_nothing_of_the_data_is_an_image_a_mention_or_a_link() -> None:
    marked = flip("![x](http://e.com) @team", gold="a\n| b |", old="#12", new="<b>")
    (row,) = [line for line in as_markdown(run(outcome(flips=(marked,)))).splitlines() if "team" in line]
    assert " ".join(row.split()) == r"| `![x](http://e.com)` `@team` | a \| b \| | `#12` | \<b> | worse |"


def test_a_long_run_fits_into_a_comment_and_says_what_is_left_out() -> None:
    flips = tuple(flip(f"sample-{number}") for number in range(20))
    wordy = verdict(status="FAIL", reason="accuracy " + "x" * 991)
    cells = [outcome(f"triage-zero_shot@m{number}", flips=flips, verdicts=(wordy,)) for number in range(60)]
    text = as_markdown(run(*cells))

    assert len(text) < 65_536
    assert "\n- and 36 more lines, which other reports have\n" in text
    shown = text.count("<details>")
    assert 0 < shown < 60
    sentence = (
        f"The changed answers of {60 - shown} cells are left out, as a comment is limited; other reports have them."
    )
    assert text.endswith(f"\n\n{sentence}\n")
