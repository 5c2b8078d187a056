import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Model, ModelError
from pytest_puma.models.names import name_from_file, resolve_name
from pytest_puma.models.search import part_names
from tests.factories import model


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("q.gguf", "q"),
        ("qwen2.5-3b-instruct-q4_k_m.gguf", "qwen2.5-3b-instruct-q4_k_m"),
        ("Q.GGUF", "Q"),
        ("Qwen 2.5 (3B).gguf", "Qwen_2.5__3B_"),
        ("c++@x.gguf", "c___x"),
        ("größe.gguf", "gr__e"),
        ("big-00001-of-00003.gguf", "big"),
        ("weights.bin", "weights.bin"),
    ],
)
def test_a_model_is_named_after_its_file(file: str, name: str) -> None:
    assert name_from_file(file) == name


def test_a_file_without_a_stem_needs_an_alias() -> None:
    with pytest.raises(ModelError, match=r"^the file name '.gguf' gives no name to a model; give it one: alias=PATH$"):
        name_from_file(".gguf")


def test_the_parts_of_a_model_follow_from_any_of_their_names() -> None:
    parts = ("q-00001-of-00003.gguf", "q-00002-of-00003.gguf", "q-00003-of-00003.gguf")
    assert all(part_names(part) == parts for part in parts)


@pytest.mark.parametrize(
    "name", ["q.gguf", "q-1-of-3.gguf", "q-00001-of-00003.bin", "q-00001-of-00000.gguf", "q-00001-of-00003.gguf.part"]
)
def test_a_file_that_is_no_part_is_its_own_only_part(name: str) -> None:
    assert part_names(name) == (name,)


@given(st.text(min_size=1, max_size=20), st.integers(1, 40))
def test_every_part_is_among_its_siblings(stem: str, count: int) -> None:
    names = part_names(f"{stem}-00001-of-{count:05}.gguf")
    assert len(names) == count
    assert all(part_names(name) == names for name in names)


def models(*names: str) -> list[Model]:
    return [model(name) for name in names]


@pytest.mark.parametrize(
    ("name", "there", "expected"),
    [
        ("a", ["a", "a-b"], "a"),
        ("qwen2.5:3b", ["qwen2.5-3b", "qwen2.5-3b-instruct"], "qwen2.5-3b"),
        ("Qwen2.5:3B", ["qwen2.5_3b"], "qwen2.5_3b"),
        ("qwen2.5:3b", ["Qwen2.5-3B-Instruct-Q4_K_M", "qwen2.5-7b"], "Qwen2.5-3B-Instruct-Q4_K_M"),
        ("a_b", ["a-b", "a_b"], "a_b"),
    ],
)
def test_a_run_spec_name_finds_its_model(name: str, there: list[str], expected: str) -> None:
    assert resolve_name(name, models(*there)).name == expected


@pytest.mark.parametrize(
    ("name", "there", "sentence"),
    [
        ("x", [], "model 'x' is unknown: no models; name its file: --puma-model x=PATH"),
        (
            "qwen2.5:3b",
            ["a", "b"],
            "model 'qwen2.5:3b' is none of the models (a, b); name its file: --puma-model qwen2.5:3b=PATH",
        ),
        (
            "qwen2.5",
            ["qwen2.5-3b", "other", "qwen2.5-7b"],
            (
                "model 'qwen2.5' matches several models (qwen2.5-3b, qwen2.5-7b); "
                "name its file: --puma-model qwen2.5=PATH"
            ),
        ),
        # A prefix ends at the end of a word.
        (
            "qwen2.5:1",
            ["qwen2.5-14b"],
            "model 'qwen2.5:1' is none of the models (qwen2.5-14b); name its file: --puma-model qwen2.5:1=PATH",
        ),
    ],
)
def test_a_run_spec_name_that_matches_no_model_or_several_is_an_error_with_the_remedy(
    name: str, there: list[str], sentence: str
) -> None:
    with pytest.raises(ModelError) as caught:
        resolve_name(name, models(*there))
    assert str(caught.value) == sentence
