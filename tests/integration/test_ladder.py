"""A ladder: quantisations of a model as cells of their own, each made once, and options of the engine beside them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gguf import GGUFReader

from pytest_puma.models.search import user_cache
from pytest_puma.models.weights import weights_digest
from pytest_puma.platform.bundled import bundled_folder
from tests.integration.conftest import ONE_PROCESS, TRIAGE, Project
from tests.tiny_controls import write_lora, write_vector
from tests.tiny_gguf import LLAMA_NO_BOS, MAMBA, write_gguf

LADDER = "--puma-model=q.gguf,quant=none/Q8_0/Q4_0,gpu_layers=0"
MODELS = ["q", "q+Q4_0", "q+Q8_0"]


@pytest.fixture
def ladder(project: Project) -> Project:
    """A project with a model in single precision, which no other test has."""
    write_gguf(project.pytester.path / "q.gguf", replace(LLAMA_NO_BOS, seed=100 + project.workers))
    project.write(test_it=TRIAGE)
    return project


def made(digest: str) -> list[Path]:
    """The files that were made of one with this digest."""
    return sorted((user_cache() / "quantised").glob(f"*{digest[:16]}*"))


def engines(project: Project) -> dict[str, Any]:
    """The signature of the engine by model, in the last run."""
    last = max((project.pytester.path / ".puma" / "runs").iterdir())
    lines = map(json.loads, (last / "predictions.jsonl").read_text().splitlines())
    return {line["model"]: line["signature"]["engine"] for line in lines if line["kind"] == "cell"}


def test_a_ladder_is_made_once_kept_and_read_offline(ladder: Project) -> None:
    source = ladder.pytester.path / "q.gguf"
    digest = weights_digest(source)
    result = ladder.run(LADDER, model=False)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "model *MB *bits/weight *tensors *read/s *written/s *peak memory, MB",
            "q *32.00 *100% F32 *",
            "q+Q8_0 *8.54 *100% Q8_0*",
        ]
    )
    files = made(digest)
    assert [file.name for file in files] == [f"q-{name}-{digest[:16]}.gguf" for name in ("Q4_0", "Q8_0")]
    kinds = [{tensor.tensor_type.name for tensor in GGUFReader(file).tensors} for file in files]
    assert "Q4_0" in kinds[0]
    assert kinds[1] == {"F32", "Q8_0"}
    signatures = engines(ladder)
    digests = {model: signature["weights_sha256"] for model, signature in signatures.items()}
    assert digests == dict(zip(MODELS, map(weights_digest, [source, *files]), strict=True))
    assert not any("variant" in signature for signature in signatures.values())
    stamps = [file.stat().st_mtime_ns for file in files]
    record = json.loads((max((ladder.pytester.path / ".puma" / "runs").iterdir()) / "run.json").read_text())
    sizes = {model: weights["size"] for model, weights in record["weights"].items()}
    assert sizes == dict(zip(MODELS, [file.stat().st_size for file in (source, *files)], strict=True))
    assert record["weights"]["q+Q8_0"]["bits"] < 9 < record["weights"]["q"]["bits"] == 32
    assert all(outcome["peak_memory"] > sizes[outcome["model"]] for outcome in record["outcomes"])

    result = ladder.run(LADDER, model=False)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["kept answers: all 24 of 3 cells*"])
    result.stdout.no_fnmatch_line("*peak memory*")
    assert [file.stat().st_mtime_ns for file in made(digest)] == stamps

    for file in [source, *files]:
        file.unlink()
    result = ladder.run("--puma-offline", "--puma-model=q,quant=none/Q8_0/Q4_0", model=False)
    result.assert_outcomes(passed=3)
    assert {model: signature["weights_sha256"] for model, signature in engines(ladder).items()} == digests


@ONE_PROCESS
def test_another_file_of_the_model_and_options_of_the_engine_are_variants(ladder: Project) -> None:
    folder = ladder.pytester.path
    write_gguf(folder / "theirs.gguf", replace(LLAMA_NO_BOS, seed=7))
    argument = "--puma-model=q.gguf,quant=none/theirs.gguf,kv=f16/q8_0,gpu_layers=0"
    ladder.run(argument, model=False).assert_outcomes(passed=4)
    signatures = engines(ladder)
    own, theirs = weights_digest(folder / "q.gguf"), weights_digest(folder / "theirs.gguf")
    assert {
        model: (signature["weights_sha256"], signature.get("variant")) for model, signature in signatures.items()
    } == {
        "q": (own, None),
        "q+kv-q8_0": (own, "kv q8_0"),
        "q+theirs": (theirs, None),
        "q+theirs+kv-q8_0": (theirs, "kv q8_0"),
    }


@ONE_PROCESS
def test_an_adapter_and_a_vector_are_put_on_a_quantisation(ladder: Project) -> None:
    folder = ladder.pytester.path
    shutil.copy(bundled_folder("models") / "puma-tiny.gguf", folder / "q.gguf")
    write_vector(folder / "loud.gguf")
    write_lora(folder / "a.gguf")
    argument = "--puma-model=q.gguf,quant=none/Q4_0,steer=loud.gguf:0/9,lora=a.gguf:0/1,gpu_layers=0"
    ladder.run(argument, model=False).assert_outcomes(passed=8)
    signatures = engines(ladder)
    own = {
        model for model, engine in signatures.items() if engine["weights_sha256"] == weights_digest(folder / "q.gguf")
    }
    assert own == {"q", "q+loud-9", "q+a-1", "q+loud-9+a-1"}
    for model in own:
        quantised = model.replace("q", "q+Q4_0")
        assert signatures[quantised].get("variant") == signatures[model].get("variant")
    texts: dict[str, list[str]] = {model: [] for model in signatures}
    for line in ladder.predictions():
        texts[line["cell"].partition("@")[2]].append(str(line["raw"]))
    assert texts["q+Q4_0"] not in (texts["q+Q4_0+loud-9"], texts["q+Q4_0+a-1"])


@ONE_PROCESS
def test_a_plan_has_the_sizes_and_makes_no_file(ladder: Project) -> None:
    result = ladder.run("--puma-plan", "--puma-model=q.gguf,quant=none/Q8_0,kv=f16/q8_0,gpu_layers=0", model=False)
    result.stdout.fnmatch_lines(
        [
            "4 variants of q (2 loads), 4 cells",
            "triage_jira-zero_shot@q * 2 *",
            "triage_jira-zero_shot@q+kv-q8_0 * 1 *",
            "memory: about * with q: 2 MB of weights*",
            "memory: about * with q+Q8_0: 0 MB of weights*",
        ]
    )
    assert not made(weights_digest(ladder.pytester.path / "q.gguf"))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("none/mamba.gguf", "*mamba.gguf is no other quantisation of q: architecture mamba instead of llama;*"),
        ("wide.gguf", "*wide.gguf is no other quantisation of q: width 256 instead of 128; give it as a model*"),
        ("none/Q9_0", "*quant=Q9_0 is none of the types F16, BF16, Q8_0*, and no file: no such file*"),
        ("none/IQ1_S", "*IQ1_S needs an importance matrix: make it with llama-quantize, and name the file*"),
    ],
)
@ONE_PROCESS
def test_a_mistake_is_an_error_before_anything_runs(ladder: Project, value: str, sentence: str) -> None:
    folder = ladder.pytester.path
    write_gguf(folder / "mamba.gguf", MAMBA)
    write_gguf(folder / "wide.gguf", replace(LLAMA_NO_BOS, width=256))
    result = ladder.run(f"--puma-model=q.gguf,quant={value}", model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([sentence])
    assert not made(weights_digest(folder / "q.gguf"))


OWN = """
from pytest_puma import Variant, hook, quant

def pytest_puma_variants(model):
    shifted = hook(lambda states, where: states + 1, version="1", layers=1, name="shifted")
    return [Variant.of(quant("q8_0")), Variant.of(quant("Q8_0"), shifted)]
"""


@ONE_PROCESS
def test_weights_that_a_conftest_asks_for_are_those_of_the_list(ladder: Project) -> None:
    ladder.run("--puma-model=q.gguf,quant=none/Q8_0,gpu_layers=0", model=False).assert_outcomes(passed=2)
    ladder.write(conftest=OWN)
    result = ladder.run("--puma-model=q.gguf,gpu_layers=0", model=False)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["kept answers: all 16 of 2 cells*"])
    signatures = engines(ladder)
    assert signatures["q+Q8_0+shifted-hook-1-L1"]["weights_sha256"] == signatures["q+Q8_0"]["weights_sha256"]
    assert signatures["q+Q8_0+shifted-hook-1-L1"]["variant"].startswith("hook ")
