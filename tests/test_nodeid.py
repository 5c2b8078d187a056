import pytest

from pytest_puma.session.nodeid import Named, cells_in

MODELS = ("qwen", "qwen-7b", "a@b")


@pytest.mark.parametrize(
    ("nodeid", "found"),
    [
        (
            "t.py::test_x[triage_jira-few_shot_3@qwen]",
            Named("triage_jira-few_shot_3@qwen", "triage_jira", "qwen"),
        ),
        ("t.py::test_x[s-egi+typos_5pct@qwen]", Named("s-egi+typos_5pct@qwen", "s", "qwen")),
        ("t.py::test_x[1-s-egi+typos_5pct@qwen-7b-2]", Named("s-egi+typos_5pct@qwen-7b", "s", "qwen-7b")),
        ("t.py::test_x[s-zero_shot@qwen-7b]", Named("s-zero_shot@qwen-7b", "s", "qwen-7b")),
        ("t.py::test_x[chilly-s-zero_shot@qwen-7b]", Named("s-zero_shot@qwen-7b", "s", "qwen-7b")),
        ("t.py::test_x[s-zero_shot@qwen-chilly]", Named("s-zero_shot@qwen", "s", "qwen")),
        ("t.py::TestY::test_x[s-zero_shot@a@b]", Named("s-zero_shot@a@b", "s", "a@b")),
    ],
)
def test_an_id_names_its_cell(nodeid: str, found: Named) -> None:
    assert cells_in([nodeid], lambda: MODELS) == {nodeid: found}


@pytest.mark.parametrize("nodeid", ["t.py::test_mail[some-user@example.org]", "t.py::test_x", "t.py::test_x[1-2]"])
def test_ids_of_other_tests_name_none(nodeid: str) -> None:
    assert cells_in([nodeid], lambda: MODELS) == {}


def test_models_are_not_asked_for_when_no_id_looks_like_a_cell() -> None:
    def never() -> tuple[str, ...]:
        raise AssertionError

    assert cells_in(["t.py::test_x[1-2]", "t.py::test_y"], never) == {}
