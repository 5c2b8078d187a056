import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from pytest_puma.core import ModelError
from pytest_puma.models.resolve import find_model, resolve_models
from pytest_puma.models.sources import find_on_hub
from pytest_puma.platform.installation import install_extra
from tests.datasets.hub_server import Hub, local_hub

REPOSITORY = "owner/tiny-GGUF"


@pytest.fixture(scope="module")
def server() -> Iterator[Hub]:
    with local_hub() as hub:
        yield hub


@pytest.fixture
def hub(server: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """An empty hub, and an empty cache."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    server.clear()
    return server


def refused(reference: str) -> str:
    with pytest.raises(ModelError) as caught:
        find_on_hub(reference)
    return str(caught.value)


@pytest.mark.parametrize("pattern", ["tiny-Q4_K_M.gguf", "*q4_k_m.gguf", "*Q4*", "tiny-Q?_K_M.gguf"])
def test_the_only_matching_file_is_downloaded(hub: Hub, pattern: str) -> None:
    hub.repositories[REPOSITORY] = {"tiny-Q8_0.gguf": b"eight", "tiny-Q4_K_M.gguf": b"four", "Q4.md": b"read me"}
    path = find_on_hub(f"{REPOSITORY}:{pattern}")
    assert path.name == "tiny-Q4_K_M.gguf"
    assert path.read_bytes() == b"four"
    assert hub.downloads == ["tiny-Q4_K_M.gguf"]


def test_a_file_with_exactly_that_name_takes_precedence(hub: Hub) -> None:
    hub.repositories[REPOSITORY] = {"q.gguf": b"small", "Q.gguf": b"large"}
    assert find_on_hub(f"{REPOSITORY}:Q.gguf").read_bytes() == b"large"


def test_a_downloaded_file_is_taken_from_the_cache(hub: Hub) -> None:
    hub.repositories[REPOSITORY] = {"q.gguf": b"weights"}
    assert find_on_hub(f"{REPOSITORY}:q.gguf") == find_on_hub(f"{REPOSITORY}:*.gguf")
    assert hub.downloads == ["q.gguf"]


def test_a_cached_file_is_found_without_the_hub(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.repositories[REPOSITORY] = {"q.gguf": b"weights"}
    with pytest.raises(ModelError, match="the cache does not have it"):
        find_on_hub(f"{REPOSITORY}:*.gguf", downloads=False)
    path = find_on_hub(f"{REPOSITORY}:q.gguf")
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:1")
    assert find_on_hub(f"{REPOSITORY}:*.gguf", downloads=False) == path
    assert find_model(f"hf:{REPOSITORY}:q.gguf", (), downloads=False) == path


def test_a_split_model_is_downloaded_as_a_whole(hub: Hub) -> None:
    parts = {f"big/q-0000{number}-of-00003.gguf": b"%d" % number for number in (3, 1, 2)}
    hub.repositories[REPOSITORY] = parts
    path = find_on_hub(f"{REPOSITORY}:*q-*.gguf")
    assert path.name == "q-00001-of-00003.gguf"
    assert [part.read_bytes() for part in sorted(path.parent.iterdir())] == [b"1", b"2", b"3"]


def test_the_first_part_stands_for_all(hub: Hub) -> None:
    hub.repositories[REPOSITORY] = {f"q-0000{number}-of-00002.gguf": b"%d" % number for number in (1, 2)}
    path = find_on_hub(f"{REPOSITORY}:q-00001-of-00002.gguf")
    assert path.with_name("q-00002-of-00002.gguf").read_bytes() == b"2"


@pytest.mark.parametrize(
    ("files", "pattern", "sentence"),
    [
        (
            ["a-q4.gguf", "a-q8.gguf", "a.md"],
            "*.gguf",
            f"'*.gguf' matches 2 models of {REPOSITORY}: a-q4.gguf, a-q8.gguf; narrow it down to one",
        ),
        (
            ["a-q4.gguf", "b-00001-of-00002.gguf", "b-00002-of-00002.gguf"],
            "*q8*",
            f"no GGUF file of {REPOSITORY} matches '*q8*'; it has a-q4.gguf, b-00001-of-00002.gguf",
        ),
        (["a.md"], "*", f"no GGUF file of {REPOSITORY} matches '*'; it has none"),
        (
            [f"{number:02}.gguf" for number in range(22)],
            "x",
            (
                f"no GGUF file of {REPOSITORY} matches 'x'; "
                f"it has {', '.join(f'{number:02}.gguf' for number in range(20))} and 2 more"
            ),
        ),
        (
            ["b-00001-of-00002.gguf", "b-00002-of-00002.gguf"],
            "*-00002-of-*",
            "only b-00002-of-00002.gguf matches, one of 2 parts; name the first of them: b-00001-of-00002.gguf",
        ),
        (
            ["b-00001-of-00002.gguf"],
            "b*",
            f"{REPOSITORY} lacks 1 of 2 parts: b-00002-of-00002.gguf; choose another file",
        ),
    ],
)
def test_a_pattern_that_does_not_match_one_model_is_an_error_that_lists_the_files(
    hub: Hub, files: list[str], pattern: str, sentence: str
) -> None:
    hub.repositories[REPOSITORY] = dict.fromkeys(files, b"")
    assert refused(f"{REPOSITORY}:{pattern}") == sentence
    assert hub.downloads == []


@pytest.mark.parametrize("reference", ["", "owner", "owner/repo", "owner/repo:", "repo:*.gguf", "a/b/c:*.gguf"])
def test_a_reference_names_owner_repository_and_pattern(reference: str) -> None:
    sentence = "expected hf:owner/repo:file-pattern, as in hf:Qwen/Qwen2.5-3B-Instruct-GGUF:*q4_k_m.gguf"
    assert refused(reference) == sentence


def test_an_unknown_repository_is_an_error(hub: Hub) -> None:
    assert refused("owner/other:*.gguf") == (
        f"{hub.url} has no repository owner/other for you; "
        "check the name, or if it is private, 'hf auth login' or set HF_TOKEN"
    )


def test_the_error_of_a_gated_repository_names_the_page_with_its_terms(hub: Hub) -> None:
    hub.repositories[REPOSITORY] = {"q.gguf": b"weights"}
    hub.gated.add(REPOSITORY)
    assert refused(f"{REPOSITORY}:q.gguf") == (
        f"{REPOSITORY} is gated: accept its terms at {hub.url}/{REPOSITORY}, then 'hf auth login' or set HF_TOKEN"
    )


@pytest.mark.parametrize("status", [403, 501])
def test_a_failing_hub_is_an_error(hub: Hub, status: int) -> None:
    hub.status = status
    sentence = refused(f"{REPOSITORY}:q.gguf")
    assert sentence.startswith(f"cannot get it from {hub.url}, and the cache does not have it: HfHubHTTPError: ")
    assert str(status) in sentence
    assert "\n" not in sentence


def test_a_hub_that_does_not_answer_is_an_error(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.repositories[REPOSITORY] = {"q.gguf": b"weights"}
    path = find_on_hub(f"{REPOSITORY}:q.gguf")
    nobody = "http://127.0.0.1:9"
    monkeypatch.setattr(constants, "ENDPOINT", nobody)
    assert find_on_hub(f"{REPOSITORY}:q.gguf") == path
    assert refused("owner/other:*").startswith(f"cannot get it from {nobody}, and the cache does not have it: Connect")


def test_the_cache_is_used_if_the_hub_cannot_be_reached(hub: Hub) -> None:
    hub.repositories[REPOSITORY] = {"q-small.gguf": b"weights", "q-large.gguf": b"more weights"}
    path = find_on_hub(f"{REPOSITORY}:*small*")
    hub.status = 501
    assert find_on_hub(f"{REPOSITORY}:*small*") == path
    assert refused(f"{REPOSITORY}:*large*").startswith("no GGUF file of owner/tiny-GGUF matches '*large*'")


def test_without_the_package_the_error_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert refused(f"{REPOSITORY}:q.gguf") == (
        f"this needs the package huggingface_hub; install it with: {install_extra('hub')}"
    )


SCRIPT = """
import sys
from pytest_puma.models.resolve import resolve_models
print(resolve_models(sys.argv[1:], directories=())[0].path)
"""


def run(home: Path, argument: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Resolve an argument in a separate process, which reads the environment as a user's does."""
    return subprocess.run(  # noqa: S603  (our own script)
        [sys.executable, "-c", SCRIPT, argument],
        env={**os.environ, "HF_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_environment_variables_of_the_client_work(tmp_path: Path, hub: Hub, weights: bytes) -> None:
    hub.repositories[REPOSITORY] = {"tiny.gguf": weights}
    argument = f"small=hf:{REPOSITORY}:*.gguf"
    online = run(tmp_path, argument, HF_ENDPOINT=hub.url)
    assert Path(online.stdout.strip()).read_bytes() == weights, online.stderr
    offline = run(tmp_path, argument, HF_ENDPOINT=hub.url, HF_HUB_OFFLINE="1")
    assert offline.stdout == online.stdout, offline.stderr
    nothing = run(tmp_path / "empty", argument, HF_ENDPOINT=hub.url, HF_HUB_OFFLINE="1")
    assert f"--puma-model '{argument}': cannot get it from {hub.url}" in nothing.stderr


def test_a_model_of_the_hub_is_named_after_its_file(hub: Hub, weights: bytes) -> None:
    hub.repositories[REPOSITORY] = {"sub/tiny-Q4_K_M.gguf": weights}
    (model,) = resolve_models([f"hf:{REPOSITORY}:*.gguf"], directories=())
    assert model.name == "tiny-Q4_K_M"
    assert model.path.read_bytes() == weights


def test_a_file_of_the_hub_is_checked_like_any_other(hub: Hub) -> None:
    hub.repositories[REPOSITORY] = {"q.gguf": b"<html>"}
    with pytest.raises(ModelError, match=r"^--puma-model 'hf:owner/tiny-GGUF:q\.gguf': .*it is a web page"):
        resolve_models([f"hf:{REPOSITORY}:q.gguf"], directories=())
