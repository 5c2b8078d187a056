from __future__ import annotations

from xml.etree import ElementTree as ET

from pytest_puma.report.junit import properties
from tests.factories import measure, outcome, verdict


def test_labels_and_reasons_with_controls_are_still_xml() -> None:
    named = measure("per_class.\x00\x1b.recall")
    kept = verdict(reason="\ud800 \ufffe ok")
    result = properties(outcome(measures={named.metric: named}, verdicts=(kept,)))

    assert ("puma.per_class.\\x00\\x1b.recall", "0.66") in result
    assert result[-1] == ("puma.gate accuracy >= 0.5", "PASS: \\ud800 \\ufffe ok")
    for name, value in result:
        ET.fromstring(ET.tostring(ET.Element("property", name=name, value=value)))  # noqa: S314 - our own
