"""The shared parts of the prompts of a cell are kept once, and each prompt comes back as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.core import Message, Prompt, SharedPrompts
from pytest_puma.core.shared import joined

MESSAGES = st.lists(
    st.builds(Message, role=st.sampled_from(["system", "user", "assistant"]), content=st.text("ab \n", max_size=6)),
    min_size=1,
    max_size=3,
)


def user(*texts: str) -> Prompt:
    return Prompt(messages=tuple(Message(role="user", content=text) for text in texts))


@given(st.lists(st.tuples(MESSAGES, st.sampled_from(["", "Sure: "])), min_size=1, max_size=5))
def test_every_prompt_comes_back_as_it_was(chats: list[tuple[list[Message], str]]) -> None:
    prompts = [Prompt(messages=tuple(messages), prefill=prefill) for messages, prefill in chats]
    kept = SharedPrompts()
    parts = [kept.keep(0, prompt) for prompt in prompts]
    (shared,) = kept.shared()
    for prompt, part in zip(prompts, parts, strict=True):
        prefill = (Message(role="assistant", content=prompt.prefill),) if prompt.prefill else ()
        assert joined(shared, kept.rest(part)) == (*prompt.messages, *prefill)


def test_a_long_header_is_kept_once_up_to_a_whole_word() -> None:
    header = "Examples.\n" * 1000
    system = Message(role="system", content="Be brief.")
    prompts = [
        Prompt(messages=(system, Message(role="user", content=f"{header}It is {text}")))
        for text in ("a crash", "a cramp", "a crate of eggs")
    ]
    kept = SharedPrompts()
    parts = [kept.keep(0, prompt) for prompt in prompts]
    assert kept.shared() == ((system, Message(role="user", content=f"{header}It is a ")),)
    assert [kept.rest(part)[0].content for part in parts] == ["crash", "cramp", "crate of eggs"]


def test_each_turn_has_its_own_beginning() -> None:
    kept = SharedPrompts()
    parts = [kept.keep(turn, user(f"{turn} asks about {name}")) for name in ("Ada", "Rex") for turn in (0, 1)]
    assert [shared[0].content for shared in kept.shared()] == ["0 asks about ", "1 asks about "]
    assert [kept.rest(part)[0].content for part in parts] == ["Ada", "Ada", "Rex", "Rex"]


def test_a_system_text_that_all_share_is_shared_whole() -> None:
    system = Message(role="system", content="Answer with one word.")
    kept = SharedPrompts()
    parts = [kept.keep(0, Prompt(messages=(system, *user(text).messages))) for text in ("Ada", "Rex")]
    assert kept.shared() == ((system,),)
    assert [kept.rest(part) for part in parts] == [
        (Message(role="system", content=""), Message(role="user", content=name)) for name in ("Ada", "Rex")
    ]
