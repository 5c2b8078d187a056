"""Shared by `tests/` and `benchmarks/`: pytest's own fixture for running pytest inside pytest."""

pytest_plugins = ["pytester"]
