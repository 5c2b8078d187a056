"""The table of tensor types, against that of the gguf package."""

from gguf.constants import GGML_QUANT_SIZES

from pytest_puma.models.header import BLOCKS


def test_the_sizes_of_the_tensor_types_are_those_of_the_gguf_package() -> None:
    theirs = {int(kind): size for kind, size in GGML_QUANT_SIZES.items() if kind in BLOCKS}
    assert theirs == {kind: size for kind, size in BLOCKS.items() if kind in theirs}
    assert len(theirs) > 30
