"""The chat format of a model: its own template, and what this project learns from it."""

from pytest_puma.engine.chat.format import ChatFormat
from pytest_puma.engine.chat.plain import PLAIN, as_text
from pytest_puma.engine.chat.template import ChatTemplateError

__all__ = ["PLAIN", "ChatFormat", "ChatTemplateError", "as_text"]
