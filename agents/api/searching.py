"""Searching messages and passages: those of one agent, or of all of a person's agents."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse

from agents.llm.embeddings import embedding_model
from agents.models import Agent, Message
from agents.search import hybrid
from agents.search.across import agents_with
from agents.search.scope import Messages, Passages

from . import ids, lookups
from .auth import READ
from .errors import Refused, invalid, not_found
from .json_router import JsonRouter, json_response
from .messages_out import ApiMessage, convert
from .passages import aware
from .schemas.fields import Json
from .schemas.messages import MessageOptions, MessageSearch
from .schemas.passages import FoundPassage, PassageSearchOfAll

router = JsonRouter(tags=["search"])
SEARCHED = 100  # agents, unless one is named: those with most of the query's words


class MessageResult(NamedTuple):
    """A message that a search found, with the text that was searched."""

    message: ApiMessage
    text: str
    score: float | None
    row: Message


@router.post("/messages/search", auth=READ, response=list[Json], operation_id="search_all_messages")
def search(request: HttpRequest, data: MessageSearch) -> HttpResponse:
    """The messages that match best, by words and, if an embedding model is set, by meaning."""
    return json_response([flat(result) for result in search_messages(request, data)])


@router.post(
    "/agents/messages/search", auth=READ, response=list[Json], operation_id="search_messages"
)
def search_older(request: HttpRequest, data: MessageSearch) -> HttpResponse:
    """The same, in the form of older SDKs."""
    results = search_messages(request, data)
    return json_response(
        [
            {"message": each.message, "embedded_text": each.text, "rrf_score": each.score or 0.0}
            for each in results
        ]
    )


@router.post(
    "/passages/search",
    auth=READ,
    response=list[FoundPassage],
    operation_id="search_all_passages",
)
def search_passages_of_all(request: HttpRequest, data: PassageSearchOfAll) -> list[FoundPassage]:
    """The passages that match best, by words and, if an embedding model is set, by meaning."""
    return search_passages(request, data)


def search_messages(request: HttpRequest, data: MessageSearch) -> list[MessageResult]:
    """The messages that match best, the best first."""
    within = None
    if data.conversation_id:
        conversation = lookups.conversation(request, data.conversation_id, data.agent_id)
        within, agents = conversation.pk, [conversation.agent]
        if data.agent_id and lookups.agent(request, data.agent_id) != conversation.agent:
            raise not_found("conversation", f"{data.conversation_id} of agent {data.agent_id}")
    elif data.agent_id:
        agents = [lookups.agent(request, data.agent_id)]
    else:
        agents = agents_with(lookups.person(request), data.query, SEARCHED)
    check_mode(data.search_mode)
    results: list[MessageResult] = []
    for agent in agents:
        since, until = aware(data.start_date), aware(data.end_date)
        scope = Messages(agent, since, until, conversation=within)
        found = hybrid.search(scope, data.query, data.limit, data.search_mode)
        if data.search_mode == "vector" and found.semantic is False:
            raise Refused(502, "The embedding model did not answer; search with 'fts' or 'hybrid'.")
        for row, score in found.rows:
            messages = convert([row], agent, MessageOptions())
            if messages:
                results.append(MessageResult(messages[0], Messages.text(row), score, row))
    results.sort(key=lambda result: (-(result.score or 0.0), -result.row.pk))
    return results[: data.limit]


def check_mode(mode: hybrid.Mode) -> None:
    """422 where a search is to be by meaning alone, and no embedding model is set."""
    if mode == "vector" and embedding_model() is None:
        words = "No embedding model is set, so there is no search by meaning; send 'fts'."
        raise invalid("search_mode", words)


def search_passages(request: HttpRequest, data: PassageSearchOfAll) -> list[FoundPassage]:
    """The passages that match best, the best first; without a query the newest."""
    query = data.query or ""
    results: list[tuple[float, FoundPassage]] = []
    for agent in agents_searched(request, data):
        scope = Passages(
            agent,
            aware(data.start_date),
            aware(data.end_date),
            tuple(data.tags or ()),
            data.tag_match_mode == "all",
        )
        for row, score in hybrid.search(scope, query, data.limit).rows:
            rank = score if score is not None else row.created_at.timestamp()
            metadata = {"agent_id": ids.named("agent", agent.pk)}
            found = FoundPassage(passage=row, score=score or 0.0, metadata=metadata)
            results.append((rank, found))
    results.sort(key=lambda result: -result[0])
    return [found for _, found in results[: data.limit]]


def agents_searched(request: HttpRequest, data: PassageSearchOfAll) -> list[Agent]:
    """The agent whose passages are searched, or those of the person's that may have some.

    An agent's archive is that agent's archival memory.
    """
    if data.archive_id:
        key = ids.uuid_of("archive", data.archive_id)
        agent = Agent.find_visible_to(lookups.person(request), key)
        if agent is None:
            raise not_found("archive", data.archive_id)
        if data.agent_id and lookups.agent(request, data.agent_id) != agent:
            return []
        return [agent]
    if data.agent_id:
        return [lookups.agent(request, data.agent_id)]
    return agents_with(lookups.person(request), data.query or "", SEARCHED, Passages)


def flat(result: MessageResult) -> dict[str, Any]:
    """A result in the form of the newest SDK."""
    message = result.message
    text = message.get("reasoning") or message.get("content") or result.text
    kind = message["message_type"]
    kind = kind if kind in ("system_message", "user_message", "reasoning_message") else None
    content = {"reasoning": text} if kind == "reasoning_message" else {"content": text}
    return content | {
        "message_id": message["id"],
        "message_type": kind or "assistant_message",
        "created_at": message["date"],
        "agent_id": ids.named("agent", result.row.agent_id),
        "conversation_id": ids.named("conv", result.row.conversation_id),
    }
