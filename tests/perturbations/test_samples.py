"""Perturbed samples: the parts that change, the parts that must not, and the seeds of the changes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Sample, Scenario
from pytest_puma.perturbations import ALL, parse_perturbation, perturb, wording
from pytest_puma.scenarios import (
    BUILTIN,
    EstimationTawosScenario,
    PrioritizationJiraScenario,
    TriageJiraScenario,
    draw,
)
from tests import factories

TRIAGE = TriageJiraScenario()
ISSUE = factories.sample(
    "A-1",
    fields={"title": "Login fails", "description": "Nobody can log in since Monday.", "priority": "Major", "votes": 7},
    gold="Major",
)
EDITING = [name for name in ALL if parse_perturbation(name).protects]


def perturbed(sample: Sample, name: str, *, scenario: Scenario = TRIAGE, seed: int = 42) -> Sample:
    return perturb(scenario, sample, parse_perturbation(name), seed)


def titled(title: str) -> Sample:
    return replace(ISSUE, fields={**ISSUE.fields, "title": title})


@pytest.mark.parametrize("name", ALL)
def test_only_the_texts_change(name: str) -> None:
    sample = perturbed(ISSUE, name)
    assert (sample.id, sample.gold, sample.units) == (ISSUE.id, ISSUE.gold, ISSUE.units)
    assert list(sample.fields) == list(ISSUE.fields)
    assert (sample.fields["priority"], sample.fields["votes"]) == ("Major", 7)


@pytest.mark.parametrize("scenario", [kind() for kind in BUILTIN.values()], ids=BUILTIN)
@pytest.mark.parametrize("name", ["case_upper", "tech_noise"])
def test_every_text_field_of_every_scenario_changes(scenario: Scenario, name: str) -> None:
    for sample in draw(scenario, 5, 1):
        changed = perturbed(sample, name, scenario=scenario)
        texts = [field for field in scenario.text_fields if sample.fields[field]]
        assert texts
        assert all(changed.fields[field] != sample.fields[field] for field in texts)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("nothing", ["", " \n", None, 5])
def test_a_field_without_words_stays(name: str, nothing: object) -> None:
    sample = replace(ISSUE, fields={"title": nothing})
    assert perturbed(sample, name).fields == {"title": nothing}


@pytest.mark.parametrize("name", ALL)
@given(text=st.text(alphabet=st.characters(), max_size=60))
def test_any_text_can_be_perturbed(name: str, text: str) -> None:
    sample = perturbed(titled(text), name)
    assert sample == perturbed(titled(text), name)
    assert bool(sample.fields["title"]) == bool(text)


@pytest.mark.parametrize("name", [name for name in ALL if name not in {"case_upper", "case_lower"}])
def test_a_change_depends_on_seed_sample_and_scenario(name: str) -> None:
    """A truncation is not random."""
    long = replace(ISSUE, fields={"title": "The server crashes often. Nobody can work. Please help us all. " * 4})
    others = {
        "seed": perturb(TRIAGE, long, parse_perturbation(name), 43),
        "sample": perturbed(replace(long, id="A-2"), name),
        "scenario": perturbed(long, name, scenario=_Renamed()),
    }
    first = perturbed(long, name)
    same = [what for what, other in others.items() if (other.fields, other.labels) == (first.fields, first.labels)]
    assert len(same) == (3 if name.startswith("truncate") else 0) or (name == "label_order" and len(same) < 3)


class _Renamed(TriageJiraScenario):
    name = "other"


def test_each_field_and_each_name_has_its_own_random_numbers() -> None:
    text = "Several hundred letters belong together in this long sentence of mine."
    sample = replace(ISSUE, fields={"title": text, "description": text})
    fields = perturbed(sample, "typos_10pct").fields
    assert fields["title"] != fields["description"]
    assert perturbed(sample, "editor_10pct").fields["title"] != perturbed(sample, "typos_10pct").fields["title"]


def test_the_sides_of_a_group_have_the_same_random_numbers() -> None:
    his, hers = (str(perturbed(ISSUE, f"gender_swap_prefix_{side}").fields["title"]) for side in ("male", "female"))
    assert [len(his.split()), his.split()[-2:]] == [len(hers.split()), hers.split()[-2:]]
    assert any(man in his and woman in hers for man, woman in wording.NAMES)


@pytest.mark.parametrize("name", ["typos_20pct", "tech_noise", "label_order"])
def test_another_process_gives_the_same_sample(name: str) -> None:
    code = (
        "from tests.perturbations.test_samples import ISSUE, perturbed; "
        f"sample = perturbed(ISSUE, {name!r}); print([dict(sample.fields), sample.labels])"
    )
    for seed in ("1", "2"):
        done = subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        sample = perturbed(ISSUE, name)
        assert done.stdout.strip() == str([dict(sample.fields), sample.labels])


SURVIVORS = [
    "3.6",
    "pid.cpp",
    "max_rows",
    "getUserName",
    "/srv/app",
    "user@example.org",
    "x=5",
    "8GB",
    "CRITICAL",
    "minor",
]


@pytest.mark.parametrize("name", [re.sub(r"\d+pct", "100pct", name) for name in EDITING])
@given(survivors=st.permutations(SURVIVORS), seed=st.integers(0, 50))
def test_numbers_identifiers_and_labels_survive(name: str, survivors: Sequence[str], seed: int) -> None:
    text = " ".join(f"something {word}, and another thing" for word in survivors)
    changed = str(perturbed(titled(text), name, seed=seed).fields["title"])
    places = [changed.index(word) for word in survivors]
    assert places == sorted(places)
    assert changed != text


def test_a_label_of_several_words_or_signs_survives_and_a_part_of_a_word_does_not() -> None:
    class Languages(TriageJiraScenario):
        def valid_labels(self) -> list[str]:
            return ["C", "C++", "Visual Basic", ""]

    title = "Crash in visual basic (C++) and C"
    titles = {
        str(perturbed(titled(title), "replace_100pct", scenario=Languages(), seed=seed).fields["title"])
        for seed in range(9)
    }
    assert all("visual basic (C++)" in each and each.endswith(" C") for each in titles)
    assert not any("Crash" in each for each in titles)


def test_a_word_of_a_hundred_thousand_letters_is_scanned_once() -> None:
    assert len(str(perturbed(titled("x" * 100_000), "typos_5pct").fields["title"])) > 90_000


def test_labels_are_listed_in_another_order() -> None:
    orders = [perturbed(replace(ISSUE, id=str(number)), "label_order").labels for number in range(50)]
    assert all(sorted(order) == sorted(TRIAGE.valid_labels()) for order in orders)
    assert tuple(TRIAGE.valid_labels()) not in orders
    assert len(set(orders)) > 10
    assert perturbed(ISSUE, "label_order").fields == ISSUE.fields
    pairs = {
        perturbed(ISSUE, "label_order", scenario=PrioritizationJiraScenario(), seed=seed).labels for seed in range(9)
    }
    assert pairs == {("B", "A")}


def test_insertions_contain_no_label_of_a_built_in_scenario() -> None:
    text = " ".join((*wording.LINES, *wording.REPORTS, *wording.CHATTY.values(), *wording.OPENERS, *wording.FILLERS))
    labels = {
        label for kind in BUILTIN.values() if kind is not EstimationTawosScenario for label in kind().valid_labels()
    }
    assert not [label for label in labels if re.search(rf"(?<!\w){label}(?!\w)", text)]
    assert not re.search(r"(?i)critical|major|minor|trivial", text)
