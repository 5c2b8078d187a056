"""Unknown ini keys and options: exit 4, and the name that is probably meant."""

from __future__ import annotations

import pytest

from tests.integration.conftest import SCRIPTED, TRIAGE, Project

#: The same misspelt key in each file that pytest reads.
FILES = {
    "pytest.ini": "[pytest]\nKEY = accuracy >= 0.99\n",
    "tox.ini": "[pytest]\nKEY = accuracy >= 0.99\n",
    "setup.cfg": "[tool:pytest]\nKEY = accuracy >= 0.99\n",
    "pyproject.toml": "[tool.pytest.ini_options]\nKEY = ['accuracy >= 0.99']\n",
    "native pyproject.toml": "[tool.pytest]\nKEY = ['accuracy >= 0.99']\n",
    "pytest.toml": "[pytest]\nKEY = ['accuracy >= 0.99']\n",
}
KEYS = {
    "puma_gate": "did you mean 'puma_gates'? there are: puma_models, ",
    "puma_modles": "did you mean 'puma_models'? there are: ",
    "PUMA_GATES": "did you mean 'puma_gates'? there are: ",
    "puma-gates": "did you mean 'puma_gates'? there are: ",
    "puma_x": "there are: puma_models, ",
}
#: Another plugin's names that begin as ours do.
OTHERS = """
def pytest_addoption(parser):
    parser.addoption("--puma-colour")
    parser.addini("puma_colour", "", default="")
"""


@pytest.mark.parametrize("file", FILES)
def test_a_misspelt_ini_key_ends_the_run(project: Project, file: str) -> None:
    path = project.pytester.path / file.removeprefix("native ")
    (project.pytester.path / "tox.ini").unlink()
    path.write_text(FILES[file].replace("KEY", "puma_gate"), encoding="utf-8")
    project.write(test_triage=TRIAGE, conftest=SCRIPTED)
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: puma: {path}: the ini key 'puma_gate' is unknown; {KEYS['puma_gate']}*"])


@pytest.mark.parametrize("table", ["ini_option", "ini-options", "puma"])
def test_a_table_that_pytest_does_not_read_ends_the_run(alone: Project, table: str) -> None:
    """With this misspelt name of a table pytest runs without any of its keys."""
    path = alone.pytester.path / "pyproject.toml"
    (path.parent / "tox.ini").unlink()
    path.write_text(f"[tool.pytest.{table}]\npuma_gates = ['accuracy >= 0.99']\n", encoding="utf-8")
    alone.write(test_triage=TRIAGE)
    result = alone.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    fault = f"the table '{table}' is none of pytest's, so that puma_gates in it has no effect; expected [[]tool.pytest]"
    result.stderr.fnmatch_lines([f"ERROR: puma: {path}: {fault}"])


@pytest.mark.parametrize("key", KEYS)
def test_so_does_one_of_the_command_line_even_without_a_benchmark(alone: Project, key: str) -> None:
    alone.write(test_plain="def test_plain(): pass")
    result = alone.run("-o", f"{key}=accuracy >= 0.99", model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: puma: -o: the ini key '{key}' is unknown; {KEYS[key]}*"])


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("--puma-modle=a.gguf", "did you mean '--puma-model'? "),
        ("--puma_model=a.gguf", "did you mean '--puma-model'? "),
        ("--puma-gates", "did you mean '--puma-gate'? "),
        ("--puma-x", ""),
    ],
)
def test_a_misspelt_option_is_named_with_the_nearest(project: Project, option: str, hint: str) -> None:
    project.write(test_triage=TRIAGE, conftest=SCRIPTED)
    result = project.run(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    name = option.partition("=")[0]
    result.stderr.fnmatch_lines([f"ERROR: puma: {name}: no such option; {hint}there are: --puma-model, *"])


def test_names_that_another_plugin_declares_are_known(project: Project) -> None:
    project.write(test_triage=TRIAGE, conftest=SCRIPTED + OTHERS)
    project.run("--puma-colour", "red", "-o", "puma_colour=red").assert_outcomes(passed=1)
    project.run("--puma-colour=red").assert_outcomes(passed=1)
