"""What letta-client has methods for and this server has not: each is answered with 501, and with
what to use instead. docs/from-letta.md has this list as a table.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Absent(NamedTuple):
    """Operations that are not here: `GET POST /groups/{id}` are two; `{id}` stands for any id."""

    what: str
    instead: str
    operations: tuple[str, ...]

    def each(self) -> list[tuple[str, str]]:
        """Method and path of every operation."""
        split = [operation.split() for operation in self.operations]
        return [(method, path) for *methods, path in split for method in methods]


ABSENT = (
    Absent(
        "folders, sources and their files",
        "passages: `agents.passages.create` for each piece of a text",
        (
            "GET POST /folders/",
            "GET PATCH DELETE /folders/{id}",
            "GET /folders/{id}/agents",
            "GET /folders/{id}/files",
            "GET /folders/{id}/passages",
            "GET /folders/{id}/files/{id}",
            "GET /folders/name/{id}",
            "POST /folders/{id}/upload",
            "DELETE /folders/{id}/{id}",
            "GET POST /sources/",
            "GET PATCH DELETE /sources/{id}",
            "GET /sources/{id}/agents",
            "GET /sources/{id}/files",
            "GET /sources/{id}/passages",
            "GET /sources/{id}/files/{id}",
            "GET /sources/name/{id}",
            "POST /sources/{id}/upload",
            "DELETE /sources/{id}/{id}",
            "GET /agents/{id}/folders",
            "PATCH /agents/{id}/folders/attach/{id}",
            "PATCH /agents/{id}/folders/detach/{id}",
            "GET /agents/{id}/sources",
            "PATCH /agents/{id}/sources/attach/{id}",
            "PATCH /agents/{id}/sources/detach/{id}",
            "GET /agents/{id}/files",
            "PATCH /agents/{id}/files/close-all",
            "PATCH /agents/{id}/files/{id}/close",
            "PATCH /agents/{id}/files/{id}/open",
        ),
    ),
    Absent(
        "archives that several agents share",
        "each agent's own archival memory; blocks can be shared",
        (
            "POST /archives/",
            "PATCH DELETE /archives/{id}",
            "PATCH /agents/{id}/archives/attach/{id}",
            "PATCH /agents/{id}/archives/detach/{id}",
        ),
    ),
    Absent(
        "groups of agents",
        "shared blocks; reflection, for what a sleep-time agent did",
        (
            "GET POST /groups/",
            "GET /groups/count",
            "GET PATCH DELETE /groups/{id}",
            "GET POST /groups/{id}/messages",
            "POST /groups/{id}/messages/stream",
            "PATCH /groups/{id}/messages/{id}",
            "PATCH /groups/{id}/reset-messages",
            "GET /agents/{id}/groups",
        ),
    ),
    Absent(
        "MCP servers and Composio",
        "tools of your own, in Python",
        (
            "GET POST /mcp-servers/",
            "GET PATCH DELETE /mcp-servers/{id}",
            "PATCH /mcp-servers/{id}/refresh",
            "GET /mcp-servers/{id}/tools",
            "GET /mcp-servers/{id}/tools/{id}",
            "POST /mcp-servers/{id}/tools/{id}/run",
            "GET PUT /tools/mcp/servers",
            "PATCH DELETE /tools/mcp/servers/{id}",
            "GET /tools/mcp/servers/{id}/tools",
            "POST /tools/mcp/servers/connect",
            "POST /tools/mcp/servers/test",
            "POST /tools/mcp/servers/{id}/{id}",
            "GET /tools/composio/apps",
            "GET /tools/composio/apps/{id}/actions",
            "POST /tools/composio/{id}",
        ),
    ),
    Absent(
        "jobs and batches",
        "runs: `messages.create_async`, then `runs.retrieve`",
        (
            "GET /jobs/",
            "GET /jobs/active",
            "GET DELETE /jobs/{id}",
            "PATCH /jobs/{id}/cancel",
            "GET POST /messages/batches",
            "GET /messages/batches/{id}",
            "GET /messages/batches/{id}/messages",
            "PATCH /messages/batches/{id}/cancel",
        ),
    ),
    Absent(
        "templates, projects and versions of an agent",
        "agent files; a fork of an agent, in the page",
        (
            "GET POST /templates/",
            "POST PATCH DELETE /templates/{id}",
            "POST /templates/{id}/agents",
            "POST /templates/{id}/rollback",
            "POST /templates/{id}/save",
            "POST DELETE /templates/{id}/{id}",
            "POST /templates/{id}/{id}/agents",
            "POST /templates/{id}/{id}/fork",
            "GET PUT /templates/{id}/{id}/snapshot",
            "GET /templates/{id}/{id}/versions",
            "PATCH /templates/{id}/{id}/description",
            "PATCH /templates/{id}/{id}/name",
            "POST /templates/{id}/{id}/deployments/{id}/migrate",
            "POST /agents/{id}/template",
            "POST /agents/{id}/version-template",
            "POST /agents/{id}/migrate",
            "GET /agents/{id}/core-memory/variables",
            "GET /projects",
        ),
    ),
    Absent(
        "providers that are set by request",
        "the environment: `OPENAI_BASE_URL`, `MEMORYWEB_ENDPOINTS`",
        ("GET POST /providers/", "GET PATCH DELETE /providers/{id}", "POST /providers/check"),
    ),
    Absent(
        "client-side access tokens",
        "tokens with scopes, made in the page under *API*",
        ("GET POST /client-side-access-tokens", "DELETE /client-side-access-tokens/{id}"),
    ),
    Absent(
        "environments, in which another machine works for an agent",
        "client-side tools: `client_tools` of `agents.messages.create`",
        ("GET /environments", "GET /environments/{id}", "POST /environments/{id}/messages"),
    ),
    Absent(
        "requests shown before they are sent",
        "the page's *Context* tab; `steps.trace.retrieve` for what was sent",
        ("POST /agents/{id}/messages/preview-raw-payload",),
    ),
    Absent("search for agents", "the filters of `agents.list`", ("POST /agents/search",)),
    Absent(
        "voice",
        "a client that turns speech into text",
        ("POST /voice-beta/{id}/chat/completions",),
    ),
)


def sentence(method: str, path: str) -> str:
    """What stands in for an operation that is not here; "" if it is none of Letta's."""
    asked = f"{method} {path.removeprefix('/v1').rstrip('/')}"
    found = next((row for pattern, row in patterns() if pattern.fullmatch(asked)), None)
    if found is None:
        return ""
    operation = f"{method} {path}"
    return f"{operation}: this server has no {found.what}. Instead, use {found.instead}."


@cache
def patterns() -> list[tuple[re.Pattern[str], Absent]]:
    """What requests for the operations look like, those with fewer ids first."""
    rows = [(f"{method} {path.rstrip('/')}", row) for row in ABSENT for method, path in row.each()]
    rows.sort(key=lambda each: each[0].count("{id}"))
    return [
        (re.compile(re.escape(operation).replace(r"\{id\}", "[^/]+")), row)
        for operation, row in rows
    ]
