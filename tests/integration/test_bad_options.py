"""Wrong command lines: exit 4 and one sentence."""

import pytest

from tests.integration.conftest import ONE_PROCESS, TRIAGE, Project
from tests.tiny_gguf import write_vocab_only

COMMAND_LINES = {
    "a model that is not there": (
        ["--puma-model=nope.gguf"],
        "*puma: --puma-model 'nope.gguf': no such file in *",
    ),
    "a model that is empty": (["--puma-model=empty.gguf"], "*puma: --puma-model 'empty.gguf'*empty*"),
    "a model that is no GGUF": (["--puma-model=page.gguf"], "*puma: --puma-model 'page.gguf'*GGUF*"),
    "a model that is cut off": (["--puma-model=cut.gguf"], "*puma: --puma-model 'cut.gguf'*"),
    "a model that is a vocabulary": (["--puma-model=vocab.gguf"], "*puma: --puma-model 'vocab.gguf'*"),
    "an unknown model option": (["--puma-model=vocab.gguf,n_gpu=3"], "*puma: --puma-model *n_gpu*n_ctx*gpu_layers*"),
    "servers without a cluster": (
        ["--puma-model=vocab.gguf,rpc=host:50052"],
        "*puma: --puma-model *: found rpc=host:50052; expected --puma-cluster with it, as in --puma-cluster local:1: *",
    ),
    "an unknown scenario": (
        ["--puma-scenario=triage"],
        "*puma: --puma-scenario: scenario 'triage' is unknown; did you mean 'triage_jira'? there are*",
    ),
    "an unknown strategy": (["--puma-strategy=few_shots"], "*puma: strategy 'few_shots' is unknown; did you mean *"),
    "an empty name": (["--puma-strategy=egi,"], "*puma: --puma-strategy 'egi,': found an empty name*"),
    "samples": (["--puma-samples=0"], "*puma: the command line: samples is 0; expected a number from 1*"),
    "two reports in a file": (
        ["--puma-report=md:x", "--puma-report=csv:x"],
        "*puma: --puma-report: two formats for */x, of which one would overwrite the other*",
    ),
    "threads": (["--puma-threads=-1"], "*puma: --puma-threads is -1; expected a number from 1 to 4096*"),
    "a seed": (["--puma-seed=-1"], "*puma: the command line: seed is -1; expected a number from 0 to *"),
    "temperature": (
        ["--puma-temperature=-1"],
        "*puma: the command line: temperature is -1.0; expected a number from 0 to 100*",
    ),
    "max tokens": (["--puma-max-tokens=0"], "*puma: the command line: max_tokens is 0; expected a number from 1*"),
    "a gate without an operator": (["--puma-gate=f1_macro 0.4"], "*puma: *f1_macro 0.4*column*"),
    "data without a scenario": (["--puma-data=x.csv"], "*puma: --puma-data 'x.csv': expected SCENARIO=PATH*"),
    "data that are not there": (
        ["--puma-data=triage_jira=x.csv"],
        "*puma: --puma-data 'triage_jira=x.csv': found no file *",
    ),
    "a plan of kept answers": (
        ["--puma-offline", "--puma-plan"],
        "*puma: --puma-offline and --puma-plan: nothing is computed offline; expected one of the two",
    ),
    "kept answers computed again": (
        ["--puma-offline", "--puma-determinism=2"],
        "*puma: --puma-offline and --puma-determinism: nothing is computed offline; expected one of the two",
    ),
}


