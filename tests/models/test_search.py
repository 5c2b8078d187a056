from pathlib import Path

import pytest

from pytest_puma.core import ModelError
from pytest_puma.models.search import default_directories, find_file

DIRECTORIES = (Path(), Path("models"))


def place_files(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


@pytest.mark.parametrize(
    ("place", "file"),
    [
        ("q.gguf", "q.gguf"),
        ("./q.gguf", "q.gguf"),
        ("q", "q.gguf"),
        ("models/m.gguf", "models/m.gguf"),
        ("m.gguf", "models/m.gguf"),
        ("qwen2.5-3b", "models/qwen2.5-3b.gguf"),
        ("sub/s", "models/sub/s.gguf"),
        ("big", "models/big-00001-of-00002.gguf"),
        ("both", "both.gguf"),
        ("no-ending", "no-ending"),
    ],
)
def test_a_path_or_a_bare_name_is_found(folder: Path, place: str, file: str) -> None:
    names = ["q.gguf", "both.gguf", "no-ending", "models/both.gguf", "models/m.gguf", "models/qwen2.5-3b.gguf"]
    place_files(folder, *names, "models/sub/s.gguf", "models/big-00001-of-00002.gguf", "models/big-00002-of-00002.gguf")
    assert find_file(place, DIRECTORIES) == Path(file)


def test_an_absolute_path_and_the_home_directory_are_found(folder: Path) -> None:
    home = folder.parent / "home"
    place_files(home, "q.gguf")
    assert find_file(str(home / "q.gguf"), DIRECTORIES) == home / "q.gguf"
    assert find_file("~/q", DIRECTORIES) == home / "q.gguf"


def test_by_default_the_root_its_models_and_the_users_cache_are_searched(folder: Path) -> None:
    cache = folder.parent / "home" / "cache" / "pytest-puma" / "models"
    assert default_directories(Path("r")) == (Path("r"), Path("r/models"), cache)
    place_files(cache, "q.gguf")
    assert find_file("q", default_directories()) == cache / "q.gguf"


@pytest.mark.parametrize(
    ("files", "place", "sentence"),
    [
        ([], "q.gguf", "no such file in ., models (no GGUF files there); give the path of one"),
        (
            ["a.gguf", "x.txt"],
            "q.gguf",
            "no such file in ., models (1 GGUF file there: a.gguf); give a path or this name",
        ),
        (
            ["a.gguf", "models/b.gguf", "models/a.gguf"],
            "qwen.gguf",
            "no such file in ., models (2 GGUF files there: a.gguf, b.gguf); give a path or one of these names",
        ),
        (
            ["a-00001-of-00002.gguf", "a-00002-of-00002.gguf"],
            "q",
            "no such file in ., models (1 GGUF file there: a-00001-of-00002.gguf); give a path or this name",
        ),
        (
            [f"{number:02}.gguf" for number in range(12)],
            "q",
            (
                "no such file in ., models (12 GGUF files there: 00.gguf, 01.gguf, 02.gguf, 03.gguf, 04.gguf, 05.gguf, "
                "06.gguf, 07.gguf, 08.gguf, 09.gguf and 2 more); give a path or one of these names"
            ),
        ),
        (
            ["models/a.gguf"],
            "models",
            "models is a directory (1 GGUF file there: a.gguf); expected a GGUF file: give a path or this name",
        ),
        (
            ["models/x.txt"],
            "models",
            "models is a directory (no GGUF files there); expected a GGUF file: give the path of one",
        ),
        (
            ["tone/adapter_config.json", "tone/adapter_model.safetensors"],
            "tone",
            (
                "tone is a directory (no GGUF files there); expected a GGUF file: it has adapter_config.json, "
                "so convert it with llama.cpp's convert_lora_to_gguf.py"
            ),
        ),
        (
            ["qwen/config.json", "qwen/model.safetensors"],
            "qwen",
            (
                "qwen is a directory (no GGUF files there); expected a GGUF file: it has config.json, so convert it "
                "with llama.cpp's convert_hf_to_gguf.py"
            ),
        ),
        (
            ["qwen/config.json", "qwen/q.gguf"],
            "qwen",
            "qwen is a directory (1 GGUF file there: q.gguf); expected a GGUF file: give a path or this name",
        ),
        ([], "q" * 5000, "no such file in ., models (no GGUF files there); give the path of one"),
        ([], "\0", "no such file in ., models (no GGUF files there); give the path of one"),
        ([], "\0/x", "no such file in ., models (no GGUF files there); give the path of one"),
        ([], "~nobody-of-this-name/q", "no such file in ., models (no GGUF files there); give the path of one"),
    ],
)
def test_the_error_of_a_missing_file_lists_the_existing_files(
    folder: Path, files: list[str], place: str, sentence: str
) -> None:
    place_files(folder, *files)
    with pytest.raises(ModelError) as caught:
        find_file(place, DIRECTORIES)
    assert str(caught.value) == sentence


def test_the_first_directory_with_such_a_file_wins(folder: Path) -> None:
    place_files(folder, "b/q.gguf", "c/q.gguf")
    assert find_file("q", (Path("c"), Path("b"), Path("c"))) == Path("c/q.gguf")


def test_the_error_lists_each_directory_once_and_in_order(folder: Path) -> None:
    with pytest.raises(ModelError, match=r"^no such file in ., models, x \("):
        find_file("q", (folder / "models", folder, Path("x"), Path("models")))


def test_the_error_of_a_missing_absolute_path_lists_the_files_of_its_folder(folder: Path) -> None:
    other = folder.parent / "other"
    place_files(other, "a.gguf")
    with pytest.raises(ModelError) as caught:
        find_file(str(other / "q.gguf"), DIRECTORIES)
    assert str(caught.value) == f"no such file in {other} (1 GGUF file there: a.gguf); give a path or this name"
