"""Controls in a model argument: their grammar, and the models that they make."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Control, Model, ModelError
from pytest_puma.core.variant import ControlKind, Layers, shown_layers
from pytest_puma.models.argument import parse_argument
from pytest_puma.models.choices import ChoiceArgument
from pytest_puma.models.variants import ControlArgument, variants_of


def _control(name: str = "polite", kind: ControlKind = "steer") -> Control:
    return Control(kind=kind, name=name, path=Path(f"{name}.gguf"), sha256="5a")


def _names(text: str) -> list[str]:
    """The names of the models of an argument for q.gguf, whose files need not exist."""
    axes = [_points(argument) for argument in parse_argument(f"q.gguf,{text}").controls]
    return [model.name for model in variants_of(Model(name="q", path=Path("q.gguf")), axes)]


def _points(argument: ControlArgument | ChoiceArgument) -> Sequence[Control | None]:
    if isinstance(argument, ControlArgument):
        return argument.points(_control(Path(argument.place.replace(":", "/")).stem, argument.kind))
    if argument.kind != "quant":
        return argument.points()
    return [None if value == "none" else Control(kind="quant", name=Path(value).stem) for value in argument.values]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("lora=support.gguf", ["q+support-1"]),
        ("lora=support.gguf:0.5", ["q+support-0.5"]),
        ("lora=support.gguf:-1", ["q+support--1"]),
        ("steer=polite.gguf:0/4/8@10", ["q", "q+polite-4-L10", "q+polite-8-L10"]),
        ("steer=polite.gguf@8-20", ["q+polite-1-L8-20"]),
        ("steer=polite.gguf:0/1@10/8-20", ["q", "q+polite-1-L10", "q+polite-1-L8-20"]),
        ("steer=a.gguf:0/1,lora=b.gguf:0/0.5", ["q", "q+b-0.5", "q+a-1", "q+a-1+b-0.5"]),
        ("steer=a.gguf:0", ["q"]),
        ("steer=hf:owner/repo:a.gguf:2@3", ["q+a-2-L3"]),
        ("lora=package:pack/a.gguf:1e-3", ["q+a-0.001"]),
        ("lora=a.gguf:0.12345678/0.123456789/1e20", ["q+a-0.12345678", "q+a-0.123456789", "q+a-1e20"]),
        ("lora=a.gguf:1,n_ctx=512,steer=b.gguf", ["q+a-1+b-1"]),
        ("ablate=a.gguf", ["q+a-ablate-1"]),
        ("steer=a.gguf:0/4@10,scope=all/reply,n_ctx=9", ["q", "q+a-4-L10", "q+a-reply-4-L10"]),
        ("steer=a.gguf:4@9,scope=last,steer=a.gguf:4@9,scope=reply", ["q+a-last-4-L9+a-reply-4-L9"]),
        ("ablate=a.gguf@2,scope=last", ["q+a-ablate-last-1-L2"]),
        ("steer=a.gguf:0/4@2,when=b.gguf:0/0.2@3", ["q", "q+a-4-L2+b-when-0-L3", "q+a-4-L2+b-when-0.2-L3"]),
        ("steer=a.gguf:0,lora=c.gguf,when=b.gguf:0.2@3", ["q+c-1"]),
        ("when=b.gguf:0.2@3,heads=a.gguf", ["q+b-when-0.2-L3+a-heads-1"]),
        ("heads=a.gguf:0/5@3-5,scope=reply", ["q", "q+a-heads-reply-5-L3-5"]),
        ("rotate=a.gguf:0/15/-15@3", ["q", "q+a-rotate-15-L3", "q+a-rotate--15-L3"]),
        ("ablate=a.gguf:0/0.5@3-9,steer=a.gguf:4@2", ["q+a-4-L2", "q+a-ablate-0.5-L3-9+a-4-L2"]),
        ("quant=none/Q8_0/q4_k_m", ["q", "q+Q8_0", "q+Q4_K_M"]),
        ("quant=their/q3.gguf/None/other", ["q+q3", "q", "q+other"]),
        ("quant=/models/a-q2.gguf/b.gguf/IQ4_XS", ["q+a-q2", "q+b", "q+IQ4_XS"]),
        ("quant=none/Q8_0,steer=v.gguf:0/1", ["q", "q+v-1", "q+Q8_0", "q+Q8_0+v-1"]),
        ("kv=f16/q8_0", ["q", "q+kv-q8_0"]),
        ("flash=auto/on/OFF", ["q", "q+flash-on", "q+flash-off"]),
        ("kv=f16/q4_0,flash=on", ["q+flash-on", "q+kv-q4_0+flash-on"]),
        ("kv=f16,quant=none", ["q"]),
    ],
)
def test_lists_make_a_grid_whose_last_key_is_the_fastest(text: str, names: list[str]) -> None:
    assert _names(text) == names


def test_options_stand_beside_controls() -> None:
    argument = parse_argument("small=q.gguf,lora=a.gguf:0/1,n_ctx=512")
    assert (argument.alias, argument.place, argument.options.n_ctx) == ("small", "q.gguf", 512)
    assert argument.controls == (ControlArgument(kind="lora", place="a.gguf", strengths=(0.0, 1.0)),)


@pytest.mark.parametrize("name", ["a,b.gguf", "a:1.gguf", "v@10.gguf", "a:0.5,lora=x.gguf", "s=t.gguf", "lr=1,s=2:3@4"])
def test_a_path_with_signs_is_that_of_a_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).touch()
    argument = parse_argument(f"q.gguf,steer={name}:0/2@3,n_ctx=9")
    assert argument.controls == (ControlArgument(kind="steer", place=name, strengths=(0.0, 2.0), layers=((3, 3),)),)
    assert argument.options.n_ctx == 9


def test_the_file_of_a_control_is_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "polite.gguf").touch()
    argument = parse_argument("q.gguf,steer=polite.gguf")
    assert (argument.alias, argument.place) == (None, "q.gguf")


@given(
    strengths=st.lists(
        st.floats(-100, 100).map(lambda value: round(value, 3) + 0.0), min_size=1, max_size=4, unique=True
    ),
    layers=st.lists(
        st.tuples(st.integers(1, 50), st.integers(0, 9)).map(lambda at: (at[0], sum(at))), max_size=3, unique=True
    ),
)
def test_an_argument_is_read_as_it_is_written(strengths: list[float], layers: list[Layers]) -> None:
    value = f"v.gguf:{'/'.join(map(repr, strengths))}" + ("@" + "/".join(map(shown_layers, layers)) if layers else "")
    (control,) = parse_argument(f"q.gguf,steer={value}").controls
    assert control == ControlArgument(
        kind="steer", place="v.gguf", strengths=tuple(strengths), layers=tuple(layers) or (None,)
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("steer=", "found steer=; expected FILE[:STRENGTH"),
        ("lora=a.gguf@10", "found lora=a.gguf@10; expected FILE[:STRENGTH"),
        ("steer=a.gguf:0/0", "found strength '0' twice; expected numbers, each once"),
        ("steer=a.gguf:1/", "found strength ''; expected numbers"),
        ("steer=a.gguf:1e999", "found strength '1e999'; expected numbers"),
        ("steer=a.gguf@0", "found layers '0'; expected N or FIRST-LAST, from 1 on"),
        ("steer=a.gguf@9-3", "found layers '9-3'; expected N or FIRST-LAST, from 1 on"),
        ("steer=a.gguf@3/3-3", "found layers '3-3' twice"),
        ("steer=a/v.gguf,lora=b/v.gguf", "two controls are named 'v'; expected files with different names"),
        ("scope=reply", "found scope=reply; expected it behind a vector, as in steer=polite.gguf:4@10,scope=reply"),
        ("lora=a.gguf,scope=reply", "found scope=reply; expected it behind a vector"),
        ("steer=a.gguf,scope=answer", "found scope 'answer'; expected some of all, prompt, reply, last, each once"),
        ("steer=a.gguf,when=b.gguf@3", "found when=b.gguf@3; expected FILE:THRESHOLD@LAYER"),
        ("steer=a.gguf,when=b.gguf:0.2", "found when=b.gguf:0.2; expected FILE:THRESHOLD@LAYER"),
        ("when=b.gguf:0.2@3", "found when= without a vector that acts under it; expected one, as in steer="),
        ("lora=a.gguf:0/1,when=b.gguf:0.2@3", "found when= without a vector that acts under it; expected one"),
        ("quant=Q8_0,when=b.gguf:0.2@3", "found when= without a vector that acts under it; expected one"),
        ("steer=a.gguf,when=b.gguf:0.2@3,scope=reply", "found scope=reply; expected it behind a vector"),
        (
            "steer=a.gguf@3,scope=last,when=b.gguf:0.2@3",
            "q+a-last-1-L3+b-when-0.2-L3: when= decides behind the prompt, and vectors act on the reply; expected no",
        ),
        ("ablate=a/v.gguf,ablate=b/v.gguf", "two controls are named 'v-ablate'; expected files with different names"),
        ("quant=", "found quant=; expected none, types (F16, BF16, Q8_0"),
        ("quant=Q8_0/q8_0", "found quant=Q8_0/q8_0 with Q8_0 twice; expected none, types"),
        ("quant=none/IQ2_XS", "IQ2_XS needs an importance matrix: make it with llama-quantize, and name the file"),
        ("quant=IQ3_XXS", "IQ3_XXS needs an importance matrix: make it with llama-quantize, and name the file"),
        ("quant=Q8_0,quant=Q6_K", "found quant= twice; expected one list"),
        ("quant=a/q3.gguf/b/q3.gguf,lora=q3.gguf", "two controls are named 'q3'"),
        ("quant=a/q3.gguf/b/q3.gguf", "two variants are named 'q+q3'; expected files with different names"),
        ("kv=q8_1", "found kv=q8_1; expected f16, q8_0"),
        ("flash=yes", "found flash=yes; expected auto, on, off, each once"),
        ("kv=f16/q8_0,flash=on/off", "q+kv-q8_0+flash-off: a quantised KV cache needs flash attention"),
        ("lora=a.gguf:1/2/3/4/5/6/7/8/9,lora=b.gguf:1/2/3/4/5/6/7/8/9", "make 81 variants; expected at most 64"),
    ],
)
def test_the_error_of_a_control_names_what_is_expected(text: str, sentence: str) -> None:
    with pytest.raises(ModelError) as caught:
        _names(text)
    assert sentence in str(caught.value)


def test_a_variant_is_identified_by_contents_and_strengths() -> None:
    model = Model(name="q", path=Path("q.gguf"))
    argument = ControlArgument(kind="steer", place="p.gguf", strengths=(0.5,), layers=((10, 10),))
    (varied,) = variants_of(model, [argument.points(_control())])
    assert varied.variant is not None
    assert varied.variant.signature == "steer 5a 0.5 10-10"
    assert varied.loaded == model
