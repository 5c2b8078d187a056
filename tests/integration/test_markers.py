"""The marker on functions, classes and modules, and tests that only look like ours."""

from tests.integration.conftest import Project


def test_the_closest_marker_counts_and_tests_without_the_argument_are_left_alone(alone: Project) -> None:
    alone.write(
        test_class="""
        import pytest

        pytestmark = pytest.mark.puma("triage_jira", strategies="zero_shot", samples=8, metrics="accuracy")

        def test_of_the_module(puma):
            assert puma["accuracy"] > 0

        def test_without_the_argument():
            pass

        @pytest.mark.puma("triage_jira", strategies=["rcoif"], samples=4)
        class TestRcoif:
            def test_of_the_class(self, puma):
                assert len(puma.predictions) == 4

            @pytest.mark.puma("triage_jira", strategies=["egi"], samples=2)
            def test_of_the_function(self, puma):
                assert len(puma.predictions) == 2

        @pytest.mark.puma("triage_jira", strategies=["one_shot"], samples=3)
        class TestOneShot(TestRcoif):
            test_of_the_function = None

            def test_of_the_subclass(self, puma):
                assert puma.name.strategy == "one_shot"

            def test_of_the_class(self):
                pass
        """
    )
    alone.run().assert_outcomes(passed=6)
    outcomes = {outcome["strategy"]: outcome["metrics"] for outcome in alone.record()["outcomes"]}
    assert outcomes == {"zero_shot": ["accuracy"], "rcoif": ["f1_macro"], "egi": ["f1_macro"], "one_shot": ["f1_macro"]}


def test_a_projects_own_fixture_of_this_name_is_left_alone(alone: Project) -> None:
    alone.write(
        test_own="""
        import pytest

        @pytest.fixture
        def puma():
            return "a cat"

        def test_cat(puma):
            assert puma == "a cat"
        """,
        test_other="""
        import pytest

        @pytest.fixture
        def puma(puma):
            return puma["accuracy"]

        @pytest.mark.puma("triage_jira", strategies="zero_shot", samples="all")
        def test_triage(puma):
            assert puma > 0.2
        """,
    )
    alone.run().assert_outcomes(passed=2)
    (outcome,) = alone.record()["outcomes"]
    assert (outcome["signature"]["samples"], outcome["warnings"]) == (200, [])


def test_all_samples_by_the_command_line_and_the_ini_file(alone: Project) -> None:
    alone.pytester.makeini("[pytest]\npuma_naive_baselines = false\npuma_samples = all\n")
    alone.write(
        test_t="""
        import pytest

        @pytest.mark.puma("triage_jira", strategies="zero_shot")
        def test_t(puma):
            assert len(puma.predictions) == 200
        """
    )
    alone.run().assert_outcomes(passed=1)
    alone.run("--puma-samples=all").assert_outcomes(passed=1)
    result = alone.run("--puma-samples=some")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--puma-samples: found 'some'; expected a whole number, or 'all'"])


def test_two_tests_may_ask_for_one_cell_where_one_spells_out_what_is_the_strategys_own(alone: Project) -> None:
    alone.write(
        test_twice="""
        import pytest

        @pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=2)
        def test_plain(puma):
            pass

        @pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=2, temperature=0, max_tokens=16)
        def test_spelled_out(puma):
            pass
        """
    )
    alone.run().assert_outcomes(passed=2)
