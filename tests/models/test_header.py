"""Tables of tensor types and quantisations, against those of the gguf package."""

from gguf.constants import GGML_QUANT_SIZES, LlamaFileType

from pytest_puma.models.header import BLOCKS, FILE_TYPES


def test_the_sizes_of_the_tensor_types_are_those_of_the_gguf_package() -> None:
    theirs = {int(kind): size for kind, size in GGML_QUANT_SIZES.items() if kind in BLOCKS}
    assert theirs == {kind: size for kind, size in BLOCKS.items() if kind in theirs}
    assert len(theirs) > 30


def test_the_names_of_the_quantisations_are_those_of_the_gguf_package() -> None:
    theirs = {int(kind): kind.name.removeprefix("MOSTLY_").removeprefix("ALL_") for kind in LlamaFileType}
    ours = {kind: name for kind, name in FILE_TYPES.items() if kind in theirs}
    assert ours == {kind: name for kind, name in theirs.items() if kind in ours}
    assert len(ours) > 30
