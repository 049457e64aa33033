"""The tools with which an agent inserts passages into archival memory and searches them."""

from typing import Any, Literal

from agents.models import Editor, Passage
from agents.models.message import storable
from agents.search.hybrid import search
from agents.search.scope import Passages

from .results import as_json, checked_count, date_range, zone_of
from .tool import Caller, tool


@tool(of_memory=True)
def archival_memory_insert(caller: Caller, content: str, tags: list[str] | None = None) -> str:
    """Insert a text into archival memory, which has no limit and is only seen by searching it.

    Args:
        content: The text to remember. Write it so that it makes sense by itself.
        tags: Words to find it by, such as ["travel", "food"].
    """
    by = caller.editor
    passage = Passage.insert(caller.agent, content, tags, by=by)
    return f"Done. It is passage {passage.pk} of archival memory."


@tool(of_memory=True)
def archival_memory_search(
    caller: Caller,
    query: str,
    tags: list[str] | None = None,
    tag_match_mode: Literal["any", "all"] = "any",
    top_k: int = 10,
    start_datetime: str | None = None,
    end_datetime: str | None = None,
) -> str:
    """Search archival memory. The best results come first, each with when it was inserted and by
    whom.

    Args:
        query: Words or a question. Empty lists the newest passages.
        tags: Only passages with these tags.
        tag_match_mode: Whether a passage must have any of the tags or all of them.
        top_k: How many results at most, 1 to 100.
        start_datetime: Only passages from then on, as 2026-01-31 or 2026-01-31T18:30.
        end_datetime: Only passages until then; a date means to the end of that day.
    """
    zone = zone_of(caller.agent)
    since, until = date_range(zone, start_datetime=start_datetime, end_datetime=end_datetime)
    names = tuple(storable(tag).strip() for tag in tags or ())
    every, payer = tag_match_mode == "all", caller.payer_id
    scope = Passages(caller.agent, since, until, names, every, payer_id=payer)
    results = search(scope, query, checked_count(top_k, "top_k"))
    Passage.count_recall(caller.agent, [passage for passage, _ in results.rows])
    return as_json(results, query, fields_of, zone)


def fields_of(passage: Passage) -> dict[str, Any]:
    by = "you" if passage.editor_kind == Editor.AGENT else passage.editor_name
    return {"written_by": by, "text": passage.text, "tags": passage.tags}
