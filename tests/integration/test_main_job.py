from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.integration.conftest import TRIAGE, Project
from tests.processes import run_pytest

EVERYTHING = """
import pytest

@pytest.mark.puma("triage_jira", samples=2)
def test_triage(puma):
    assert len(puma.predictions) == 2

@pytest.mark.puma("estimation_tawos", samples=2)
def test_points(puma):
    assert puma["parse_failure_rate"] <= 1

@pytest.mark.puma("prioritization_jira", samples=2)
def test_pairs(puma):
    assert 0 <= puma["accuracy"] <= 1
"""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory, gguf: Path) -> dict[int, Project]:
    """The three scenarios under all twelve strategies on real llama.cpp, alone; with two workers those of one issue."""
    projects = {}
    for workers in (0, 2):
        folder = tmp_path_factory.mktemp(f"workers{workers}")
        (folder / "test_all.py").write_text(EVERYTHING, encoding="utf-8")
        projects[workers] = _run(folder, gguf, workers, cells={0: 36, 2: 24}[workers])
    return projects


def _run(folder: Path, gguf: Path, workers: int, *, cells: int) -> Project:
    options = ["--puma-strategy=all", "--puma-threads=1", "--puma-max-tokens=8", "-q", "-opuma_naive_baselines=false"]
    options += ["-n", str(workers), "-k", "not pairs"] if workers else ["-p", "no:xdist"]
    assert f"{cells} passed" in run_pytest(folder, f"--puma-model={gguf}", *options)
    return Project(SimpleNamespace(path=folder), gguf, workers)  # type: ignore[arg-type]


def test_all_strategies_run_to_the_end_and_each_sample_has_a_prediction(everything: dict[int, Project]) -> None:
    predictions = everything[0].predictions()
    assert len(predictions) == 36 * 2
    assert {len({p["cell"] for p in predictions})} == {36}


def test_workers_change_no_prediction(everything: dict[int, Project]) -> None:
    with_workers = everything[2].predictions()
    assert len(with_workers) == 24 * 2
    cells = {each["cell"] for each in with_workers}
    assert [each for each in everything[0].predictions() if each["cell"] in cells] == with_workers


def test_the_record_names_data_weights_and_template(everything: dict[int, Project]) -> None:
    outcome = everything[2].record()["outcomes"][0]
    assert outcome["signature"]["data"]["file"].endswith(".csv")
    assert len(outcome["signature"]["data"]["sha256"]) == 64
    assert len(outcome["signature"]["engine"]["weights_sha256"]) == 64
    assert len(outcome["signature"]["template_sha256"]) == 64


def test_the_table_has_a_row_for_each_cell(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE)
    result = scripted.run("--puma-strategy", "zero_shot,option-scoring")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines_random(
        [
            "scenario*strategy*model*n*metric*value*95 % interval*parse failures*tokens*s*verdict*",
            "triage_jira*zero_shot*tiny*8*f1_macro*0.1*",
            "triage_jira*option_scoring*tiny*8*f1_macro*0.1*",
            "triage_jira: data/jira_balanced_200.csv (sha256 *)",
        ]
    )


def test_each_model_is_a_cell_of_its_own(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE)
    result = scripted.run(f"--puma-model=other={scripted.model}", "-k", "triage and zero_shot")
    result.assert_outcomes(passed=2)
    assert {outcome["model"] for outcome in scripted.record()["outcomes"]} == {"tiny", "other"}


def test_collecting_lists_ids_and_loads_no_weights(alone: Project) -> None:
    alone.write(conftest="def pytest_puma_backend(model):\n    raise RuntimeError('loaded')", test_triage=TRIAGE)
    result = alone.run("--collect-only", "-q", "--puma-strategy", "few-shot-3,egi")
    result.stdout.fnmatch_lines(
        [
            "test_triage.py::test_triage?triage_jira-few_shot_3@tiny?",
            "test_triage.py::test_triage?triage_jira-egi@tiny?",
        ]
    )
    assert result.ret == 0
    assert not (alone.pytester.path / ".puma").exists()


def test_the_run_folder_is_hidden_from_git(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run()
    assert (alone.pytester.path / ".puma" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert {"cell", "sample_id", "gold", "answer", "raw"} <= set(alone.predictions()[0])


def test_each_model_is_loaded_once_and_freed_before_the_next(alone: Project) -> None:
    alone.write(
        conftest="""
from pytest_puma.testing import ScriptedBackend

class Loud(ScriptedBackend):
    def __init__(self, name):
        super().__init__({}, default="Major")
        self.name = name
        print("open", name)

    def close(self):
        print("close", self.name)

def pytest_puma_backend(model):
    return Loud(model.name)
""",
        test_a=TRIAGE,
        test_b=TRIAGE.replace("triage_jira", "prioritization_jira"),
    )
    result = alone.run(f"--puma-model=other={alone.model}", "--puma-strategy", "zero_shot,rcoif", "-s")
    result.assert_outcomes(passed=8)
    seen = [line.removeprefix(".") for line in result.outlines if "open " in line or "close " in line]
    events = [line[line.index("open ") if "open " in line else line.index("close ") :] for line in seen]
    assert events in (
        ["open other", "close other", "open tiny", "close tiny"],
        ["open tiny", "close tiny", "open other", "close other"],
    )
