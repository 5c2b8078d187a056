from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.core import Sample, SettingsError
from pytest_puma.metrics.library import LIBRARY
from tests.factories import prediction, sample

# Over 120 letters each: for a shorter text, the library loads its numbers for 12 seconds.
GERMAN = (
    "Ich trinke jeden Morgen eine Tasse Tee und lese die Zeitung. "
    "Dann gehe ich mit dem Hund in den Park und fahre mit dem Bus zur Arbeit in der alten Innenstadt."
)
ENGLISH = (
    "I drink a cup of tea every morning and read the newspaper. "
    "Then I walk the dog in the park and take the bus to my work in the town. In the evening I cook dinner."
)
ZULU = (
    "Ngiphuza inkomishi yetiye njalo ekuseni ngaphambi kokuya emsebenzini. "
    "Ngemva kwalokho ngifunda iphephandaba futhi ngihamba nenja yami epaki ngaphambi kokulala."
)
NAMES = ("language", "language.same_as_prompt", "language.same_as_prompt.raw")


def score(name: str, question: Sample, text: str, *raw: str) -> Any:
    return LIBRARY[name].score(question, prediction(reply=text, raw=raw, answer=ENGLISH))


@pytest.mark.parametrize(
    ("text", "expected", "value"),
    [
        (GERMAN, "de", 1),
        (ENGLISH, "de", 0),
        (GERMAN, "de-AT", 1),
        (GERMAN, " DE ", 1),
        (ZULU, "zu", 1),
        ("42", "de", 0),
        ("", "de", 0),
    ],
)
def test_a_reply_is_in_the_language_of_the_context(text: str, expected: str, value: int) -> None:
    assert score("language", sample(context={"language": expected}), text) == value


def test_the_context_comes_before_the_groups_and_these_before_the_references() -> None:
    everything: dict[str, Any] = {"context": {"language": "de"}, "groups": {"language": "en"}, "references": ("fr",)}
    assert score("language", sample(**everything), GERMAN) == 1
    assert score("language", sample(**{**everything, "context": {}}), GERMAN) == 0
    assert score("language", sample(**{**everything, "context": {}}), ENGLISH) == 1
    assert score("language", sample(references=("fr", "de")), GERMAN) == 1
    assert score("language", sample(references=("fr", "en")), GERMAN) == 0


def test_no_language_is_not_scored() -> None:
    assert score("language", sample(groups={"subject": "law"}), GERMAN) is None


@pytest.mark.parametrize("code", ["German", "xx", "en-de", "", None, 5])
def test_an_unknown_language_is_refused(code: object) -> None:
    with pytest.raises(SettingsError) as caught:
        score("language", sample("q1", context={"language": code}), "")
    assert str(caught.value).startswith(f"language: sample 'q1' expects {code!r}; expected one of af, am, ar, az, ")
    assert str(caught.value).endswith("; return language from the scenario's context(item)")


@pytest.mark.parametrize(
    ("prompt", "reply", "value"),
    [
        (GERMAN, GERMAN.lower(), 1),
        (GERMAN, ENGLISH, 0),
        (GERMAN, "", 0),
        (GERMAN, " \n", 0),
        (GERMAN, "42", None),
        ("2 + 2 =", ENGLISH, None),
        ("2 + 2 =", "", None),
    ],
)
def test_a_reply_is_in_the_language_of_its_prompt(prompt: str, reply: str, value: int | None) -> None:
    question = sample(context={"original": prompt})
    assert score("language.same_as_prompt", question, reply, GERMAN) == value
    assert score("language.same_as_prompt.raw", question, GERMAN, ENGLISH, reply) == value


def test_without_any_response_the_raw_one_is_empty() -> None:
    assert score("language.same_as_prompt.raw", sample(context={"original": GERMAN}), GERMAN) == 0


@pytest.mark.parametrize("name", NAMES[1:])
@pytest.mark.parametrize(("context", "shown"), [({}, "nothing"), ({"original": 5}, "5")])
def test_the_prompt_is_a_text_of_the_context(name: str, context: dict[str, Any], shown: str) -> None:
    with pytest.raises(SettingsError) as caught:
        score(name, sample("q1", context=context), GERMAN)
    assert str(caught.value) == (
        f"{name}: the context of sample 'q1' has {shown} as 'original'; expected the text of the question; "
        "return it from the scenario's context(item)"
    )


@pytest.mark.parametrize("name", NAMES)
def test_they_are_shares_of_completions_and_need_the_languages(name: str) -> None:
    metric = LIBRARY[name]
    assert (metric.better, metric.bounds, metric.extra, metric.pool) == ("high", (0.0, 1.0), "lang", None)
    assert metric.kinds == {"completion"}
