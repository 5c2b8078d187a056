from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFWriter

from pytest_puma.core import Model, ModelError, ModelOptions
from pytest_puma.models.resolve import inspect_model, resolve_models
from tests.models.raw_gguf import MODEL, Value, raw_gguf
from tests.tiny_gguf import write_vocab_only

DIRECTORIES = (Path(), Path("models"))


def refused(*arguments: str, where: str = "--puma-model") -> str:
    with pytest.raises(ModelError) as caught:
        resolve_models(arguments, directories=DIRECTORIES, where=where)
    return str(caught.value)


def test_models_come_in_the_order_of_their_arguments(folder: Path, weights: bytes) -> None:
    (folder / "models").mkdir()
    for name in ("b.gguf", "models/a 1.gguf"):
        (folder / name).write_bytes(weights)
    models = resolve_models(
        ["b.gguf,n_ctx=512", "a 1", "small:1=a 1,thinking=on"],
        directories=DIRECTORIES,
    )
    assert models == (
        Model(name="b", path=folder / "b.gguf", options=ModelOptions(n_ctx=512)),
        Model(name="a_1", path=folder / "models" / "a 1.gguf"),
        Model(name="small-1", path=folder / "models" / "a 1.gguf", options=ModelOptions(thinking=True)),
    )


def test_no_argument_is_no_model() -> None:
    assert resolve_models([], directories=DIRECTORIES) == ()


def test_every_error_names_the_argument_and_where_it_was_given(folder: Path) -> None:
    for name in ("a.gguf", "b.gguf"):
        (folder / name).touch()
    assert refused("qwen.gguf") == (
        "--puma-model 'qwen.gguf': no such file in ., models "
        "(2 GGUF files there: a.gguf, b.gguf); give a path or one of these names"
    )
    assert refused("x=a.gguf", where="ini puma_models") == (
        "ini puma_models 'x=a.gguf': a.gguf is empty; expected a GGUF file: copy or download it again"
    )
    assert refused("a.gguf,x=1").startswith("--puma-model 'a.gguf,x=1': found 'x=1' after a comma; ")


def test_every_argument_is_parsed_before_the_first_is_looked_up() -> None:
    assert "'b.gguf,x=1'" in refused("hf:nobody/nothing:*.gguf", "b.gguf,x=1")


def test_the_same_argument_twice_is_refused(folder: Path, weights: bytes) -> None:
    (folder / "q.gguf").write_bytes(weights)
    assert refused("q.gguf", "q.gguf") == (
        "--puma-model 'q.gguf': given twice; give it once, or under two aliases: a=..., b=..."
    )


def test_two_models_of_one_name_are_refused(folder: Path, weights: bytes) -> None:
    (folder / "models").mkdir()
    for name in ("q.gguf", "models/q.gguf"):
        (folder / name).write_bytes(weights)
    assert refused("q.gguf", "models/q.gguf") == (
        "--puma-model 'models/q.gguf': 'q.gguf' is named 'q' too; give one of them another name: alias=models/q.gguf"
    )


def test_a_file_with_a_vocabulary_only_is_refused(folder: Path) -> None:
    write_vocab_only(folder / "v.gguf")
    assert refused("v") == (
        "--puma-model 'v': v.gguf has a vocabulary only, and no tensors; expected a file with weights"
    )


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        (
            {"general.architecture": "llama"},
            "has no tokenizer; expected a language model with its vocabulary: convert it with its tokenizer files",
        ),
        (
            {"general.architecture": "llama", "tokenizer.ggml.model": "none"},
            "has no tokenizer; expected a language model with its vocabulary: convert it with its tokenizer files",
        ),
        ({}, "has no general.architecture in its header: it is damaged, or not a model; download it again"),
        (
            {**MODEL, "general.type": "adapter"},
            "is of the kind 'adapter'; expected a language model: give the file of the model itself",
        ),
        (
            {**MODEL, "split.count": 3},
            (
                "is the first of 3 parts by its header, of 1 by its name; "
                "restore the original file names, as in q-00001-of-00003.gguf"
            ),
        ),
    ],
)
def test_a_gguf_file_that_is_no_language_model_is_refused(
    folder: Path, pairs: Mapping[str, Value], sentence: str
) -> None:
    (folder / "q.gguf").write_bytes(raw_gguf(pairs))
    assert refused("q.gguf") == f"--puma-model 'q.gguf': q.gguf {sentence}"


@pytest.fixture
def split(folder: Path) -> Path:
    """A split model whose first part has only the metadata, as is common."""
    first = folder / "q-00001-of-00003.gguf"
    first.write_bytes(raw_gguf({**MODEL, "split.count": 3}, tensors=(), data=0))
    for number in (2, 3):
        (folder / f"q-0000{number}-of-00003.gguf").write_bytes(raw_gguf({"split.count": 3}))
    return first


def test_a_split_model_is_one_model(split: Path) -> None:
    models = resolve_models(["q", "other=q-00001-of-00003.gguf"], directories=DIRECTORIES)
    assert models == (Model(name="q", path=split), Model(name="other", path=split))
    assert inspect_model(split).tensors == 2
    assert inspect_model(split).size == sum(part.stat().st_size for part in split.parent.iterdir())


def test_the_parts_that_the_gguf_package_writes_are_one_model(folder: Path) -> None:
    writer = GGUFWriter(folder / "q.gguf", "llama", split_max_tensors=2, small_first_shard=True)
    writer.add_tokenizer_model("gpt2")
    for number in range(5):
        writer.add_tensor(f"blk.{number}.weight", np.zeros((4, 4), np.float32))
    writer.write_header_to_file(folder / "q.gguf")
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    (model,) = resolve_models(["q"], directories=DIRECTORIES)
    header = inspect_model(model.path)
    assert (model.path.name, header.parts, header.tensors) == ("q-00001-of-00004.gguf", 4, 5)


@pytest.mark.usefixtures("split")
def test_a_part_other_than_the_first_is_refused() -> None:
    assert refused("q-00002-of-00003.gguf") == (
        "--puma-model 'q-00002-of-00003.gguf': q-00002-of-00003.gguf is one of 3 parts; "
        "give the first of them: q-00001-of-00003.gguf"
    )


def test_a_missing_part_is_named(split: Path) -> None:
    split.with_name("q-00003-of-00003.gguf").unlink()
    assert refused("q") == (
        "--puma-model 'q': q-00001-of-00003.gguf lacks 1 of its 3 parts: put q-00003-of-00003.gguf beside it"
    )


def test_a_part_that_is_cut_off_is_named(split: Path) -> None:
    part = split.with_name("q-00003-of-00003.gguf")
    part.write_bytes(part.read_bytes()[:-1])
    assert "'q': q-00003-of-00003.gguf has " in refused("q")
