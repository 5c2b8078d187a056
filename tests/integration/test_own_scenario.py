from tests.integration.conftest import Project

MOOD = """
import pandas as pd
import pytest

from pytest_puma import Scenario


class MoodScenario(Scenario):
    name = "mood"
    task_type = "classification"
    text_fields = ("text",)

    def sample(self, n, seed=42):
        rows = [{"text": f"{number} {mood}", "mood": mood} for number in range(6) for mood in ("good", "bad")]
        return pd.DataFrame(rows[:n])

    def gold_label(self, instance):
        return instance["mood"]

    def parse_response(self, response):
        return next((label for label in self.valid_labels() if label in response), None)

    def valid_labels(self):
        return ["good", "bad"]
"""

TEST = """

@pytest.mark.puma(MoodScenario, strategies=["zero_shot", "few_shot_2"], samples=4, gates=["accuracy >= 0.5"])
def test_mood(puma):
    assert {prediction.gold for prediction in puma.predictions} == {"good", "bad"}
"""

ANSWER = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend(lambda prompt: "good")
"""


def _templates(project: Project) -> None:
    folder = project.pytester.path / "prompts" / "mood"
    folder.mkdir(parents=True)
    (folder / "zero_shot.jinja").write_text("Mood, {{ labels | join(' or ') }}?\n{{ text }}\n", encoding="utf-8")
    shots = "Moods.\n{% for e in examples %}{{ e.text }}: {{ e.gold_label }}\n{% endfor %}\n{{ text }}:\n"
    (folder / "few_shot.jinja").write_text(shots, encoding="utf-8")


def test_one_file_and_a_folder_of_templates_make_a_scenario(alone: Project) -> None:
    alone.write(conftest=ANSWER, test_mood=MOOD + TEST)
    _templates(alone)
    result = alone.run()
    result.assert_outcomes(passed=2)
    assert {outcome["cell"] for outcome in alone.record()["outcomes"]} == {
        "mood-zero_shot@tiny",
        "mood-few_shot_2@tiny",
    }


def test_the_hook_makes_it_known_by_name(scripted: Project) -> None:
    hook = "\ndef pytest_puma_scenarios():\n    return [MoodScenario]\n"
    scripted.write(
        conftest=MOOD + ANSWER + hook,
        test_mood="import pytest\n\n@pytest.mark.puma('mood', strategies=['zero_shot'])\ndef test_mood(puma): pass",
    )
    _templates(scripted)
    result = scripted.run("--puma-scenario=mood")
    result.assert_outcomes(passed=1)


def test_a_projects_own_strategy_runs_under_its_name(alone: Project) -> None:
    strategy = """
from pytest_puma import Answer, Strategy, ask

def terse(task):
    response = yield from ask(task.generate(task.prompt()))
    return Answer(value=task.read(response), responses=(response,))

def pytest_puma_strategies():
    return [Strategy(name="terse", converse=terse, templates=("terse", "zero_shot"))]
"""
    alone.write(conftest=ANSWER.replace("good", "Major") + strategy, test_t=_triage("terse"))
    result = alone.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["triage_jira*terse*tiny*"])


def test_a_projects_own_strategy_begins_the_reply_in_two_phases(alone: Project) -> None:
    strategy = """
from dataclasses import replace

from pytest_puma import Answer, Strategy, ask

def phased(task):
    prompt = task.prompt()
    plan = yield from ask(task.generate(replace(prompt, prefill="Plan:", stop=(",",)), index=0))
    label = yield from ask(task.generate(replace(prompt, prefill=f"Plan:{plan.text}, so it is "), index=1))
    return Answer(value=task.read(label), responses=(plan, label))

def pytest_puma_strategies():
    return [Strategy(name="phased", converse=phased, templates=("zero_shot",))]
