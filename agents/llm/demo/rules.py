"""The demo model: a small set of rules that stands in for a language model.

It looks only at the request: the core memory in the system prompt, the tools offered, the last
user message, and what its tools returned since. It keeps nothing between two requests.
"""

import re

from .answers import UNKNOWN, answer_to, answers, joined, sentence, spoken
from .commands import Command, command, for_later, goes_on
from .edits import edits_told, forgetting
from .facts import Fact, told
from .pieces import ABOUT, piece_for, reasoning, thought_on
from .reply import Reply, call, call_for
from .reports import ARCHIVE_SAYS, NEXT, commanded, listed, popped, quoted, reports, task_of
from .searches import Result, on, questions, results_in, telling
from .sentences import clauses, sentences
from .summaries import summary
from .tidying import asks_to_reflect, reflection
from .turn import Call, Done, Json, Turn, text_of, turn_of

MOST_TASKS = 25  # popped in one turn
TASKS_ASKED = (
    r"(?i)(?:what(?:'s| is| are)?|which|list|show(?: me)?) (?:(?:on |in |left |all |of )*"
    r"(?:your|the|my) )?(?:open )?tasks?(?: list| queue)?\b.*"
)


def reply_to(asked: Json) -> Reply:
    """The demo model's answer to the body of a chat-completions request."""
    turn = turn_of(asked)
    if not turn.tools and not turn.memory and "summar" in turn.system.lower():
        return Reply(summary("\n".join(map(text_of, asked["messages"][1:]))))
    if asks_to_reflect(turn.said):
        return reflection(turn)
    if sent := turn.did("send_message"):
        return Reply(unsent(sent[-1]))
    topic = "" if turn.done else thought_on(turn.said)
    thoughts = reasoning(topic, len(turn.known.human.splitlines())) if topic else ""
    if calls := calls_for(turn):
        pops = any(each.name == "task_queue_pop" for each in calls) and turn.tasks
        text = NEXT.format(task=turn.tasks[0]) if pops else ""
        return Reply(text, calls, thoughts)
    text = answer(turn)
    if "send_message" in turn.tools:
        return Reply(calls=(call(turn, "send_message", message=text),), reasoning=thoughts)
    return Reply(text, reasoning=thoughts)


# -- which tools to call -----------------------------------------------------------------------


def calls_for(turn: Turn) -> tuple[Call, ...]:
    """The tool calls this step should make; none that the turn has made already."""
    if turn.did("task_queue_pop"):
        wanted = next_task(turn)
    elif turn.done:
        wanted = []
    elif "task_queue_pop" in turn.tools and goes_on(turn.said):
        wanted = [call(turn, "task_queue_pop")]
    else:
        wanted = first_calls(turn)
    made = [each.call for each in turn.done if each.call.name != "task_queue_pop"]
    return tuple(call for call in wanted if call.name in turn.tools and call not in made)


def first_calls(turn: Turn) -> list[Call]:
    """What a user message calls for; a search where it asks what core memory does not say."""
    if found := asked_for(turn, turn.said):
        return commanded_calls(turn, found)
    calls = edit_calls(turn, turn.said)
    if turn.has_archive and (query := unanswered(turn)):
        calls.append(call(turn, "archival_memory_search", query=query))
    return calls


def asked_for(turn: Turn, text: str) -> Command | None:
    """The tool a text asks for; what is only to be remembered for later needs one that is there."""
    found = command(text)
    if found is None and "archival_memory_insert" in turn.tools:
        return for_later(text)
    return found


def commanded_calls(turn: Turn, found: Command) -> list[Call]:
    return [call(turn, found.tool, **arguments) for arguments in found.calls]


def edit_calls(turn: Turn, text: str) -> list[Call]:
    edits = edits_told(text, turn.memory)
    return [made for edit in edits if (made := call_for(turn, edit))]


def next_task(turn: Turn) -> list[Call]:
    """What the task just popped asks for, and the next one; nothing after the last."""
    pops = turn.did("task_queue_pop")
    if pops[-1].failed or pops[-1].empty or len(pops) >= MOST_TASKS:
        return []
    task = task_of(pops[-1])
    found = asked_for(turn, task)
    if found and not found.tool.startswith("task_queue"):
        calls = commanded_calls(turn, found)
    else:
        calls = edit_calls(turn, task)
    return [*calls, call(turn, "task_queue_pop")]


