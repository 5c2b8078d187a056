import sys

import pytest

pytestmark = pytest.mark.usefixtures("cold")
HEAVY = ("numpy", "pandas", "sklearn", "scipy", "llama_cpp", "jinja2", "tabulate", "pytest_puma.core")


def test_a_project_without_benchmarks_pays_for_the_plugin_file_alone(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It has an option of ours, and a project with one is a project with benchmarks.
    monkeypatch.delenv("PYTEST_ADDOPTS")
    pytester.makepyfile(
        test_off=f"""
        import sys

        def test_nothing_heavy_is_loaded():
            assert "pytest_puma.plugin" in sys.modules
            assert [name for name in {HEAVY!r} if name in sys.modules] == []
        """,
        conftest=f"""
        import sys

        def pytest_unconfigure():
            print("at the end:", [name for name in {HEAVY!r} if name in sys.modules])
        """,
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:xdist", "-W", "error")
    result.assert_outcomes(passed=1)
    assert "at the end: []" in result.outlines
    output = [line for line in result.outlines if "puma" in line]
    assert [line for line in output if not line.startswith("plugins: ")] == []
    assert not (pytester.path / ".puma").exists()


def test_the_plugin_imports_nothing_heavy(pytester: pytest.Pytester) -> None:
    code = f"import sys, pytest_puma.plugin; sys.exit([name for name in {HEAVY!r} if name in sys.modules] != [])"
    assert pytester.run(sys.executable, "-c", code).ret == 0


def test_the_plugin_can_be_switched_off(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_x():\n    pass")
    result = pytester.runpytest_subprocess("-p", "no:puma")
    result.assert_outcomes(passed=1)


def test_ids_that_look_like_cells_are_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("address", ["some-user@example.org"])
        def test_mail(address):
            pass
        """
    )
    for workers in ("-n0", "-n2"):
        result = pytester.runpytest_subprocess(workers)
        result.assert_outcomes(passed=1)
        assert result.ret == 0
