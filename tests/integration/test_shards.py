"""A run in parts, each in a project of its own, and the whole that their answers make."""

from __future__ import annotations

import pytest

from pytest_puma.cli import main
from pytest_puma.evaluation import conversations
from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.untimed import untimed

BENCHMARK = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "egi", "option_scoring"], samples=12,
                  gates=["accuracy >= 0", "max(accuracy over strategy) >= 0"])
def test_triage(puma):
    pass
"""
#: Cells of two and of three blocks, if a block has seven conversations.
LARGE = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["egi"], samples=9, perturb=["typos_5pct"], max_tokens=12,
                  gates=["accuracy >= 0", "max(accuracy over strategy) >= 0"])
def test_turns(puma):
    pass

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=5, repeats=3, temperature=0.7, max_tokens=12)
def test_repeats(puma):
    pass
"""
BLOCKS_OF_SEVEN = """
from pytest_puma.evaluation import conversations

conversations.MAX_CONCURRENT = 7
"""


def test_merged_parts_equal_one_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write(test_triage=BENCHMARK)
    home = project.pytester.path
    project.run("-o", "puma_store_path=whole.sqlite", "--puma-report=json:whole.json")
    shards = [f"shard-{number}.sqlite" for number in (1, 2)]
    for number, shard in enumerate(shards, start=1):
        result = project.run(f"--puma-shard={number}/2", "-o", f"puma_store_path={shard}")
        assert result.ret == 0
        result.stdout.fnmatch_lines(["not run: *: a shard is a part of a run; merge the stores of all shards, then*"])
    monkeypatch.chdir(home)
    assert main(["store", "merge", *shards]) == 0
    merged = project.run("--puma-offline", "--puma-report=json:merged.json")
    merged.assert_outcomes(passed=3)
    assert untimed(home / "merged.json") == untimed(home / "whole.json")


@pytest.fixture
def cut(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with large cells, in its workers too."""
    monkeypatch.setattr(conversations, "MAX_CONCURRENT", 7)
    project.write(conftest=BLOCKS_OF_SEVEN, test_large=LARGE)
    return project


@ONE_PROCESS
@pytest.mark.parametrize("parts", [2, 3, 9])
def test_merged_blocks_equal_one_run(cut: Project, parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    home = cut.pytester.path
    cut.run("-o", "puma_store_path=whole.sqlite", "--puma-report=json:whole.json").assert_outcomes(passed=3)
    shards = [f"shard-{number}.sqlite" for number in range(1, parts + 1)]
    cells = 0
    for number, shard in enumerate(shards, start=1):
        result = cut.run(f"--puma-shard={number}/{parts}", "-o", f"puma_store_path={shard}")
        assert result.ret == 0
        cells += sum(result.parseoutcomes().get(outcome, 0) for outcome in ("passed", "skipped"))
    assert 3 < cells <= 7
    monkeypatch.chdir(home)
    assert main(["store", "merge", *[shard for shard in shards if (home / shard).exists()]]) == 0
    cut.run("--puma-offline", "--puma-report=json:merged.json").assert_outcomes(passed=3)
    assert untimed(home / "merged.json") == untimed(home / "whole.json")


def test_a_part_of_a_cell_is_kept_but_not_judged(cut: Project) -> None:
    result = cut.run("--puma-shard=1/9", "-rs")
    assert result.ret == 0
    assert (result.parseoutcomes()["skipped"], "passed" in result.parseoutcomes()) == (1, False)
    result.stdout.fnmatch_lines(["SKIPPED*egi@tiny: computed 7 of its conversations for the store*not judged*"])


def test_a_shard_without_cells_passes(scripted: Project) -> None:
    scripted.write(test_triage=BENCHMARK)
    result = scripted.run("--puma-shard=2/40")
    assert result.ret == 0
    assert "passed" not in result.parseoutcomes()


@ONE_PROCESS
def test_a_missing_part_is_named(project: Project) -> None:
    project.write(test_triage=BENCHMARK)
    project.run("--puma-shard=1/3").assert_outcomes(passed=1, deselected=2)
    result = project.run("--puma-offline")
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(["*triage_jira-option_scoring@tiny: no answers are kept of it*"])


@ONE_PROCESS
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--puma-shard=3/2"], "*--puma-shard: found '3/2'; expected I/N with I from 1 to N, such as 2/4*"),
        (["--puma-shard=1/2", "--puma-store=off"], "*would lose the answers of the shard*"),
        (["--puma-shard=1/2", "--puma-offline"], "*--puma-shard and --puma-offline: a shard computes a part of a run*"),
        (["--puma-shard=1/2", "--puma-update-baseline"], "*--puma-shard and --puma-update-baseline: a shard*"),
    ],
)
def test_what_needs_the_whole_is_refused(scripted: Project, arguments: list[str], message: str) -> None:
    result = scripted.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
