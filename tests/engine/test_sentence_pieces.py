"""Prompts on a vocabulary of SentencePiece, which puts a blank before each text that is tokenised alone."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from string import ascii_lowercase

import pytest
from gguf import GGUFWriter, TokenType

from pytest_puma.core import Message, Model, Prompt
from pytest_puma.engine.native import DryBackend

TURNS = (
    "{% for m in messages %}<s>{{ m.role }} {{ m.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant {% endif %}"
)
CONTROL = {"<unk>": TokenType.UNKNOWN, "<s>": TokenType.CONTROL, "</s>": TokenType.CONTROL}
PIECES = ("\u2581", *ascii_lowercase, "<", ">", "/", "-", "?", "\u2581a")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vocabulary without weights: its control tokens, all bytes, and some pieces."""
    written = tmp_path_factory.mktemp("vocabulary") / "pieces.gguf"
    writer = GGUFWriter(written, "llama")
    kinds = (
        CONTROL | {f"<0x{byte:02X}>": TokenType.BYTE for byte in range(256)} | dict.fromkeys(PIECES, TokenType.NORMAL)
    )
    writer.add_context_length(256)
    writer.add_embedding_length(64)
    writer.add_block_count(1)
    writer.add_feed_forward_length(64)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(list(kinds))
    writer.add_token_types(list(kinds.values()))
    writer.add_token_scores([0.0] * len(kinds))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_space_prefix(True)  # noqa: FBT003
    writer.add_chat_template(TURNS)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return written


@pytest.mark.parametrize("text", ["old<s>price</s>new", "<s>", "a</s>", "</s></s>b", "x <unk> y"])
def test_a_sample_that_spells_a_control_token_reaches_the_model_letter_by_letter(path: Path, text: str) -> None:
    harmless = text.replace("<s>", "<z>").replace("</s>", "</z>").replace("<unk>", "<unz>")
    with closing(DryBackend(Model(name="q", path=path), context_limit=256)) as backend:
        written, plain = (
            b"".join(map(backend.piece, backend.encode(Prompt(messages=(Message(role="user", content=each),)), "b")))
            for each in (text, harmless)
        )
    assert text in written.decode()
    assert written.decode().replace(text, harmless) == plain.decode()
