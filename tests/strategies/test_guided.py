"""A reply that is led away from that to a second prompt, the block `against` of the template."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_puma.core import TemplateError
from pytest_puma.strategies.conversations import guided
from tests.strategies.play import TEMPLATE, play, responses, task

WITH_BLOCK = TEMPLATE + "{% block against %}Which taste?{% endblock %}"


def test_one_request_has_both_prompts_and_the_weight(tmp_path: Path) -> None:
    question = task(tmp_path, template=WITH_BLOCK)
    played = play(guided(question, percent=150), responses("SOUR"))
    (request,) = played.generates
    assert request.against is not None
    assert [message.content for message in request.against.messages] == ["Be brief.", "Which taste?"]
    assert request.weight == 1.5
    assert replace(request, against=None, weight=0.5) == question.generate(question.prompt())
    assert played.answer.value == "SOUR"


def test_a_template_without_the_block_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"no text for the turn 'against'; add a block of this name"):
        play(guided(task(tmp_path), percent=50))
