"""Wrong declarations of a scenario: a collection error with one sentence, before any model is asked."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Project

PLANTS = """
from pytest_puma import FileScenario, Scenario

class Plants(FileScenario):
    name = "plants"
    task_type = "classification"
    data = "plants.csv"
    text_fields = ("text",)
    label_column = "kind"

    def valid_labels(self):
        return ["Pest", "Care"]

    def parse_response(self, response):
        return response
"""
ROWS = "text,kind,source,minutes\nHoles in leaves,Pest,web,5\nWhen to water,Care,shop,2\n"
#: The body of a class that inherits from `Plants`, and the sentence about it.
CLASSES = {
    "numbers as labels": (
        "def valid_labels(self): return [1, 2]",
        "puma: test_*.py::test_it: Garden: valid_labels() is [[]1, 2]; expected a list of texts: write [[]'1', '2']",
    ),
    "numbers to choose from": (
        "task_type = 'regression'\n    def valid_labels(self): return [1, 2]",
        "*Garden: valid_labels() is [[]1, 2]; expected a list of texts: write [[]'1', '2']",
    ),
    "a scale by a word": ("ordered = 'yes'", "*Garden: ordered is 'yes'; expected True or False"),
    "a lone stop": ("stop = 'es'", "*Garden: stop is the text 'es', which Python reads letter by letter; *('es',)"),
    "a lone hidden field": (
        "def hidden_fields(self): return 'source'",
        "*Garden: hidden_fields() is the text 'source', which Python reads letter by letter; *('source',)",
    ),
    "a misspelt hidden field": (
        "name = 'leaky'\n    def hidden_fields(self): return ('sourc',)",
        "*leaky: hidden_fields() has 'sourc', which no row has; did you mean 'source'[?] the rows have: text, kind, *",
    ),
    "no parser": ("parse_response = Scenario.parse_response", "*Garden: no method parse_response(self, response); *"),
    "a parser of nothing": (
        "def parse_response(self): return None",
        "*Garden: found parse_response(self); expected parse_response(self, response)",
    ),
    "no column of labels": ("label_column = None", "*Garden: label_column is None; expected the name of the column *"),
    "no file": ("name = 'lost'\n    data = None", "*scenario 'lost': data is None; expected one file*"),
    "no values to choose from": (
        "name, task_type, label_column = 'open', 'regression', 'minutes'\n    def valid_labels(self): return []",
        "*open: valid_labels() is [[][]], and option_scoring compares its values; return them, or name *",
    ),
    "metrics in a set": ("def metrics(self): return {len}", "*Garden: metrics() is {*}; expected a dictionary of *"),
    "a metric of single predictions": (
        "def metrics(self): return {'over': lambda sample, prediction: 1}",
        "*Garden: metrics(): 'over' is a function of (sample, prediction); expected a function of a list of *",
    ),
}


def test_a_wrong_declaration_is_a_collection_error(alone: Project) -> None:
    alone.write(plants=PLANTS)
    (alone.pytester.path / "plants.csv").write_text(ROWS, encoding="utf-8")
    marked = "@pytest.mark.puma(Garden, strategies=['option_scoring'], samples=2)\ndef test_it(puma): pass\n"
    for number, (body, _) in enumerate(CLASSES.values()):
        head = "import pytest\nfrom plants import Plants, Scenario\n\nclass Garden(Plants):\n"
        alone.write(**{f"test_{number}": f"{head}    {body}\n\n{marked}"})
    folder = alone.pytester.path / "prompts"
    for name in ("plants", "leaky", "open"):
        (folder / name).mkdir(parents=True)
        (folder / name / "zero_shot.jinja").write_text("{{ text }} {{ labels }}", encoding="utf-8")
    result = alone.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(errors=len(CLASSES))
    for _, sentence in CLASSES.values():
        result.stdout.fnmatch_lines_random([sentence])
    result.stdout.no_fnmatch_line("*pytest_puma/*")


HOOKS = {
    "return Plants": "*hook pytest_puma_scenarios: found <class 'conftest.Plants'>; expected a list: write [[]Plants]*",
    "return 'plants'": "*hook pytest_puma_scenarios: found 'plants'; expected a list*",
    "return [Bare]": "*Bare: no method parse_response(self, response); define it in the class*",
    "return [Nameless]": "*Nameless: the scenario's name is None; expected letters, digits and '_'*",
}
CONFTEST = """
class Bare(Plants):
    name = "bare"
    parse_response = Scenario.parse_response

class Nameless(Plants):
    name = None

def pytest_puma_scenarios():
"""


@pytest.mark.parametrize("body", HOOKS)
def test_a_hook_returns_a_list_of_classes_that_can_be_made(alone: Project, body: str) -> None:
    alone.write(conftest=f"{PLANTS}{CONFTEST}    {body}\n", test_it="def test_it(): pass")
    result = alone.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([HOOKS[body]])
    result.stderr.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize("hook", ["strategies", "perturbations", "metrics"])
def test_every_hook_returns_a_list(alone: Project, hook: str) -> None:
    alone.write(conftest=f"def pytest_puma_{hook}():\n    return len\n", test_it="def test_it(): pass")
    result = alone.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*hook pytest_puma_{hook}: found <built-in function len>; expected a list*"])
