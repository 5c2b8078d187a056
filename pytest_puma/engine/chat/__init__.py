"""The chat format of a model: its own template, and what this project learns from it."""

from pytest_puma.engine.chat.format import ChatFormat
from pytest_puma.engine.chat.template import PLAIN, ChatTemplateError, as_text

__all__ = ["PLAIN", "ChatFormat", "ChatTemplateError", "as_text"]
