"""The speed bench: the engine compared with the usual alternatives, and with the physical limit."""

# Before any module here imports llama_cpp, so that the threads of all contenders wait as the product's do.
import pytest_puma.engine.native  # noqa: F401
