"""What letta-client has methods for and this server has not, and what stands in for it.

Each row: what it is, the operations, what to use here.
"""

from __future__ import annotations

ABSENT: list[tuple[str, tuple[str, ...], str]] = [
    (
        "folders, sources and their files",
        (
            "GET /folders/",
            "POST /folders/",
            "POST /folders/{id}/upload",
            "GET /sources/",
            "POST /sources/",
            "POST /sources/{id}/upload",
            "GET /agents/{id}/folders",
            "PATCH /agents/{id}/folders/attach/{id}",
            "PATCH /agents/{id}/sources/attach/{id}",
            "GET /agents/{id}/files",
        ),
        "passages: `agents.passages.create` for each piece of a text",
    ),
    (
        "archives, which several agents share",
        (
            "GET /archives/",
            "POST /archives/",
            "POST /archives/{id}/passages",
            "PATCH /agents/{id}/archives/attach/{id}",
        ),
        "each agent's own archival memory; blocks can be shared",
    ),
    (
        "groups of agents",
        ("GET /groups/", "POST /groups/", "POST /groups/{id}/messages", "GET /agents/{id}/groups"),
        "shared blocks; reflection, for what a sleep-time agent did",
    ),
    (
        "MCP servers and Composio",
        (
            "GET /mcp-servers/",
            "POST /mcp-servers/",
            "GET /tools/mcp/servers",
            "PUT /tools/mcp/servers",
            "GET /tools/composio/apps",
        ),
        "tools of your own, in Python",
    ),
    (
        "jobs and batches",
        ("GET /jobs/", "GET /jobs/active", "POST /messages/batches"),
        "runs: `messages.create_async`, then `runs.retrieve`",
    ),
    (
        "templates, projects, versions of an agent",
        (
            "GET /templates/",
            "POST /templates/",
            "POST /agents/{id}/template",
            "POST /agents/{id}/migrate",
            "GET /projects",
        ),
        "agent files; a fork of an agent, in the page",
    ),
    (
        "providers",
        ("GET /providers/", "POST /providers/", "POST /providers/check"),
        "the environment: `OPENAI_BASE_URL`, `MEMORYWEB_ENDPOINTS`",
    ),
    (
        "client-side access tokens",
        ("GET /client-side-access-tokens", "POST /client-side-access-tokens"),
        "tokens with scopes, made in the page under *API*",
    ),
    (
        "what would be sent, before it is",
        ("POST /agents/{id}/messages/preview-raw-payload",),
        "the page's *Context* tab; `steps.trace.retrieve` for what was sent",
    ),
    (
        "searching agents",
        ("POST /agents/search",),
        "the filters of `agents.list`",
    ),
    ("voice", ("POST /voice-beta/{id}/chat/completions",), "nothing"),
]
