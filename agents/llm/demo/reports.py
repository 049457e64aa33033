"""What the demo model says of what its tools did in a turn."""

import re
from collections.abc import Callable
from datetime import date

from .answers import UNKNOWN, joined, sentence, spoken
from .commands import command
from .searches import Result, best, results_in
from .turn import Done, Turn

EDITING = ("core_memory_", "memory_")
REMAINING = r"\s*remaining tasks\b"  # what one notebook's task_queue_pop returns, not the task
NEXT = "The next task is “{task}”."
ALIKE = r"Note: '.*?' says what '(.*?)' says"
SEARCHED, ARCHIVE_SAYS = "I searched", "My archive says:"
LOOKED_UP = (SEARCHED, ARCHIVE_SAYS, UNKNOWN)
LONGEST_QUOTE = 300  # characters


def reports(turn: Turn) -> list[str]:
    """A paragraph for each kind of thing done in this turn."""
    edits = [each for each in turn.done if each.call.name.startswith(EDITING)]
    asked = commanded(turn)
    paragraphs = [
        said_of_edits(edits),
        said_of_tasks(turn),
        *(
            report(each)
            for each in turn.done
            if (report := REPORTS.get(each.call.name))
            and (report is not said_of_search or each.call.name in asked)
        ),
    ]
    return list(filter(None, paragraphs))


def commanded(turn: Turn) -> set[str]:
    """The tools that the message, or a task it set off, asked for by name."""
    found = (command(text) for text in (turn.said, *popped(turn)))
    return {each.tool for each in found if each}


# -- core memory -------------------------------------------------------------------------------


def said_of_edits(edits: list[Done]) -> str:
    """'Nice to meet you, Sarah. Noted: you like cherry pie.'"""
    well = [each.texts for each in edits if not each.failed and len(each.texts) > 1]
    appended = [texts[1] for texts in well if len(texts) == 2]
    changed = [texts for texts in well if len(texts) > 2]
    names = [each for each in appended if each.startswith("Name: ") and not own(edits, each)]
    notes = [spoken(each) for each in appended if each not in names and not own(edits, each)]
    manners = [each for each in appended if own(edits, each)]
    alike = [line for each in edits for line in re.findall(ALIKE, each.returned)]
    parts = [f"Nice to meet you, {name.removeprefix('Name: ')}." for name in names]
    parts += [sentence(f"Noted: {joined(notes)}")] if notes else []
    parts += [sentence(f"Noted, as part of my persona: {joined(manners)}")] if manners else []
    parts += [said_of_change(*texts[:3]) for texts in changed]
    parts += [f"My memory says nearly the same already: “{line}”." for line in alike]
    parts += [failure(each, each.texts[-1:]) for each in edits if each.failed]
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


def failure(each: Done, texts: list[str]) -> str:
    """That something was not saved, and why."""
    what = f"“{texts[0]}”" if texts and texts[0] else "that change"
    if each.refusal:
        return sentence(f"I did not save {what}: {each.refusal}")
    return sentence(f"I could not save {what}: {each.error}")


# -- tasks -------------------------------------------------------------------------------------


def said_of_tasks(turn: Turn) -> str:
    """Which tasks were queued, or done."""
    queued = [
        each.texts[0] for each in turn.did("task_queue_push") if not each.failed and each.texts
    ]
    if queued:
        return listed(f"I put {count(len(queued))} in the queue:", queued)
    tasks = popped(turn)
    if not tasks and any(not each.failed for each in turn.did("task_queue_pop")):
        return "There are no tasks in the queue."
    return listed(f"I worked through {count(len(tasks))}:", tasks) if tasks else ""


def popped(turn: Turn) -> list[str]:
    """The tasks taken off the queue in this turn."""
    return list(filter(None, map(task_of, turn.did("task_queue_pop"))))


def task_of(each: Done) -> str:
    """The task that a pop gave: what it returned, or else what was said to come next."""
    if each.failed or each.empty:
        return ""
    if re.match(REMAINING, each.returned, re.I):
        told = re.search(NEXT.format(task="(.*)"), each.said, re.DOTALL)
        return told[1] if told else ""
    return each.returned.strip(" '\"")


def count(tasks: int) -> str:
    return "one task" if tasks == 1 else f"{tasks} tasks"


def listed(heading: str, items: list[str]) -> str:
    return "\n".join([heading, "", *(f"{i}. {item}" for i, item in enumerate(items, 1))])


def said_of_task_failure(each: Done) -> str:
    if each.call.name == "task_queue_push":
        return failure(each, each.texts[:1]) if each.failed else ""
    if each.refusal:
        return sentence(f"I did not take the next task: {each.refusal}")
    return sentence(f"I could not take the next task: {each.error}") if each.failed else ""


# -- archival and recall memory ----------------------------------------------------------------


def said_of_search(each: Done) -> str:
    """What a search found."""
    if each.refusal:
        return sentence(f"I did not search: {each.refusal}")
    if each.failed:
        return sentence(f"I could not search: {each.error}")
    where = "our conversations" if each.call.name == "conversation_search" else "my archive"
    sought = f" for “{each.texts[0]}”" if each.texts and each.texts[0] else ""
    found = best(told_in(each))
    if not found:
        return f"{SEARCHED} {where}{sought} and found nothing."
    lines = [f"- {quoted(result)}" for result in found]
    return "\n".join([f"{SEARCHED} {where}{sought} and found:", "", *lines])


def told_in(each: Done) -> list[Result]:
    """The results of a search, without earlier searches: their questions and their reports."""
    return [
        result
        for result in results_in(each.returned)
        if not (result.role == "user" and command(result.text))
        and not (result.role == "assistant" and result.text.startswith(LOOKED_UP))
    ]


def quoted(result: Result) -> str:
    """A result as a line: a message with who said it and when."""
    text = result.text
    text = text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1].rstrip()}…"
    who = {"user": "You said", "assistant": "I said"}.get(result.role)
    return f"{who}{day(result.time)}: “{text}”" if who else text


def day(time: str) -> str:
    """' on 5 May 2026', or nothing."""
    try:
        at = date.fromisoformat(time[:10])
    except ValueError:
        return ""
    return f" on {at.day} {at:%B %Y}"


def found_in(returned: str) -> list[str]:
    """The texts that a search found."""
    return [result.text for result in results_in(returned)]


def said_of_insert(each: Done) -> str:
    if each.failed:
        return failure(each, each.texts[:1])
    tags = each.call.arguments.get("tags")
    tagged = f", tagged {joined([str(tag) for tag in tags])}" if isinstance(tags, list) else ""
    return f"Saved to archival memory: “{each.texts[0]}”{tagged}."


REPORTS: dict[str, Callable[[Done], str]] = {
    "archival_memory_insert": said_of_insert,
    "archival_memory_search": said_of_search,
    "conversation_search": said_of_search,
    "task_queue_push": said_of_task_failure,
    "task_queue_pop": said_of_task_failure,
}
