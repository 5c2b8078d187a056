"""The speed bench: how fast the engine is beside what a user would pick instead, and beside the physical limit."""

# Before any module here imports llama_cpp: all contenders compute with threads that wait as the product's do.
import pytest_puma.engine.native  # noqa: F401