def unanswered(turn: Turn) -> str:
    """What a message asks that core memory cannot answer, as words to search for."""
    if piece_for(turn.said, "") or re.match(TASKS_ASKED, turn.said):
        return ""
    asking = questions(turn.said)
    unknown = [
        clause
        for part in sentences(turn.said)
        for clause in clauses(part)
        if (said := answer_to(clause, turn.known)).startswith(UNKNOWN)
        or (not said and clause in asking)
    ]
    return " ".join(telling(" ".join(unknown)))


# -- what to say -------------------------------------------------------------------------------


def answer(turn: Turn) -> str:
    """The text that ends a turn: what was done, answers to what was asked, or what I am."""
    found = archived(turn)
    known = [
        each for each in answers(turn.said, turn.known) if not (found and each.startswith(UNKNOWN))
    ]
    parts = [*reports(turn), *known, *said_of_archive(found), *done_of_tasks(turn)]
    if parts:
        return "\n\n".join(parts)
    if not turn.done and (unable := without_tool(turn)):
        return unable
    if turn.tasks and re.match(TASKS_ASKED, turn.said):
        return listed("These tasks are left:", turn.tasks)
    if piece := piece_for(turn.said, turn.known.name()):
        return piece
    if topic := thought_on(turn.said):
        return f"I thought about {topic}, as far as rules can think. {ABOUT}"
    if sought := unasked_searches(turn):
        about = f"“{' '.join(sought[0].texts[:1])}”"
        return f"{UNKNOWN} that: core memory and my archive say nothing about {about}.\n\n{ABOUT}"
    return ABOUT


def unsent(each: Done) -> str:
    """Why a message to the person could not be sent by tool; nothing when it was."""
    if each.refusal:
        return sentence(f"I did not send my answer: {each.refusal}")
    return sentence(f"I could not send my answer: {each.error}") if each.failed else ""


def unasked_searches(turn: Turn) -> list[Done]:
    """The searches of archival memory that nobody asked for, made to answer a question."""
    asked = "archival_memory_search" in commanded(turn)
    return [] if asked else turn.did("archival_memory_search")


def archived(turn: Turn) -> list[Result]:
    """What archival memory says on what was asked."""
    return [
        result
        for each in unasked_searches(turn)
        if each.texts and not each.failed
        for result in on(each.texts[0], results_in(each.returned))
    ]


def said_of_archive(found: list[Result]) -> list[str]:
    """An answer made of what archival memory says."""
    texts = [quoted(each) for each in found]
    if len(texts) == 1:
        return [f"{ARCHIVE_SAYS} “{texts[0]}”"]
    return ["\n".join([ARCHIVE_SAYS, "", *(f"- {text}" for text in texts)])] if texts else []


def done_of_tasks(turn: Turn) -> list[str]:
    """What the tasks of this turn asked to be told."""
    tasks = popped(turn)
    names = [f.line.removeprefix("Name: ") for t in tasks for f in told(t) if is_name(f)]
    name = turn.known.name() or "".join(names[-1:])
    return [
        text
        for task in tasks
        for text in [*answers(task, turn.known), piece_for(task, name)]
        if text
    ]


def is_name(fact: Fact) -> bool:
    return fact.block == "human" and fact.line.startswith("Name: ")


def without_tool(turn: Turn) -> str:
    """Why nothing was done: there is no tool for it, or nothing to change."""
    if found := command(turn.said):
        return f"For that I would need the tool `{found.tool}`, which this agent does not have."
    if edits_told(turn.said, turn.memory):
        return "I cannot note or change that: this agent has no tool for it in core memory."
    if wishes := forgetting(turn.said):
        return f"My core memory says nothing about “{wishes[0]}”, so there is nothing to forget."
    if facts := told(turn.said):
        return sentence(f"I know: {joined([spoken(fact.line) for fact in facts])}")
    return ""