"""
    reply = "Plan: look, so it is Minor"
    alone.write(conftest=ANSWER.replace("good", reply) + strategy, test_t=_triage("phased"))
    alone.run().assert_outcomes(passed=1)
    assert {prediction["answer"] for prediction in alone.predictions()} == {"Minor"}
    replies = [turn["text"] for turn in alone.predictions()[0]["turns"]]
    assert replies == [" look", "Minor"]


def test_a_projects_template_wins_over_the_bundled_one(alone: Project) -> None:
    script = "lambda prompt: 'Trivial' if 'Be a pirate' in prompt else 'Major'"
    alone.write(conftest=ANSWER.replace('lambda prompt: "good"', script), test_t=_triage("zero_shot"))
    folder = alone.pytester.path / "prompts" / "triage_jira"
    folder.mkdir(parents=True)
    (folder / "zero_shot.jinja").write_text("Be a pirate.\n{{ title }}", encoding="utf-8")
    alone.run().assert_outcomes(passed=1)
    assert {prediction["answer"] for prediction in alone.predictions()} == {"Trivial"}


def test_a_template_of_another_name_is_a_strategy_without_any_python(alone: Project) -> None:
    script = (
        "lambda prompt: 'Answer: Trivial' if 'By rules' in prompt else 'Critical' if 'Answer:' in prompt else 'Major'"
    )
    alone.write(conftest=ANSWER.replace('lambda prompt: "good"', script), test_t=_triage("rules"))
    folder = alone.pytester.path / "prompts" / "triage_jira"
    folder.mkdir(parents=True)
    (folder / "rules.jinja").write_text(
        "{# strategy: zero_shot_cot #}\nBy rules, ending in an Answer: line.\n{{ title }}", encoding="utf-8"
    )
    gates = ("triage_jira-rules: accuracy >= 0", "rules.accuracy >= zero_shot.accuracy - 1")
    result = alone.run(
        "--puma-strategy=zero-shot,rules", *(f"--puma-gate={gate}" for gate in gates), "--puma-scenario=triage_jira"
    )
    assert result.ret == 0
    answers = {(prediction["cell"], prediction["answer"]) for prediction in alone.predictions()}
    assert answers == {("triage_jira-zero_shot@tiny", "Major"), ("triage_jira-rules@tiny", "Trivial")}


def test_an_own_strategy_without_its_file_names_the_file(alone: Project) -> None:
    folder = alone.pytester.path / "prompts" / "triage_jira"
    folder.mkdir(parents=True)
    expected = f"a strategy of your own needs the file {folder}/checklist.jinja"
    alone.write(test_t=_triage("checklist"))
    alone.run().stdout.fnmatch_lines([f"*strategy 'checklist' is unknown; there are: *; {expected}"])
    (folder / "Checklist.jinja").write_text("{{ title }}", encoding="utf-8")
    sentence = f"*strategy 'checklist' is unknown; {expected}: rename {folder}/Checklist.jinja to it; there are: *"
    alone.run().stdout.fnmatch_lines([sentence])
    alone.write(test_t=_triage("zero_shot"))
    alone.run("--puma-strategy=checklist").stderr.fnmatch_lines([sentence])
    spec = "scenario: triage_jira\nadaptation: {strategy: checklist}\n"
    (alone.pytester.path / "own.puma.yaml").write_text(spec, encoding="utf-8")
    alone.run("own.puma.yaml").stdout.fnmatch_lines([sentence])


def test_the_template_of_a_known_strategy_keeps_its_name(alone: Project) -> None:
    folder = alone.pytester.path / "prompts" / "triage_jira"
    folder.mkdir(parents=True)
    (folder / "zero_shot.jinja").write_text("{{ title }}", encoding="utf-8")
    alone.write(test_t=_triage("zeroshot"))
    alone.run().stdout.fnmatch_lines(["*strategy 'zeroshot' is unknown; did you mean 'zero_shot'? there are: *"])


def test_a_template_strategy_belongs_to_its_scenario(alone: Project) -> None:
    other = "import pytest\n\n@pytest.mark.puma('estimation_tawos')\ndef test_points(puma): pass"
    alone.write(test_t=_triage("zero_shot"), test_points=other)
    folder = alone.pytester.path / "prompts" / "triage_jira"
    folder.mkdir(parents=True)
    (folder / "rules.jinja").write_text("{{ title }}", encoding="utf-8")
    result = alone.run("--puma-strategy=rules")
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*estimation_tawos, strategy rules: no template rules.jinja *; create *rules.jinja"])
    alone.run("--puma-strategy=rules", "--puma-scenario=triage_jira").assert_outcomes(passed=1, deselected=1)
    result = alone.run("--puma-strategy=ruls")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*strategy 'ruls' is unknown; did you mean 'rules'? there are: *"])


def _triage(strategy: str) -> str:
    marker = f"@pytest.mark.puma('triage_jira', strategies=['{strategy}'], samples=4)"
    return f"import pytest\n\n{marker}\ndef test_triage(puma): pass"
