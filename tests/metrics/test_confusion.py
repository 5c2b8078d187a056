from __future__ import annotations

from pytest_puma.metrics import confusion_matrix
from tests.factories import predictions


def test_the_confusion_matrix_is_as_large_as_its_samples_however_many_labels_there_are() -> None:
    labels = [f"l{number}" for number in range(3000)]
    matrix = confusion_matrix(predictions(["l1", "l2999"], ["l2", None]), labels)
    assert sum(map(len, matrix.values())) == 2
    assert matrix["l1"] == {"l2": 1}
    assert matrix["l1"]["l3"] == 0
