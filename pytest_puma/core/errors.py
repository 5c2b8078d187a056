"""The errors a user can cause. Each message says who, what was found, what was expected, what to do."""


class PumaError(Exception):
    """Anything that pytest-puma refuses, in one sentence meant for the user."""


class SettingsError(PumaError):
    """An option, ini value, marker or run-spec that cannot be obeyed."""


class ModelError(SettingsError):
    """A model argument that names no usable GGUF file."""


class DataError(PumaError):
    """A data file or a scenario's rows that cannot be scored: names the file, the row and the column."""


class TemplateError(PumaError):
    """A prompt template that is missing, malformed, or asks for a variable that does not exist."""


class EngineError(PumaError):
    """llama.cpp (or the backend in its place) could not do what was asked of it."""
