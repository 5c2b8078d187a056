from __future__ import annotations

import pytest

from pytest_puma.core import Generation, SettingsError
from pytest_puma.strategies import ALL, Strategy, parse_strategy, resolve_generation
from pytest_puma.strategies.conversations import direct

OWN = Strategy(name="ask_nicely", converse=direct, templates=("ask_nicely",), max_tokens=99)


@pytest.mark.parametrize("name", ALL)
def test_the_twelve_names_are_canonical(name: str) -> None:
    assert parse_strategy(name).name == name


def test_there_are_twelve_different_strategies() -> None:
    assert len(set(ALL)) == 12


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("zero-shot", "zero_shot"),
        ("Zero-Shot-CoT", "zero_shot_cot"),
        ("ZERO_SHOT", "zero_shot"),
        (" rcoif ", "rcoif"),
        ("contextual-anchoring", "contextual_anchoring"),
        ("few-shot", "few_shot_3"),
        ("few_shot-12", "few_shot_12"),
        ("few_shot_03", "few_shot_3"),
        ("few_shot_1", "one_shot"),
        ("cot-few-shot", "cot_few_shot"),
        ("cot_few_shot_3", "cot_few_shot"),
        ("cot_few_shot_1", "cot_few_shot_1"),
        ("CoT-Few-Shot-5", "cot_few_shot_5"),
        ("self-consistency", "self_consistency_5"),
        ("self_consistency_11", "self_consistency_11"),
        ("Best-of", "best_of_4"),
        ("budget", "budget_64"),
        ("Guided", "guided_50"),
        ("guided_0", "guided_0"),
        ("budget_0", "budget_0"),
        ("few-shot-similar", "few_shot_similar_3"),
        ("few_shot_diverse_1", "few_shot_diverse_1"),
        ("EGI", "egi"),
        ("option-scoring", "option_scoring"),
    ],
)
def test_a_name_is_read_as_users_write_it(text: str, name: str) -> None:
    assert parse_strategy(text).name == name


@pytest.mark.parametrize(
    ("name", "templates"),
    [
        ("zero_shot", ("zero_shot",)),
        ("zero_shot_cot", ("zero_shot_cot",)),
        ("one_shot", ("one_shot", "few_shot")),
        ("few_shot_3", ("few_shot_3", "few_shot")),
        ("few_shot_similar_5", ("few_shot_similar_5", "few_shot_similar", "few_shot_5", "few_shot")),
        ("cot_few_shot", ("cot_few_shot",)),
        ("cot_few_shot_5", ("cot_few_shot_5", "cot_few_shot")),
        ("rcoif", ("rcoif",)),
        ("contextual_anchoring", ("contextual_anchoring",)),
        ("self_consistency_7", ("self_consistency_7", "self_consistency", "zero_shot_cot")),
        ("guided_50", ("guided_50", "guided")),
        ("egi", ("egi",)),
        ("option_scoring", ("option_scoring", "zero_shot")),
    ],
)
def test_a_strategy_borrows_a_text_only_where_it_asks_the_same(name: str, templates: tuple[str, ...]) -> None:
    assert parse_strategy(name).templates == templates


@pytest.mark.parametrize(
    ("name", "shots"),
    [("zero_shot", 0), ("one_shot", 1), ("few_shot_8", 8), ("cot_few_shot", 3), ("cot-few-shot-4", 4)],
)
def test_k_is_the_number_of_examples(name: str, shots: int) -> None:
    assert parse_strategy(name).shots == shots


@pytest.mark.parametrize(
    "text", ["few_shot_0", "cot-few-shot-0", "self_consistency_1", "self_consistency_0", "best_of_1"]
)
def test_a_k_too_small_is_refused_with_the_least_one(text: str) -> None:
    with pytest.raises(SettingsError, match=r"the number is [01]; expected \w+_K with K at least [12]"):
        parse_strategy(text)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("zeroshot", "zero_shot"),
        ("zero_shot_3", "zero_shot"),
        ("few_shots_3", "few_shot_3"),
        ("self_consistancy", "self_consistency"),
        ("one_shot_2", "one_shot"),
        ("optionscoring", "option_scoring"),
        ("ask_nicly", "ask_nicely"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(text: str, nearest: str) -> None:
    with pytest.raises(SettingsError, match=f"strategy '{text}' is unknown; did you mean '{nearest}'\\?"):
        parse_strategy(text, {OWN.name: OWN})


@pytest.mark.parametrize("text", ["", "few_shot_", "few_shot_x", "few_shot_-1", "few_shot_3_5", "xyzzy"])
def test_an_unknown_name_is_refused_with_all_there_are(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_strategy(text, {OWN.name: OWN})
    assert all(name in str(caught.value) for name in (*ALL, "ask_nicely", "few_shot_K", "self_consistency_K"))


def test_a_strategy_of_a_plugin_is_found_by_its_name() -> None:
    assert parse_strategy("Ask-Nicely", {OWN.name: OWN}) is OWN


def test_a_strategy_of_a_plugin_wins_over_ours_of_the_same_name() -> None:
    assert parse_strategy("zero_shot", {"zero_shot": OWN}) is OWN


@pytest.mark.parametrize(
    ("name", "max_tokens", "temperature"),
    [
        ("zero_shot", 16, 0.0),
        ("few_shot_5", 16, 0.0),
        ("rcoif", 16, 0.0),
        ("zero_shot_cot", 256, 0.0),
        ("cot_few_shot", 256, 0.0),
        ("self_consistency_5", 256, 0.7),
        ("egi", 200, 0.0),
    ],
)
def test_a_strategy_fills_in_what_the_settings_leave_open(name: str, max_tokens: int, temperature: float) -> None:
    filled = resolve_generation(parse_strategy(name), Generation(top_p=0.9, grammar="root ::= x"))
    assert filled == Generation(max_tokens=max_tokens, temperature=temperature, top_p=0.9, grammar="root ::= x")


def test_settings_win_over_the_strategy() -> None:
    settings = Generation(max_tokens=3, temperature=1.5)
    assert resolve_generation(parse_strategy("self_consistency"), settings) == settings


def test_greedy_decoding_is_kept_apart_from_no_setting() -> None:
    assert resolve_generation(parse_strategy("zero_shot"), Generation(temperature=0)).temperature == 0


def test_self_consistency_refuses_temperature_zero() -> None:
    with pytest.raises(SettingsError, match=r"self_consistency_5: temperature is 0.*leave it out for 0\.7"):
        resolve_generation(parse_strategy("self_consistency"), Generation(temperature=0))
