"""docs/reference/store.md against the code."""

from __future__ import annotations

import argparse
import re
import shlex
from typing import Any

import pytest
import yaml

from pytest_puma.cli import main
from pytest_puma.cli.store import declare
from pytest_puma.planning.storage import MEGABYTES, MODES, RESPONSES
from pytest_puma.session.settings.options import OPTIONS
from tests.docs.reference import ROOT, example, names_in, table

PAGE = (ROOT / "docs" / "reference" / "store.md").read_text(encoding="utf-8")


def test_the_table_of_modes_is_complete() -> None:
    rows = [row[0] for row in table("`--puma-store`")]
    assert tuple(name for row in rows for name in names_in(row)) == MODES
    assert "`mix` (default)" in rows[0]


def test_the_table_of_commands_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["store", "--help"])
    commands = re.findall(r"^    (\w+) +\w", capsys.readouterr().out, re.MULTILINE)
    assert [name.split()[0] for row in table("`pytest-puma store`") for name in names_in(row[0])] == commands
    assert str(RESPONSES) in PAGE
    assert f"N megabytes ({MEGABYTES})" in PAGE


def test_the_commands_of_the_page_can_be_read() -> None:
    parser = argparse.ArgumentParser()
    declare(parser.add_subparsers())
    lines = re.findall(r"^\$ pytest-puma (.*)$", PAGE, re.MULTILINE)
    assert lines
    for line in lines:
        parser.parse_args(shlex.split(line))


def test_the_workflow_installs_everything_but_llama_cpp_and_uses_options_that_exist() -> None:
    workflow: dict[str, Any] = yaml.safe_load(example("yaml", name=".github/workflows/benchmarks.yml"))
    steps = workflow["jobs"]["judge"]["steps"]
    (install,) = (
        step["run"] for step in steps if "--no-deps" not in step.get("run", "") and "pip" in step.get("run", "")
    )
    project = (
        (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("\ndependencies = [")[2].partition("\n]")[0]
    )
    needed = set(re.findall(r'^ *"([a-z0-9-]+)', project, re.MULTILINE)) - {"llama-cpp-python", "tomli"}
    assert {re.split("[<>=]", name)[0] for name in shlex.split(install)[2:]} == needed
    runs = " ".join(step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"])
    assert set(re.findall(r"--puma-[\w-]+", runs)) <= set(OPTIONS)
    paths = {
        step["with"]["path"]
        for job in workflow["jobs"].values()
        for step in job["steps"]
        if "path" in step.get("with", {})
    }
    assert paths == {str(RESPONSES)}
