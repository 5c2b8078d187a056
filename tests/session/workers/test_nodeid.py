import pytest

from pytest_puma.session.workers.nodeid import Named, cells_in

MODELS = ("qwen", "qwen-7b", "a@b")


@pytest.mark.parametrize(
    ("nodeid", "cell"),
    [
        ("t.py::test_x[triage_jira-few_shot_3@qwen]", "triage_jira-few_shot_3@qwen"),
        ("t.py::test_x[s-egi+typos_5pct@qwen]", "s-egi+typos_5pct@qwen"),
        ("t.py::test_x[1-s-egi+typos_5pct@qwen-7b-2]", "s-egi+typos_5pct@qwen-7b"),
        ("t.py::test_x[s-zero_shot@qwen-7b]", "s-zero_shot@qwen-7b"),
        ("t.py::test_x[chilly-s-zero_shot@qwen-7b]", "s-zero_shot@qwen-7b"),
        ("t.py::test_x[s-zero_shot@qwen-chilly]", "s-zero_shot@qwen"),
        ("t.py::test_x[s-zero_shot@qwen-some-user@example.org]", "s-zero_shot@qwen"),
        ("t.py::test_x[some-user@example.org-s-zero_shot@qwen]", "s-zero_shot@qwen"),
        ("t.py::test_x[s-zero_shot@qwen]@group", "s-zero_shot@qwen"),
        ("t.py::TestY::test_x[s-zero_shot@a@b]", "s-zero_shot@a@b"),
    ],
)
def test_an_id_names_its_cell(nodeid: str, cell: str) -> None:
    (result,) = cells_in(["t.py::test_other", nodeid], lambda: MODELS).items()
    assert result == (1, Named(nodeid, cell))


def test_a_cell_names_its_scenario_and_its_model() -> None:
    named = Named("t.py::test_x", "triage_jira-egi+typos_5pct@a@b-c")
    assert (named.name.scenario, named.name.model) == ("triage_jira", "a@b-c")


@pytest.mark.parametrize("nodeid", ["t.py::test_mail[some-user@example.org]", "t.py::test_x", "t.py::test_x[1-2]"])
def test_ids_of_other_tests_name_none(nodeid: str) -> None:
    assert cells_in([nodeid], lambda: MODELS) == {}


def test_models_are_not_asked_for_when_no_id_looks_like_a_cell() -> None:
    def never() -> tuple[str, ...]:
        raise AssertionError

    assert cells_in(["t.py::test_x[1-2]", "t.py::test_y"], never) == {}
