"""The demo model: a small set of rules that stands in for a language model.

It looks only at the request: the core memory in the system prompt, the tools offered, the last
user message, and what its tools returned since. It keeps nothing between two requests.
"""

from dataclasses import dataclass

from .answers import answers, joined, sentence, spoken
from .commands import PARAMETER, command
from .edits import Edit, edits_told, forgetting
from .facts import told
from .pieces import ABOUT, haiku, piece_for, reasoning, summary, thought_on
from .reports import reports
from .turn import HEARTBEAT, Call, Json, Turn, text_of, turn_of

MOST_TASKS = 25  # popped in one turn


@dataclass(frozen=True)
class Reply:
    """What the model answers: text or tool calls, and perhaps its reasoning before."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    reasoning: str = ""


def reply_to(asked: Json) -> Reply:
    """The demo model's answer to the body of a chat-completions request."""
    turn = turn_of(asked)
    if not turn.tools and not turn.memory and "summar" in turn.system.lower():
        texts = [
            text_of(each) for each in asked["messages"] if each["role"] in ("user", "assistant")
        ]
        return Reply(summary(texts))
    if turn.did("send_message"):
        return Reply()
    topic = "" if turn.done else thought_on(turn.said)
    thoughts = reasoning(topic, len(turn.known.human.splitlines())) if topic else ""
    if calls := calls_for(turn):
        return Reply(calls=calls, reasoning=thoughts)
    text = answer(turn)
    if "send_message" in turn.tools:
        return Reply(calls=(call(turn, "send_message", message=text),), reasoning=thoughts)
    return Reply(text, reasoning=thoughts)


def calls_for(turn: Turn) -> tuple[Call, ...]:
    """The tool calls this step should make; none that the turn has made already."""
    if turn.did("task_queue_pop"):
        wanted = next_task(turn)
    elif turn.done:
        wanted = []
    else:
        wanted = first_calls(turn)
    made = [each.call for each in turn.done if each.call.name != "task_queue_pop"]
    return tuple(call for call in wanted if call.name in turn.tools and call not in made)


def first_calls(turn: Turn) -> list[Call]:
    """What a user message calls for: one of the commands, or else edits of core memory."""
    if found := command(turn.said):
        name, texts = found
        return [
            call(turn, name, **{PARAMETER[name]: text}) if text else call(turn, name)
            for text in texts
        ]
    return [made for edit in edits_told(turn.said, turn.memory) if (made := call_for(turn, edit))]


def next_task(turn: Turn) -> list[Call]:
    """What the task just popped asks core memory for, and the next one; nothing after the last."""
    pops = turn.did("task_queue_pop")
    if pops[-1].failed or pops[-1].empty or len(pops) >= MOST_TASKS:
        return []
    edits = edits_told(pops[-1].returned.strip(" '\""), turn.memory)
    calls = [made for edit in edits if (made := call_for(turn, edit))]
    return [*calls, call(turn, "task_queue_pop")]


def call_for(turn: Turn, edit: Edit) -> Call | None:
    """The tool call that makes an edit with the tools there are."""
    if edit.old and "core_memory_replace" in turn.tools:
        texts = {"label": edit.block, "old_content": edit.old, "new_content": edit.new}
        return call(turn, "core_memory_replace", **texts)
    if not edit.new:
        return None
    if "core_memory_append" in turn.tools:
        return call(turn, "core_memory_append", label=edit.block, content=edit.new)
    if "core_memory_save" in turn.tools:
        return call(turn, "core_memory_save", section=edit.block, memory=edit.new)
    return None


def call(turn: Turn, name: str, **texts: str) -> Call:
    """A call with the texts under the tool's own names for its parameters."""
    parameters = [each for each in turn.tools.get(name, []) if each != HEARTBEAT]
    known = not parameters or texts.keys() <= set(parameters)
    arguments: Json = dict(texts) if known else dict(zip(parameters, texts.values(), strict=False))
    if HEARTBEAT in turn.tools.get(name, []):
        arguments[HEARTBEAT] = name != "send_message"
    return Call(name, arguments)


def answer(turn: Turn) -> str:
    """The text that ends a turn: what was done, answers to what was asked, or what I am."""
    parts = [*reports(turn), *answers(turn.said, turn.known)]
    tasks = " ".join(each.returned for each in turn.did("task_queue_pop"))
    if parts:
        return "\n\n".join([*parts, haiku(turn.known.name())] if "haiku" in tasks else parts)
    if not turn.done and (unable := without_tool(turn)):
        return unable
    if piece := piece_for(turn.said, turn.known.name()):
        return piece
    if topic := thought_on(turn.said):
        return f"I thought about {topic}, as far as rules can think. {ABOUT}"
    return ABOUT


def without_tool(turn: Turn) -> str:
    """Why nothing was done: there is no tool for it, or nothing to change."""
    if found := command(turn.said):
        return f"For that I would need the tool `{found[0]}`, which this agent does not have."
    if edits_told(turn.said, turn.memory):
        return "I cannot note or change that: this agent has no tool for it in core memory."
    if wishes := forgetting(turn.said):
        return f"My core memory says nothing about “{wishes[0]}”, so there is nothing to forget."
    if facts := told(turn.said):
        return sentence(f"I know: {joined([spoken(fact.line) for fact in facts])}")
    return ""
