"""`pytest-puma compare`, in each of its formats."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.baseline.folder import Baselines
from pytest_puma.cli import main
from pytest_puma.core import Outcome
from tests.factories import entry
from tests.runs.runs import MAIN, keep, triaged

CELL = "triage_jira-zero_shot@script"


def by_length(prompt: str) -> str:
    return ("Major", "Minor", "Critical")[len(prompt) % 3]


@pytest.fixture(scope="module")
def cells() -> tuple[list[Outcome], list[Outcome]]:
    gate = ("accuracy >= 0.1",)
    old = [triaged(samples=40, gates=gate), triaged(strategy="egi"), triaged(strategy="one_shot")]
    new = [triaged(by_length, samples=40, gates=gate), triaged(strategy="egi"), triaged(strategy="few_shot_3")]
    return old, new


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: tuple[list[Outcome], list[Outcome]]) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    old, new = cells
    keep(tmp_path, "20261101T100000-1", old)
    keep(tmp_path, "20261102T100000-1", new, invocation=replace(MAIN, branch="feature"))
    return tmp_path


def output(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert main(["compare", *arguments]) == status
    captured = capsys.readouterr()
    return captured.out if status == 0 else captured.err


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("names", [("1", "2"), ("main", "last"), ("last~1", "feature"), ("20261101", "20261102")])
def test_the_table_has_changes_alone(capsys: pytest.CaptureFixture[str], names: tuple[str, str]) -> None:
    title, header, _, *rows = output(capsys, *names).splitlines()
    assert title == "run 2 against run 1"
    assert re.split("  +", header.strip()) == [
        *("cell", "metric", "n", "was", "is", "change", "95 % interval", "worse", "better", "test", "p", "Holm"),
    ]
    cells = [re.split("  +", row.strip()) for row in rows[:2]]
    assert [row[:3] for row in cells] == [[CELL, "f1_macro", "40"], ["", "accuracy", "40"]] or [
        row[:3] for row in cells
    ] == [[CELL, "f1_macro", "40"], [CELL, "accuracy", "40"]]
    assert rows[2:] == [
        "1 of 2 cells have the same answers in both runs",
        "Holm: over 3 tests, 1 of them without a difference",
        "only in run 1: 1 cell: triage_jira-one_shot@script",
        "only in run 2: 1 cell: triage_jira-few_shot_3@script",
    ]


def test_a_run_with_the_same_answers_is_one_line(
    root: Path, capsys: pytest.CaptureFixture[str], cells: tuple[list[Outcome], list[Outcome]]
) -> None:
    keep(root, "20261103T100000-1", cells[1], invocation=replace(MAIN, branch="feature"))
    assert output(capsys, "last~1", "last").splitlines() == [
        "run 3 against run 2",
        "no difference: run 3 and run 2 have the same answers in 3 cells",
    ]


def test_a_branch_means_the_run_before_the_one_that_is_compared(
    root: Path, capsys: pytest.CaptureFixture[str], cells: tuple[list[Outcome], list[Outcome]]
) -> None:
    keep(root, "20261103T100000-1", cells[1])
    assert output(capsys, "main", "last").startswith("run 3 against run 1\n")


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("names", [("last", "2"), ("feature", "last")])
def test_a_run_is_never_compared_with_itself(capsys: pytest.CaptureFixture[str], names: tuple[str, str]) -> None:
    problem = "is run 2 itself, which is to be compared; expected another run, such as last~1"
    assert output(capsys, *names, status=2) == f"pytest-puma: RUN {names[0]!r}: {problem}\n"


@pytest.mark.usefixtures("root")
def test_flips_are_shown_on_request(
    capsys: pytest.CaptureFixture[str], cells: tuple[list[Outcome], list[Outcome]]
) -> None:
    assert "flips" not in output(capsys, "1", "2")
    flips = output(capsys, "1", "2", "--flips").partition(f"flips of {CELL}: ")[2].splitlines()
    old, new = ({each.sample_id: each.answer == each.gold for each in side[0].predictions} for side in cells)
    worse, better = (sorted(name for name in old if (old[name], new[name]) == pair) for pair in ((1, 0), (0, 1)))
    assert flips[0] == f"{len(worse)} worse, {len(better)} better"
    named = [re.split(r"[\s:]+", line.strip())[:2] for line in flips[1:]]
    assert sorted(name for word, name in named if word == "worse") == worse
    assert sorted(name for word, name in named if word == "better") == better


@pytest.mark.usefixtures("root")
def test_markdown_is_for_a_comment_on_a_pull_request(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "1", "2", "--format", "md", "--flips", "--cells", "*zero_shot*")
    assert text.startswith("### puma: run 2 against run 1\n\n| cell ")
    assert f"| `{CELL}` | accuracy | 40" in " ".join(text.split())
    assert "Holm" not in text.partition("|\n\n")[2]
    assert f"<details><summary>{CELL}: " in text


@pytest.mark.usefixtures("root")
def test_the_tests_that_the_table_hides_can_be_counted(capsys: pytest.CaptureFixture[str]) -> None:
    contrasts = [each["contrasts"] for each in json.loads(output(capsys, "1", "2", "--format", "json"))["cells"]]
    tests = [each for cell in contrasts for each in cell]
    smallest = min(tests, key=lambda each: float(each["p"]))
    assert (len(tests), len(contrasts[1])) == (3, 1)
    assert smallest["adjusted"] == min(1.0, 3 * smallest["p"])
    markdown = output(capsys, "1", "2", "--format", "md")
    assert "\n- Holm: over 3 tests, 1 of them without a difference\n" in markdown


@pytest.mark.usefixtures("root")
def test_json_has_all_digits(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(output(capsys, "1", "2", "--format", "json"))
    assert (data["old"], data["new"], data["only_new"]) == ("run 1", "run 2", ["triage_jira-few_shot_3@script"])
    contrast = data["cells"][0]["contrasts"][0]
    assert {"change", "p", "adjusted", "test", "tests"} < contrast.keys()
    assert [contrast["change"][name] for name in ("new_parse_failures", "fixed_parse_failures")] == [None, None]


def test_a_baseline_is_the_older_side(
    root: Path, capsys: pytest.CaptureFixture[str], cells: tuple[list[Outcome], list[Outcome]]
) -> None:
    by_run = json.loads(output(capsys, "1", "2", "--format", "json"))["cells"][0]["contrasts"]
    assert "no folder" in output(capsys, "baseline", "last", status=2)
    Baselines(root / "benchmarks" / "baselines").write([entry(each) for each in cells[0]])
    by_baseline = json.loads(output(capsys, "baseline", "last", "--format", "json"))["cells"][0]["contrasts"]
    assert [each["change"] for each in by_baseline] == [each["change"] for each in by_run]
    (root / "kept").mkdir()
    (root / "benchmarks" / "baselines").rename(root / "kept" / "baselines")
    (root / "pytest.ini").write_text("[pytest]\npuma_baselines = kept/baselines\n", encoding="utf-8")
    assert output(capsys, "baseline", "1").splitlines()[-1].startswith("no difference: run 1 and the baseline have")


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["1", "9"], "RUN '9': no such run; expected a number, a name or its beginning, last, last~2, a commit or a"),
        (["mian", "2"], "RUN 'mian': no such run; did you mean 'main'? expected a number"),
        (["1", "baseline"], "compare: B is 'baseline'; expected a run: pytest-puma compare baseline RUN"),
        (["1", "2", "--cells", "x*"], f"--cells 'x*': matches no cell; there are: {CELL}, "),
        (["baseline", "2", "--baselines", "b"], "compare baseline: no folder b; create it with pytest"),
    ],
)
def test_a_mistake_is_one_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], fault: str) -> None:
    assert output(capsys, *arguments, status=2).startswith(f"pytest-puma: {fault}")


@pytest.mark.usefixtures("root")
def test_an_unknown_format_is_a_mistake_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "1", "2", "--format", "xml"])
    assert "invalid choice: 'xml'" in capsys.readouterr().err


def test_texts_of_answers_cannot_act(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    evil = "x\x1b[2J\x9b\u202e<script>alert(1)</script>|`@all"
    old, new = triaged(), triaged(by_length)
    renamed = [
        replace(each, predictions=tuple(replace(p, sample_id=f"{p.sample_id}{evil}") for p in each.predictions))
        for each in (old, new)
    ]
    for name, outcome in zip(("20261101T100000-1", "20261102T100000-1"), renamed, strict=True):
        keep(tmp_path, name, [outcome])
    assert "\x1b" not in output(capsys, "1", "2", "--flips")
    assert output(capsys, "1", "2", "--format", "json").isascii()
    markdown = output(capsys, "1", "2", "--flips", "--format", "md")
    assert "\x1b" not in markdown
    assert "<script>" not in markdown.replace("\\<script>", "")
