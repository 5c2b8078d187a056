"""The version of the engine's answers, which is part of the key of every kept response."""

#: Raise it when a change of `engine/` changes the answer to any request: its tokens, its text, a log-probability, the
#: token that a seed draws. Then kept responses count as those of another engine. A change of speed, of a message or of
#: a docstring changes no answer. `tests/engine/test_version.py` holds golden answers of this version.
ENGINE_VERSION = 1
