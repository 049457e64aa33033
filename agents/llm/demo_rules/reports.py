"""What the demo model says of what its tools did in a turn."""

import json
import re
from collections.abc import Callable

from .answers import joined, sentence, spoken
from .sentences import ANY_CASE
from .turn import NOTHING, Done, Turn


def reports(turn: Turn) -> list[str]:
    """A paragraph for each kind of thing done in this turn."""
    edits = [each for each in turn.done if each.call.name.startswith("core_memory_")]
    paragraphs = [
        said_of_edits(edits),
        said_of_tasks(turn),
        *(report(each) for each in turn.done if (report := REPORTS.get(each.call.name))),
    ]
    return list(filter(None, paragraphs))


def said_of_edits(edits: list[Done]) -> str:
    """'Nice to meet you, Sarah. Noted: you like cherry pie.'"""
    well = [each.texts for each in edits if not each.failed and len(each.texts) > 1]
    appended = [texts[1] for texts in well if len(texts) == 2]
    changed = [texts for texts in well if len(texts) > 2]
    names = [each for each in appended if each.startswith("Name: ") and not own(edits, each)]
    notes = [spoken(each) for each in appended if each not in names and not own(edits, each)]
    manners = [each for each in appended if own(edits, each)]
    parts = [f"Nice to meet you, {name.removeprefix('Name: ')}." for name in names]
    parts += [sentence(f"Noted: {joined(notes)}")] if notes else []
    parts += [sentence(f"Noted, as part of my persona: {joined(manners)}")] if manners else []
    parts += [said_of_change(*texts[:3]) for texts in changed]
    parts += [failure(each) for each in edits if each.failed]
    return " ".join(parts)


def own(edits: list[Done], content: str) -> bool:
    """Whether this was written about the agent itself."""
    return any(each.texts[:2] in (["persona", content], ["agent", content]) for each in edits)


def said_of_change(block: str, old: str, new: str) -> str:
    """What replacing did: a correction, or something forgotten."""
    if not new:
        return sentence(
            "Forgotten: " + "; ".join(spoken(each) for each in old.splitlines() if each)
        )
    if block in ("persona", "agent"):
        return f"My persona now says “{new}” where it said “{old}”."
    return f"Corrected: {spoken(new)} (it said “{old}”)."


def failure(each: Done) -> str:
    """That something was not saved, and why."""
    what = f"“{each.texts[-1]}”" if each.texts and each.texts[-1] else "that change"
    return sentence(f"I could not save {what}: {each.returned.strip()}")


def said_of_tasks(turn: Turn) -> str:
    """Which tasks were queued, or done."""
    queued = [
        each.texts[0] for each in turn.did("task_queue_push") if not each.failed and each.texts
    ]
    pops = [each for each in turn.did("task_queue_pop") if not each.failed]
    popped = [each.returned.strip(" '\"") for each in pops if not each.empty]
    if queued:
        return listed(f"I put {count(len(queued))} in the queue:", queued)
    if pops and not popped:
        return "There are no tasks in the queue."
    return listed(f"I worked through {count(len(popped))}:", popped) if popped else ""


def count(tasks: int) -> str:
    return "one task" if tasks == 1 else f"{tasks} tasks"


def listed(heading: str, items: list[str]) -> str:
    return "\n".join([heading, "", *(f"{i}. {item}" for i, item in enumerate(items, 1))])


def said_of_search(each: Done) -> str:
    """What a search found."""
    sought = each.texts[0] if each.texts else "that"
    found = found_in(each.returned)
    if each.failed:
        return f"I could not search: {each.returned.strip()}"
    if not found:
        return f"I found nothing about “{sought}”."
    return "\n".join(
        [f"I searched for “{sought}” and found:", "", *(f"- {line}" for line in found)]
    )


def found_in(returned: str) -> list[str]:
    """The results of a search, whether returned as JSON or as lines."""
    try:
        results = json.loads(returned)
    except ValueError:
        results = [] if re.fullmatch(NOTHING, returned, ANY_CASE) else returned.splitlines()
    if isinstance(results, dict):
        results = next((each for each in results.values() if isinstance(each, list)), [results])
    items = results if isinstance(results, list) else [results]
    texts = (
        each.get("content") or each.get("text") or each if isinstance(each, dict) else each
        for each in items
    )
    lines = (str(each).strip(" -*\t") for each in texts if each)
    return [line for line in lines if line][:10]


def said_of_insert(each: Done) -> str:
    return failure(each) if each.failed else f"Saved to archival memory: “{each.texts[0]}”."


def said_of_failure(each: Done) -> str:
    return failure(each) if each.failed else ""


REPORTS: dict[str, Callable[[Done], str]] = {
    "archival_memory_insert": said_of_insert,
    "archival_memory_search": said_of_search,
    "conversation_search": said_of_search,
    "task_queue_push": said_of_failure,
    "task_queue_pop": said_of_failure,
}
