"""The wheel as a user gets it: unpacked away from this repository, in an empty folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.test_own_scenario import MOOD, TEST

REPOSITORY = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("cold")

BUILT_IN = """
import pytest

@pytest.mark.parametrize("nothing", [0])
@pytest.mark.puma("triage_jira", strategies=["few_shot_3"], samples=3)
def test_triage(puma, nothing):
    assert len(puma.predictions) == 3

@pytest.mark.puma("estimation_tawos", strategies=["rcoif"], samples=3)
def test_points(puma):
    assert len(puma.predictions) == 3

@pytest.mark.puma("prioritization_jira", strategies=["cot_few_shot"], samples=3)
def test_pairs(puma):
    assert len(puma.predictions) == 3

@pytest.mark.puma("capitals", strategies=["few_shot_3"], samples=3)
def test_capitals(puma):
    assert len(puma.predictions) == 3
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's content, and nothing else of ours."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(REPOSITORY)], folder)
    (wheel,) = folder.glob("*.whl")
    _run([*pip, "install", "--no-deps", "--no-compile", "--target", str(folder / "site"), str(wheel)], folder)
    return folder / "site"


def _run(command: list[str], folder: Path, **environment: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own command
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _pytest(installed: Path, folder: Path, model: Path, *arguments: str) -> str:
    # In front of the editable install of this repository. The run of two lines loads scikit-learn.
    command = [sys.executable, "-m", "pytest", f"--puma-model={model}", "--puma-max-tokens=8", "-p", "no:cacheprovider"]
    command += ["-o", "puma_naive_baselines=false"]
    return _run([*command, *arguments], folder, PYTHONPATH=str(installed))


def test_the_wheel_is_what_runs(installed: Path, tmp_path: Path) -> None:
    code = "from pytest_puma.platform.bundled import bundled_folder; print(bundled_folder('data'))"
    output = _run([sys.executable, "-c", code], tmp_path, PYTHONPATH=str(installed))
    assert output.strip() == str(installed / "pytest_puma" / "bundled" / "data")


def test_the_built_in_scenarios_run_in_an_empty_folder(installed: Path, tmp_path: Path, gguf: Path) -> None:
    (tmp_path / "test_built_in.py").write_text(BUILT_IN, encoding="utf-8")
    output = _pytest(installed, tmp_path, gguf)
    assert "4 passed" in output
    assert "triage_jira: data/jira_balanced_200.csv" in output
    assert "capitals: data/capitals.jsonl" in output


def test_a_users_own_scenario_runs_beside_it(installed: Path, tmp_path: Path, gguf: Path) -> None:
    source = MOOD + TEST.replace("accuracy >= 0.5", "overflow_rate <= 0")
    (tmp_path / "test_mood.py").write_text(source, encoding="utf-8")
    prompts = tmp_path / "prompts" / "mood"
    prompts.mkdir(parents=True)
    (prompts / "zero_shot.jinja").write_text("{{ text }}", encoding="utf-8")
    shots = "{% for each in examples %}{{ each.text }} {{ each.gold_label }}{% endfor %} {{ text }}"
    (prompts / "few_shot.jinja").write_text(shots, encoding="utf-8")
    assert "2 passed" in _pytest(installed, tmp_path, gguf)


def test_the_wheel_holds_no_tests_and_no_tools(installed: Path) -> None:
    names = {path.name for path in installed.iterdir()}
    assert names & {"tests", "tools", "benchmarks", "prompts", "data"} == set()


def test_two_lines_run_on_the_bundled_model(installed: Path, tmp_path: Path) -> None:
    two_lines = 'import pytest; pytestmark = pytest.mark.puma("triage_jira")\ndef test_it(puma): pass\n'
    (tmp_path / "test_two_lines.py").write_text(two_lines, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--puma-report=html:report.html"]
    command += ["--puma-samples=4"]
    output = _run(command, tmp_path, PYTHONPATH=str(installed))
    assert "4 passed" in output
    assert "on the bundled demonstration model puma-tiny" in output
    viewer = installed / "pytest_puma" / "report" / "page" / "viewer.js"
    assert viewer.read_text(encoding="utf-8") in (tmp_path / "report.html").read_text(encoding="utf-8")
