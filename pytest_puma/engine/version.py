"""The versions of the engine's answers and of its batches, which are parts of the keys of every kept response."""

#: Raise it when a change of `engine/` changes the answer to any request: its tokens, its text, a log-probability, the
#: token that a seed draws. Then kept responses count as those of another engine. A change of speed, of a message or of
#: a docstring changes no answer. `tests/engine/test_version.py` holds golden answers of this version.
ENGINE_VERSION = 1

#: Raise it when a change computes the same requests in other batches: other sizes, another order, another cache. That
#: tips near-ties only, so kept responses are still found, and count as computed in another batch.
BATCHING_VERSION = 2
