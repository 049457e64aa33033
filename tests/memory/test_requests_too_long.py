"""A request that is too long, in anybody's words: old messages leave, and the talk goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from agents.models import Agent, Compaction, Message
from tests.support.endpoints import Bed, Refusal, Server, text
from tests.support.endpoints.servers import (
    gemini,
    llama_cpp,
    mistrals,
    old_vllm,
    openrouter,
    plain,
    vllm,
)
from tests.support.endpoints.talk import Talk
from tests.support.stored import of

WINDOW = 6_000  # tokens
PER_TOKEN = 4  # bytes
EXCHANGES = 24


class Words(NamedTuple):
    """How a server says it; `{asked}` and `{window}` are numbers of tokens."""

    name: str
    evidence: str
    words: str
    refuse: Any = plain
    names_window: bool = True

    def __str__(self) -> str:
        return self.name.replace(" ", "_")


def coded(words: str) -> Refusal:
    code = "context_length_exceeded"
    return 400, {"error": {"message": words, "type": "invalid_request_error", "code": code}}


def exceeded(words: str) -> Refusal:
    """llama.cpp's words name no number; fields beside them do."""
    said, asked, window = words.split("|")
    error = {"code": 400, "message": said, "type": "exceed_context_size_error"}
    return 400, {"error": error | {"n_prompt_tokens": int(asked), "n_ctx": int(window)}}


def too_large(words: str) -> Refusal:
    return 413, {"error": {"message": words, "type": "tokens", "code": "rate_limit_exceeded"}}


def bare(words: str) -> Refusal:
    """LM Studio's `error` is a string."""
    return 400, {"error": words}


OPENAIS = "This model's maximum context length is {window} tokens. However, your messages resulted"
OPENAIS += " in {asked} tokens. Please reduce the length of the messages."
VLLMS = "This model's maximum context length is {window} tokens. However, your request has {asked}"
VLLMS += " input tokens. Please reduce the length of the input messages."
OLD_VLLMS = "This model's maximum context length is {window} tokens. However, you requested {asked}"
OLD_VLLMS += " tokens ({asked} in the messages, 0 in the completion). Please reduce the length of"
OLD_VLLMS += " the messages or completion."
LLAMAS = "the request exceeds the available context size. try increasing the context size or"
LLAMAS += " enable context shift|{asked}|{window}"
MISTRALS = "Prompt contains {asked} tokens and 0 draft tokens, too large for model with {window}"
MISTRALS += " maximum context length"
GEMINIS = "The input token count ({asked}) exceeds the maximum number of tokens allowed ({window})."
ROUTERS = "This endpoint's maximum context length is {window} tokens. However, you requested about"
ROUTERS += " {asked} tokens ({asked} of text input). Please reduce the length of either one."
GROQS = "Request too large for model `llama-3.3-70b` on tokens per minute (TPM): Limit {window},"
GROQS += " Requested {asked}, please reduce your message size and try again."

STUDIOS = "Input length {asked} exceeds context length {window}"

ALL = [
    Words("openai", "its API reference", OPENAIS, coded),
    Words("vllm", "vllm's renderer", VLLMS, vllm),
    Words("older vllm", "vllm 20409, ogx 4534", OLD_VLLMS, old_vllm),
    Words("llama.cpp", "llama.cpp 15780, textgen 7257", LLAMAS, exceeded),
    Words("llama.cpp of once", "llama.cpp before 15780", LLAMAS.split("|")[0], llama_cpp, False),
    Words("mistral", "code 3051", MISTRALS, mistrals),
    Words("anthropic", "its API", "prompt is too long: {asked} tokens > {window} maximum"),
    Words("gemini", "its API", GEMINIS, gemini),
    Words("openrouter", "OpenRouter's endpoints", ROUTERS),
    Words("openrouter around it", "open-interpreter 215", OPENAIS, openrouter),
    Words(
        "lm studio",
        "model-catalog 38",
        "Input length {asked} exceeds context length {window}",
        bare,
    ),
    Words("mlx", "mlx-serve 66", "Prompt exceeds maximum context length", plain, False),
    Words("groq", "a 413", GROQS, too_large, False),
    Words("nginx", "a 413 of a proxy", "Request Entity Too Large", too_large, False),
]


def server_that_says(said: Words) -> Server:
    def too_long(body: dict[str, Any]) -> Iterator[str]:
        asked = len(json.dumps(body, ensure_ascii=False).encode()) // PER_TOKEN
        if asked > WINDOW:
            yield said.words.format(asked=asked, window=WINDOW)

    return Server(str(said), said.evidence, (too_long,), said.refuse)


def remember_much(agent: Agent) -> None:
    for number in range(1, 2 * EXCHANGES, 2):
        words = f"Number {number}: " + "word " * 200
        Message.objects.create(**of(agent), number=number, role="user", content=words)
        Message.objects.create(**of(agent), number=number + 1, role="assistant", content=words)
    Agent.objects.filter(pk=agent.pk).update(message_count=2 * EXCHANGES)
    agent.refresh_from_db()


@pytest.mark.parametrize("said", ALL, ids=str)
def test_what_is_too_long_is_made_shorter_and_sent_again(
    said: Words, bed: Bed, agent: Agent, talk: Talk
) -> None:
    remember_much(agent)
    at = bed.endpoint(server_that_says(said), agent)
    at.default = text("A summary, or an answer.")
    assert talk("Where were we?") == "A summary, or an answer."
    assert at.refused
    assert Compaction.objects.filter(conversation=agent.pk).exists()
    assert len(at.refused) <= 2, "it was asked again and again"
    if said.names_window:
        step = talk.run.steps.last()
        assert step is not None
        assert step.window == WINDOW
    refused = len(at.refused)
    for _ in range(3):
        assert talk("And then? " + "word " * 200) == "A summary, or an answer."
    if said.names_window:
        assert len(at.refused) == refused
