"""Values for hostile GGUF files: those at the limits of types, and the names that llama.cpp knows."""

from __future__ import annotations

import math
from random import Random
from typing import Final

from tests.fuzz.gguf_parts import ARRAY, BOOL, FLOAT32, FLOAT64, INT8, TEXT, UINT32, Element, array, number, text

NUMBERS: Final = (0, 1, 2, 3, 5, 7, 31, 33, 255, 1 << 15, (1 << 16) - 1, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
LENGTHS: Final = (*NUMBERS, 1 << 32, 1 << 40, (1 << 62) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 8, (1 << 64) - 1)
FLOATS: Final = (0.0, -0.0, -1.0, 1.0, 1e-45, 1e38, math.inf, -math.inf, math.nan)
TEXTS: Final = (b"", b"\0", b"a\0b", b"\xff\xfe", b"\xc3\xa9", b"%s%n", b"x" * 300, b"x" * 70_000, b"\x1b[2J", b"../..")
ARCHITECTURES: Final = tuple(
    (
        b" llama qwen2 qwen3 gemma gemma2 gemma3 gemma3n mamba mamba2 lfm2 rwkv6 rwkv7 falcon gpt2 bert t5 t5encoder"
        b" phi2 phi3 mpt bloom starcoder deepseek2 granitehybrid jamba qwen2moe qwen3next olmo2 clip"
        b" wavtokenizer-dec command-r nomic-bert mllama plamo2 unknown"
    ).split()
)
TOKENIZERS: Final = tuple(b"llama gpt2 bert t5 rwkv plamo2 none no_vocab replit x".split())
PRE: Final = tuple(
    b"default llama3 gpt-2 qwen2 deepseek-llm falcon mpt starcoder tekken gpt-4o chatglm-bpe kimi-k2 x".split()
)
#: Keys that llama.cpp reads and the small files lack; `{}` is the architecture.
KEYS: Final = """
    general.alignment general.type general.file_type general.quantization_version split.no split.count
    split.tensors.count {}.rope.dimension_count {}.rope.freq_base {}.rope.scaling.type {}.rope.scaling.factor
    {}.rope.scaling.original_context_length {}.rope.dimension_sections {}.attention.key_length
    {}.attention.value_length {}.attention.sliding_window {}.attention.sliding_window_pattern {}.attention.causal
    {}.attention.clamp_kqv {}.attention.max_alibi_bias {}.attention.head_count_kv {}.attention.head_count
    {}.attention.layer_norm_epsilon {}.attention.layer_norm_rms_epsilon {}.attention.scale {}.logit_scale
    {}.final_logit_softcapping {}.attn_logit_softcapping {}.pooling_type {}.vocab_size {}.expert_count
    {}.expert_used_count {}.expert_shared_count {}.expert_group_count {}.expert_gating_func
    {}.nextn_predict_layers {}.leading_dense_block_count {}.block_count {}.embedding_length
    {}.embedding_length_out {}.feed_forward_length {}.classifier.output_labels {}.context_length
    {}.ssm.conv_kernel {}.ssm.inner_size {}.ssm.state_size {}.ssm.time_step_rank {}.ssm.group_count
    {}.wkv.head_size {}.token_shift_count {}.interleave_moe_layer_step {}.shortconv.l_cache {}.n_deepstack_layers
    {}.residual_scale {}.embedding_scale {}.use_parallel_residual tokenizer.ggml.add_bos_token
    tokenizer.ggml.add_eos_token tokenizer.ggml.add_space_prefix tokenizer.ggml.pre tokenizer.ggml.model
    tokenizer.ggml.tokens tokenizer.ggml.token_type tokenizer.ggml.scores tokenizer.ggml.merges
    tokenizer.ggml.token_type_count tokenizer.ggml.bos_token_id tokenizer.ggml.eos_token_id
    tokenizer.ggml.eot_token_id tokenizer.ggml.eom_token_id tokenizer.ggml.unknown_token_id
    tokenizer.ggml.padding_token_id tokenizer.ggml.seperator_token_id tokenizer.ggml.mask_token_id
    tokenizer.ggml.fim_pre_token_id tokenizer.ggml.remove_extra_whitespaces tokenizer.ggml.precompiled_charsmap
    tokenizer.chat_template tokenizer.chat_template.tool_use tokenizer.chat_templates general.name adapter.type
    adapter.lora.alpha general.base_model.count general.sampling.temp general.sampling.sequence
""".split()  # noqa: SIM905 - one name per line would be longer, and no clearer


def any_whole_number(random: Random) -> int:
    return random.choice((*LENGTHS, random.getrandbits(8), random.getrandbits(32), -1, -2))


def any_element(kind: int, random: Random) -> Element:
    if kind == TEXT:
        return random.choice((*TEXTS, b"a b", b"<0x0A>", b"<|im_end|>", b" "))
    return any_number(kind, random)


def any_number(kind: int, random: Random) -> float:
    return random.choice(FLOATS) if kind in (FLOAT32, FLOAT64) else any_whole_number(random)


def any_value(random: Random, kind: int | None = None) -> tuple[int, bytes]:
    kind = random.randrange(13) if kind is None else kind
    if kind == TEXT:
        return kind, text(random.choice(TEXTS))
    if kind == ARRAY:
        inner = random.choice([each for each in range(13) if each != ARRAY])
        count = random.choice((0, 1, 2, 4, 5, 600))
        return kind, array(inner, [any_element(inner, random) for _ in range(count)])
    return kind, number(kind, any_number(kind, random))


def plausible_value(random: Random) -> tuple[int, bytes]:
    """A value, more often of a type that the keys have."""
    kind = random.choice((UINT32, UINT32, UINT32, FLOAT32, BOOL, TEXT, ARRAY, INT8, None))
    return any_value(random, kind)