@pytest.mark.parametrize("case", COMMAND_LINES)
def test_a_bad_command_line_ends_with_exit_4_and_a_sentence(project: Project, case: str) -> None:
    arguments, sentence = COMMAND_LINES[case]
    folder = project.pytester.path
    project.write(test_triage=TRIAGE)
    (folder / "empty.gguf").touch()
    (folder / "page.gguf").write_text("<html>not found</html>", encoding="utf-8")
    (folder / "cut.gguf").write_bytes(project.model.read_bytes()[:500_000])
    write_vocab_only(folder / "vocab.gguf")
    result = project.run(*arguments, model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {sentence.removeprefix('*')}"])


#: Paths that no file can have, in each option and ini key with a path.
PATHS = {
    "--puma-report=csv:{path}": "--puma-report 'csv:{path!r}': ",
    "--puma-data=triage_jira={path}": "--puma-data 'triage_jira={path!r}': ",
    "--puma-rescore={path}": "--puma-rescore '{path!r}': '{path!r}': ",
    "--puma-model={path}": "--puma-model '{path!r}': no such file in ",
    "--puma-model=recorded:{path}": "--puma-model 'recorded:{path!r}': no such file: ",
    "puma_data=triage_jira={path}": "ini key puma_data 'triage_jira={path!r}': ",
    "puma_store_path={path}": "ini key puma_store_path: ",
    "puma_baselines={path}": "ini key puma_baselines: ",
}


@pytest.mark.parametrize("path", ["~nosuchuser/x", "a\0b"], ids=["tilde", "nul"])
@pytest.mark.parametrize("option", PATHS)
def test_a_path_that_no_file_can_have_ends_with_exit_4_and_a_sentence(alone: Project, option: str, path: str) -> None:
    alone.write(test_triage=TRIAGE)
    argument = option.format(path=path)
    result = alone.run(*([argument] if argument.startswith("--") else ["-o", argument]), model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    sentence = PATHS[option].replace("{path!r}", repr(path)[1:-1])
    assert f"ERROR: puma: {sentence}" in result.stderr.str()


def test_the_folders_of_models_may_be_in_the_home(alone: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    alone.write(test_triage=TRIAGE)
    home = alone.pytester.mkdir("home")
    monkeypatch.setenv("HOME", str(home))
    (home / "models").mkdir()
    (home / "models" / "own.gguf").write_bytes(alone.model.read_bytes())
    alone.run("-o", "puma_model_dirs=~/models", "--puma-model=own", model=False).assert_outcomes(passed=1)
    unknown = alone.run("-o", "puma_model_dirs=~nosuchuser/models", "--puma-model=own", model=False)
    unknown.stderr.fnmatch_lines(["ERROR: puma: ini key puma_model_dirs: there is no user 'nosuchuser'; *"])


def test_a_model_path_that_makes_pytest_overlook_the_ini_file_is_refused(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    result = alone.run("--puma-model", str(alone.model), model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: puma: pytest takes {alone.model} for a test path and does not read *tox.ini*"]
    )


def test_a_model_path_that_moves_the_root_is_refused_without_an_ini_file_too(alone: Project) -> None:
    (alone.pytester.path / "tox.ini").unlink()
    alone.write(test_triage=TRIAGE)
    result = alone.run("--puma-model", str(alone.model), model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    moved = "for a test path and makes * its root folder; write an equals sign: --puma-model=*"
    result.stderr.fnmatch_lines([f"ERROR: puma: pytest takes {alone.model} {moved}"])
    assert alone.run().ret == 0
    # Inside the folder no path moves the root.
    (alone.pytester.path / "own.gguf").write_bytes(alone.model.read_bytes())
    assert alone.run("--puma-model", "own.gguf", model=False).ret == 0


def test_a_model_path_that_adds_another_ini_file_is_refused(alone: Project) -> None:
    folder = alone.pytester.path
    (folder / "tox.ini").unlink()
    alone.write(test_triage=TRIAGE)
    models = alone.pytester.mkdir("models")
    (models / "own.gguf").write_bytes(alone.model.read_bytes())
    # A project without a section of pytest is its root all the same, and so is one with a setup.py.
    for name in ("pyproject.toml", "setup.py"):
        (folder / name).touch()
        assert alone.run("--puma-model", "models/own.gguf", model=False).ret == 0
    (models / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    for arguments, fault in (
        ((), "does not read *pyproject.toml"),
        (("--rootdir=.",), "does not read *pyproject.toml"),
        (("-c", "pyproject.toml"), ""),
        (("test_triage.py",), ""),
    ):
        result = alone.run(*arguments, "--puma-model", "models/own.gguf", model=False)
        assert result.ret == (pytest.ExitCode.USAGE_ERROR if fault else 0)
        if fault:
            result.stderr.fnmatch_lines([f"ERROR: puma: pytest takes models/own.gguf for a test path and {fault}; *"])
    (folder / "pyproject.toml").unlink()
    (folder / "setup.py").unlink()
    result = alone.run("--puma-model", "models/own.gguf", model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: puma: pytest takes *own.gguf for a test path and reads *pytest.ini; *"])


@ONE_PROCESS
@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("workers", ["-pno:xdist", "-nauto"])
def test_a_llama_cpp_that_cannot_be_loaded_is_an_error_of_the_item(
    project: Project, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    project.write(test_triage=TRIAGE, test_other="def test_other(): pass\n")
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(project.pytester.path))
    result = project.pytester.runpytest_subprocess(
        f"--puma-model={project.model}", "--puma-strategy=zero_shot", workers
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(errors=1, passed=1)
    problem = "FileNotFoundError: Shared library with base name 'llama' not found; expected the library of *"
    result.stdout.fnmatch_lines(
        [f"llama.cpp cannot be loaded from LLAMA_CPP_LIB_PATH={project.pytester.path}: {problem}"]
    )
