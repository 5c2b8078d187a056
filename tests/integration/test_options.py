import json
from hashlib import sha256

import pandas as pd

from tests.integration.conftest import INI, SCRIPTED, TRIAGE, Project

TICKETS = """
import pytest
from pytest_puma import FileScenario

class Tickets(FileScenario):
    name = "tickets"
    task_type = "classification"
    data = "tickets.csv"
    key = "id"
    text_fields = ("text",)
    label_column = "priority"

    def valid_labels(self):
        return ["Major", "Minor"]

    def parse_response(self, response):
        return response

@pytest.mark.puma(Tickets, strategies=["zero_shot"], samples=2)
def test_tickets(puma):
    pass
"""


def _issues(count: int) -> pd.DataFrame:
    labels = ["critical", "MAJOR", "Minor", "Trivial"]
    rows = [(f"OWN-{n}", f"Thing {n} breaks", f"It breaks on day {n}.", labels[n % 4]) for n in range(count)]
    return pd.DataFrame(rows, columns=["Issue key", "Summary", "Description", "Priority"])


def test_own_csv_jsonl_and_parquet_give_the_same_predictions(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    folder, issues = alone.pytester.path, _issues(40)
    issues.to_csv(folder / "mine.csv", index=False)
    issues.to_json(folder / "mine.jsonl", orient="records", lines=True)
    issues.to_parquet(folder / "mine.parquet")
    result = []
    for name in ("mine.csv", "mine.jsonl", "mine.parquet"):
        alone.run(f"--puma-data=triage_jira={name}").assert_outcomes(passed=1)
        assert alone.record()["outcomes"][0]["signature"]["data"]["file"] == name
        result.append(alone.predictions())
        (folder / ".puma").rename(folder / f"puma-{name}")
    assert result[0] == result[1] == result[2]
    assert result[0][0]["sample_id"].startswith("OWN-")


def test_a_scenario_of_a_test_file_takes_own_data_by_its_name(project: Project) -> None:
    prompts = project.pytester.path / "prompts" / "tickets"
    prompts.mkdir(parents=True)
    (prompts / "zero_shot.jinja").write_text("{{ text }}", encoding="utf-8")
    (project.pytester.path / "mine.csv").write_text("id,text,priority\n1,a,Major\n2,b,Minor\n", encoding="utf-8")
    project.write(conftest=SCRIPTED, test_tickets=TICKETS, test_triage=TRIAGE)
    project.run("--puma-data=tickets=mine.csv", "-k", "tickets").assert_outcomes(passed=1)
    assert project.record()["outcomes"][0]["signature"]["data"]["file"] == "mine.csv"

    unknown = (
        "puma: --puma-data ticket=*mine.csv: no collected test has the scenario 'ticket'; did you mean 'tickets'? "
    )
    for part in ([], ["test_tickets.py"]):
        result = project.run("--puma-data=ticket=mine.csv", "--puma-data=tickets=mine.csv", *part)
        assert result.ret != 0
        result.stdout.fnmatch_lines([f"{unknown}there are: tickets, *"])


def test_data_of_the_ini_file_may_be_those_of_a_test_file_that_is_not_run(alone: Project) -> None:
    (alone.pytester.path / "mine.csv").write_text("id,text,priority\n1,a,Major\n", encoding="utf-8")
    alone.pytester.makeini(f"{INI}puma_data = tickets=mine.csv\n")
    alone.write(test_triage=TRIAGE)
    alone.run("test_triage.py").assert_outcomes(passed=1)
    whole = alone.run(model=False)
    whole.stdout.fnmatch_lines(["puma: --puma-data tickets=*: no collected test has the scenario 'tickets'; *"])


def test_data_that_change_during_a_run_are_named_by_the_digest_of_the_rows_that_were_judged(alone: Project) -> None:
    file = alone.pytester.path / "mine.csv"
    _issues(40).to_csv(file, index=False)
    before = file.read_bytes()
    changes = """
def pytest_collection_finish(session):  # as a checkout of another branch
    path = session.config.rootpath / "mine.csv"
    path.write_text(path.read_text().replace("breaks", "is slow"))
"""
    alone.write(conftest=SCRIPTED + changes, test_triage=TRIAGE)
    result = alone.run("--puma-data=triage_jira=mine.csv")
    result.assert_outcomes(passed=1)
    assert file.read_bytes() != before
    digest = sha256(before).hexdigest()
    assert alone.record()["outcomes"][0]["signature"]["data"] == {"file": "mine.csv", "sha256": digest}
    result.stdout.fnmatch_lines([f"triage_jira: mine.csv (sha256 {digest[:12]})"])


def test_own_data_lend_examples_that_are_not_evaluated(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    _issues(12).to_csv(alone.pytester.path / "mine.csv", index=False)
    alone.run("--puma-data=triage_jira=mine.csv", "--puma-strategy=few_shot_3").assert_outcomes(passed=1)
    result = alone.run("--puma-data=triage_jira=mine.csv", "--puma-strategy=few_shot_3", "--puma-samples=12")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*examples*"])


def test_more_samples_than_rows_run_all_of_them_and_say_so(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    result = alone.run("--puma-samples=5000")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["warning: *5000 samples were requested; the data have 200, all were run"])


def test_scenarios_that_were_not_asked_for_are_deselected(scripted: Project) -> None:
    scripted.write(test_a=TRIAGE, test_b=TRIAGE.replace("triage_jira", "estimation_tawos"), test_c="def test_x(): pass")
    result = scripted.run("--puma-scenario=estimation_tawos")
    result.assert_outcomes(passed=2, deselected=0 if scripted.workers else 1)
    assert {outcome["scenario"] for outcome in scripted.record()["outcomes"]} == {"estimation_tawos"}


def test_the_command_line_wins_over_the_marker_and_the_marker_over_the_ini_file(alone: Project) -> None:
    alone.pytester.makeini("[pytest]\npuma_samples = 3\npuma_seed = 7\npuma_max_tokens = 5")
    alone.write(test_triage=TRIAGE)
    alone.run()
    signature = alone.record()["outcomes"][0]["signature"]
    assert (signature["samples"], signature["seed"], signature["generation"]["max_tokens"]) == (8, 7, 5)
    (alone.pytester.path / ".puma").rename(alone.pytester.path / "first")
    alone.run("--puma-samples=2", "--puma-temperature=0.5")
    signature = alone.record()["outcomes"][0]["signature"]
    assert (signature["samples"], signature["generation"]["temperature"]) == (2, 0.5)


def test_models_and_gates_of_the_ini_file(alone: Project) -> None:
    alone.pytester.makeini(
        f"[pytest]\npuma_models = first={alone.model}\n    second={alone.model},n_ctx=4096\n"
        "puma_gates = *@second: accuracy >= 0.9\n"
    )
    alone.write(test_triage=TRIAGE)
    result = alone.run(model=False)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["accuracy*is under 0.9*"])


def test_a_wrong_ini_value_is_an_error_before_anything_runs(alone: Project) -> None:
    alone.pytester.makeini("[pytest]\npuma_samples = many")
    alone.write(test_triage=TRIAGE)
    result = alone.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*puma_samples*many*"])


def test_native_toml_is_understood(alone: Project) -> None:
    (alone.pytester.path / "tox.ini").unlink()
    toml = "[tool.pytest]\npuma_samples = 3\npuma_temperature = 0.5\npuma_gates = ['accuracy >= 0']\n"
    (alone.pytester.path / "pyproject.toml").write_text(toml, encoding="utf-8")
    alone.write(test_triage=TRIAGE.replace(", samples=8", ""))
    alone.run().assert_outcomes(passed=1)
    outcome = alone.record()["outcomes"][0]
    assert outcome["signature"]["samples"] == 3
    assert outcome["verdicts"][0]["status"] == "PASS"


def test_surrogates_and_control_characters_in_answers_reach_the_record(scripted: Project) -> None:
    scripted.write(
        conftest="""
from pytest_puma.testing import ScriptedBackend

class Odd(ScriptedBackend):
    def piece(self, token):
        return b"" if token == 256 else bytes([token, 0, 255])

def pytest_puma_backend(model):
    return Odd({}, default="Major")
""",
        test_triage=TRIAGE,
    )
    scripted.run().assert_outcomes(passed=1)
    assert json.dumps(scripted.predictions())


def test_a_run_spec_is_a_test_file(scripted: Project) -> None:
    (scripted.pytester.path / "triage.yaml").write_text(
        """
id: smoke
description: A first look.
scenario: triage_jira
sample_size: 6
models: [tiny]
adaptation: {strategy: few_shot, cot: false}
inference: {temperature: 0, seed: 3, max_tokens: 12}
metrics: [accuracy, f1_macro]
gates: ["accuracy >= 0.1"]
""",
        encoding="utf-8",
    )
    result = scripted.run("triage.yaml", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*triage.yaml::test_smoke?triage_jira-few_shot_3@tiny? PASSED*"]
        if not scripted.workers
        else ["*PASSED*triage.yaml::test_smoke?triage_jira-few_shot_3@tiny?*"]
    )
    signature = scripted.record()["outcomes"][0]["signature"]
    assert (signature["samples"], signature["seed"], signature["generation"]["max_tokens"]) == (6, 3, 12)


def test_only_named_yaml_files_and_puma_yaml_files_are_specs(alone: Project) -> None:
    folder = alone.pytester.path
    (folder / "other.yaml").write_text("a: [", encoding="utf-8")
    (folder / "mine.puma.yaml").write_text(
        "scenario: triage_jira\nsample_size: 4\nadaptation: {strategy: zero_shot}\n", encoding="utf-8"
    )
    alone.run().assert_outcomes(passed=1)
    result = alone.run("other.yaml")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*other.yaml*line*"])


def test_a_run_spec_of_another_name_in_a_folder_is_warned_about(alone: Project) -> None:
    folder = alone.pytester.mkdir("specs")
    spec = "scenario: triage_jira\nadaptation: {strategy: [zero-shot]}\nsample_size: 4\n"
    (folder / "smoke.yaml").write_text(spec, encoding="utf-8")
    (folder / "triage.puma.yaml").write_text(spec, encoding="utf-8")
    (folder / "deployment.yaml").write_text("kind: Deployment\nscenario: blue\n", encoding="utf-8")
    result = alone.run("specs", "-Wdefault::pytest.PytestCollectionWarning")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*puma: smoke.yaml looks like a run-spec, *; rename it to smoke.puma.yaml, or *"])
    alone.run("specs/smoke.yaml").assert_outcomes(passed=1, warnings=0)


def test_a_named_run_spec_causes_no_warning_about_its_siblings(alone: Project) -> None:
    folder = alone.pytester.mkdir("specs")
    spec = "scenario: triage_jira\nadaptation: {strategy: [zero-shot]}\nsample_size: 4\n"
    (folder / "smoke.yaml").write_text(spec, encoding="utf-8")
    (folder / "other.yaml").write_text(spec, encoding="utf-8")
    show = "-Wdefault::pytest.PytestCollectionWarning"
    alone.run("specs/smoke.yaml", show).assert_outcomes(passed=1, warnings=0)
    alone.pytester.makeini(f"{INI}\ntestpaths = specs\n")
    alone.run(show).assert_outcomes(passed=0, warnings=2)


def test_a_yaml_file_of_another_plugin_is_left_to_it(alone: Project) -> None:
    (alone.pytester.path / "test_api.tavern.yaml").write_text("stages: []", encoding="utf-8")
    result = alone.run("test_api.tavern.yaml")
    result.stdout.no_fnmatch_line("*puma*tavern*")
    assert "tavern.yaml" in result.stderr.str()
