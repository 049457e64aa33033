"""Any history, rendered for any dialect, is one that the dialect's judges take."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from agents.llm.dialects import Dialect, known_dialect
from agents.llm.rendering import Stored, rendered
from tests.support import judges
from tests.support.endpoints import Rule
from tests.support.endpoints.servers import KNOWN, nine_letters, no_user_after_tool
from tests.support.judges import (
    anthropics_door,
    arguments_are_objects,
    reasoning_is_back,
    signatures_are_back,
    template,
)

EXTRAS = ("reasoning_content", "extra_content", "reasoning_details")

ids = st.sampled_from(["a", "a", "b", "call_0", "x" * 60, "", "é|1", "abcDEF123"])
words = st.sampled_from(["", " \n", "Hello.", "<think>", "naïve 🙂"]) | st.text(max_size=8)
names = st.sampled_from(["note", "", "no such tool!", "x" * 80, "é"])
objects = st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2)
arguments = (
    st.sampled_from(['{"a": ', "", "null", "[]", '"x"', "3", "{}}", '{"a": NaN}', "[" * 2000])
    | objects.map(json.dumps)
    | st.text(max_size=8)
)
signatures = st.sampled_from([{}, {"extra": {"google": {"thought_signature": "abc"}}}])
calls = st.builds(
    lambda id, name, arguments, extra: {"id": id, "name": name, "arguments": arguments} | extra,
    ids,
    names,
    arguments,
    signatures,
)
messages = st.builds(
    lambda role, content, made, answered, thought: (
        role,
        content,
        made if role == "assistant" else [],
        answered if role == "tool" else "",
        thought if role == "assistant" else "",
    ),
    st.sampled_from(["user", "assistant", "tool", "tool", "system"]),
    words,
    st.lists(calls, max_size=3, unique_by=lambda call: call["id"]),
    ids,
    words,
)
histories = st.lists(messages, max_size=12).map(
    lambda said: [Stored(number, *message) for number, message in enumerate(said, 1)]
)
PHASES = [Phase.explicit, Phase.generate]  # a failure is small enough as it is
often = settings(derandomize=True, database=None, deadline=None, max_examples=60, phases=PHASES)


def body_of(history: list[Stored], dialect: Dialect, model: str = "m") -> dict[str, Any]:
    said = [json.loads(sent.json) for sent in rendered(history, dialect)]
    return {
        "model": model,
        "stream": True,
        "messages": [{"role": "system", "content": "Be kind."}, *said],
    }


@given(history=histories)
@often
def test_a_known_server_takes_every_history(history: list[Stored]) -> None:
    for server in KNOWN:
        dialect = known_dialect(server.address, server.model)
        body = body_of(history, dialect, server.model)
        assert not judges.broken_rules(server.address, body, server.also_allowed), server
        assert not [words for rule in server.rules for words in rule(body)], server


LEARNT: dict[str, tuple[dict[str, Any], tuple[Rule, ...]]] = {
    "nothing yet": ({}, (template("qwen"), template("llama"), anthropics_door)),
    "nine letters": ({"ids": "nine"}, (nine_letters,)),
    "nobody after tools": ({"user_after_tool": False}, (no_user_after_tool, template("gemma"))),
    "both": ({"ids": "nine", "user_after_tool": False}, (template("mistral"),)),
    "reasoning": ({"reasoning": "reasoning_content"}, (reasoning_is_back,)),
    "signatures": ({"signatures": "extra_content_always"}, (signatures_are_back,)),
    "free": ({"roles": "free"}, (arguments_are_objects,)),
}


@given(history=histories)
@often
def test_a_dialect_keeps_the_rules_it_was_learnt_from(history: list[Stored]) -> None:
    for learnt, (properties, rules) in LEARNT.items():
        body = body_of(history, Dialect(**properties))
        assert not list(judges.openai.broken_rules(body, EXTRAS)), learnt
        broken = [words for rule in (*rules, arguments_are_objects) for words in rule(body)]
        assert not broken, learnt


@given(history=histories)
@often
def test_what_was_said_is_sent(history: list[Stored]) -> None:
    """Nothing of a person's is left out, and the same rows give the same bytes."""
    dialect = Dialect()
    sent = rendered(history, dialect)
    assert sent == rendered(history, dialect)
    whole = "\n".join(each.json for each in sent)
    for message in history:
        if message.role == "user" and message.content.strip():
            assert json.dumps(message.content, ensure_ascii=False)[1:-1] in whole


@given(history=histories, at=st.integers(0, 12))
@often
def test_what_was_sent_before_is_sent_again(history: list[Stored], at: int) -> None:
    """A longer history begins as the shorter one did, so that what was cached is found."""
    dialect = Dialect(roles="free")
    shorter = [each.json for each in rendered(history[:at], dialect)]
    longer = [each.json for each in rendered(history, dialect)]
    unanswered = sum('"No return is known."' in each for each in shorter)
    assert longer[: len(shorter) - unanswered] == shorter[: len(shorter) - unanswered]
