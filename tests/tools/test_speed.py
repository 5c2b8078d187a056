"""The speed bench: all contenders do the same work on the same model, and the floor counts the minimum of tokens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest
from gguf import GGUFReader

from pytest_puma.core import Generate, Message, Prompt, Score
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.testing import ScriptedBackend
from tools.qwen2 import Shape
from tools.speed import __main__ as program
from tools.speed import server
from tools.speed.bench import OUR_OWN, measure
from tools.speed.contenders import BUSY, IN_PROCESS, Setting, Work
from tools.speed.floor import Need, Text, decode_rate, need_of, prefill_rate
from tools.speed.overhead import overhead
from tools.speed.shapes import is_current, write_model
from tools.speed.workloads import DIRECT, THOUGHT, Workload, workloads

SMALL = Shape(layers=1, width=64, feed_forward=64, heads=2, kv_heads=1, vocabulary=4200, context=4096)
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    path = write_model(tmp_path_factory.mktemp("speed") / "small.gguf", SMALL)
    return Setting(path=path, threads=1, context=2048)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the models of all runs: each model is written once."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def suite(setting: Setting) -> dict[str, Workload]:
    return workloads(setting.model, samples=2, stories=())


def prompt(text: str) -> Prompt:
    return Prompt(messages=(Message(role="user", content=text),))


def test_workloads_are_the_requests_of_the_strategies(suite: dict[str, Workload]) -> None:
    assert len(suite["triage"].cells) == len(DIRECT)
    assert [len(suite[name].requests) for name in suite] == [14, 2, 5, 16, 2, 2]
    assert {name for name, each in suite.items() if each.scored} == {"labels", "points"}
    assert all(isinstance(each, Generate) and each.max_tokens == THOUGHT for each in suite["thoughts"].requests)


def test_no_reply_ends_before_its_limit(setting: Setting, suite: dict[str, Workload]) -> None:
    with closing(Engine(NativeBackend(setting.model, threads=1))) as engine:
        responses = engine.run(suite["thoughts"].requests)
    assert {(each.finish, each.usage.decoded_tokens) for each in responses} == {("length", THOUGHT)}


def test_a_model_older_than_the_bundled_vocabulary_is_not_current(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    assert not is_current(path)
    path.touch()
    assert is_current(path)
    os.utime(path, (0, 0))
    assert not is_current(path)


def test_no_answer_ends_inside_a_character(setting: Setting) -> None:
    # llama-cpp-python continues beyond the limit until the last character is complete, which is additional work.
    [embeddings] = [each.data for each in GGUFReader(setting.path).tensors if each.name == "token_embd.weight"]
    with closing(NativeBackend(setting.model, threads=1)) as backend:
        silent = {token for token, row in enumerate(embeddings) if not row.any()}
        broken = {token for token in range(len(embeddings)) if not backend.piece(token).isascii()}
    assert broken
    assert broken <= silent
    assert len(silent) < len(embeddings) / 10


@pytest.mark.parametrize(("name", "length"), [("triage", 200), ("votes", 200), ("labels", 200), ("points", 100)])
def test_the_loop_does_the_same_work(name: str, length: int, setting: Setting, suite: dict[str, Workload]) -> None:
    lines: list[str] = []
    result = measure(setting, suite[name], IN_PROCESS, rounds=1, log=lines.append)
    compared = {"ours", "ours, strict", "loop", "loop, no reuse", *(["prompts alone"] if suite[name].scored else [])}
    assert set(result.timings) == compared
    assert len(lines) == 1 + len(compared)
    assert result.work.prompt_tokens > length * len(suite[name].requests)
    assert result.of_floor > 0


@pytest.mark.parametrize("name", ["server, 1 slot", "server, 4 slots"])
def test_the_server_does_the_same_work(name: str, setting: Setting, suite: dict[str, Workload]) -> None:
    for package in ("xllamacpp", "aiohttp"):
        pytest.importorskip(package, reason="pip install 'pytest-puma[speed]'")
    chosen = {"ours": IN_PROCESS["ours"], name: server.contenders()[name]}
    assert measure(setting, suite["triage"], chosen, rounds=1, log=print).timings[name].middle > 0


def test_the_work_beside_a_busy_process_is_the_same(setting: Setting, suite: dict[str, Workload]) -> None:
    before = len(psutil.Process().children())
    result = measure(setting, suite["labels"], {"ours": IN_PROCESS["ours"], **BUSY}, rounds=1, log=print)
    assert result.timings["ours, busy"].middle > 0
    assert len(psutil.Process().children()) == before


def test_a_contender_with_other_work_is_an_error(setting: Setting, suite: dict[str, Workload]) -> None:
    idle = {
        "ours": IN_PROCESS["ours"],
        "idler": lambda _setting, _workload: Work(seconds=1, prompt_tokens=0, new_tokens=0),
    }
    with pytest.raises(RuntimeError, match="labels: idler has 0 prompt tokens and 0 new ones; expected as many"):
        measure(setting, suite["labels"], idle, rounds=1, log=print)


def test_the_floor_counts_each_prefix_once() -> None:
    backend = ScriptedBackend({})
    lead = len(backend.encode(prompt(""))) - len(b"\n\x02assistant\x03")
    tail = len(b"\n\x02assistant\x03")
    requests = (
        Generate(prompt=prompt("aab"), max_tokens=5),
        Generate(prompt=prompt("aac"), max_tokens=5),
        Score(prompt=prompt("b"), continuations=("xy", "xz")),
    )
    need = need_of(backend, Workload(name="", why="", cells=(requests,)))
    # "aa", then two ends; "b" and its end, then "xy" and "xz", without the end of turn, which is not computed.
    assert sum(tokens for _, tokens in need.prefill) == lead + 2 + 2 * (1 + tail) + 1 + tail + 3
    assert need.decoded == 2 * 4


def test_the_floor_separates_long_texts_from_short_ones() -> None:
    backend = ScriptedBackend({})
    lengths = [10, 20, 30, 2100, 2300]
    requests = tuple(
        Generate(prompt=prompt(chr(number + 65) * length), max_tokens=2) for number, length in enumerate(lengths)
    )
    (short, few), (long, many) = need_of(backend, Workload(name="", why="", cells=(requests,))).prefill
    # The text around a mean token is longer than the mean text.
    assert 20 < few / 3 < short.own < 100
    assert 2200 < many / 2 < long.own < 2300 + 20
    assert (short.rows, long.rows) == (1, 1)


def test_scored_tails_keep_their_rows_beside_the_tokens_of_long_prompts() -> None:
    requests = (Score(prompt=prompt("a" * 200), continuations=("bcd", "cde", "def")),)
    ((text, tokens),) = need_of(ScriptedBackend({}), Workload(name="", why="", cells=(requests,))).prefill
    # The row after the prompt, and three of each tail.
    assert text.own > 200
    assert text.rows / text.own == pytest.approx(10 / tokens, rel=0.05)


def test_raw_rates_are_those_of_batches_of_the_same_shape(setting: Setting) -> None:
    text = Text(shared=700, own=300, rows=80)
    need = Need(prefill=((text, 1),), decoded=1, mean=text, new=40)
    with closing(NativeBackend(setting.model, threads=1)) as backend:
        assert prefill_rate(backend, text, 8) > 0
        assert decode_rate(backend, need, 8) > 0


def test_the_overhead_of_pytest_is_separate_from_the_computing_time(setting: Setting) -> None:
    figures = overhead(setting, samples=2, rounds=1)
    assert figures.samples == len(DIRECT)
    assert 0 < figures.start < 60
    assert figures.share == pytest.approx(figures.milliseconds * figures.samples / 1000 / figures.engine)


@pytest.mark.parametrize(
    ("workload", "contender", "packages"),
    [
        ("labels", "loop", []),
        ("labels", "ours, strict", []),
        ("triage", "inspect on server", ["xllamacpp", "inspect_ai", "openai"]),
    ],
)
def test_the_last_line_is_a_summary(
    workload: str, contender: str, packages: list[str], tmp_path: Path, folder: Path
) -> None:
    for package in packages:
        if find_spec(package) is None:
            pytest.skip(f"{package}: pip install 'pytest-puma[speed]'")
    figures = tmp_path / "figures.json"
    command = [sys.executable, "-m", "tools.speed", "--quick", f"--workload={workload}", f"--contender={contender}"]
    command += ["--busy"] if contender == "loop" else []
    done = subprocess.run(  # noqa: S603 - our own command
        [*command, "--samples=1", "--threads=1", f"--json={figures}", f"--folder={folder}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"tiny {workload}: ")
    assert ("times the next" in last) == (contender not in OUR_OWN)
    (result,) = json.loads(figures.read_text())["tiny"]["workloads"]
    assert set(result["timings"]) == {"ours", contender, *(["ours, busy"] if contender == "loop" else [])}


@pytest.mark.parametrize("option", ["--workload", "--contender"])
def test_an_unknown_name_is_refused(option: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["--shape=tiny", f"--folder={folder}", "--samples=1", option, "magic"]
    monkeypatch.setattr(sys, "argv", ["speed", *arguments])
    with pytest.raises(SystemExit, match=f"^{option}: 'magic' is unknown; there are: "):
        program.main()
