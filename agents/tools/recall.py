"""The tool with which an agent searches everything that was ever said."""

from typing import Any, Literal

from agents.models import Message

from .results import at_most, moments, shown
from .tool import Caller, tool

ROLES = ("system", "user", "assistant")  # unless asked for others


@tool
def conversation_search(
    caller: Caller,
    query: str,
    roles: list[Literal["system", "user", "assistant", "tool"]] | None = None,
    limit: int = 10,
    start_date: str | None = None,
    end_date: str | None = None,
) -> str:
    """Search everything that was said before, also what you no longer see. The best comes first.

    The message you are answering now is not searched.

    Args:
        query: Words or a question. Empty lists the newest messages.
        roles: Who said it; unless given, all but the tools' returns.
        limit: How many results at most, 1 to 100.
        start_date: Only what was said from then on, as 2026-01-31 or 2026-01-31T18:30 (UTC).
        end_date: Only what was said until then; a date means to the end of that day.
    """
    from agents.search.hybrid import search
    from agents.search.scope import Messages

    since, until = moments(start_date=start_date, end_date=end_date)
    but = caller.step.run_id
    scope = Messages(caller.agent, since, until, tuple(roles or ROLES), but)
    return shown(search(scope, query, at_most(limit, "limit")), query, described)


def described(message: Message) -> dict[str, Any]:
    from agents.search.scope import Messages

    return {"role": message.role, "text": Messages.text(message)}
