from __future__ import annotations

from collections import Counter

from pytest_puma.core import TaskInfo
from pytest_puma.report.page import charts
from tests.factories import outcome


def labelled(number: int) -> TaskInfo:
    labels = tuple(f"l{index}" for index in range(number))
    return TaskInfo(type="classification", labels=labels, primary="f1_macro", better="high")


def test_a_matrix_of_few_labels_has_all_of_them() -> None:
    matrix = {"l0": Counter(l1=2), "l1": Counter({"no answer": 1}), "l2": Counter[str]()}
    assert charts.confusion(outcome(task=labelled(3), confusion=matrix)) == {
        "gold": ["l0", "l1", "l2"],
        "answers": ["l0", "l1", "l2", "no answer"],
        "counts": [[0, 2, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]],
    }


def test_a_matrix_of_many_labels_has_those_that_occur_and_no_answer_last() -> None:
    matrix = {f"l{index}": Counter[str]() for index in range(3000)}
    matrix["l7"] = Counter(l2999=2, l7=1)
    matrix["l2"] = Counter(l2=1)
    assert charts.confusion(outcome(task=labelled(3000), confusion=matrix)) == {
        "gold": ["l2", "l7"],
        "answers": ["l2", "l7", "l2999", "no answer"],
        "counts": [[1, 0, 0, 0], [0, 1, 2, 0]],
    }


def test_of_too_many_labels_those_with_the_most_wrong_answers_are_shown() -> None:
    matrix = {f"l{index}": Counter({f"l{index}": 9, "l0": index % 2000}) for index in range(1, 3000)}
    chart = charts.confusion(outcome(task=labelled(3000), confusion=matrix))
    assert chart is not None
    assert chart["gold"] == [f"l{index}" for index in range(1500, 2000)]
    assert chart["answers"] == ["l0", *chart["gold"], "no answer"]
    assert [sum(row) for row in chart["counts"]] == [9 + index for index in range(1500, 2000)]
