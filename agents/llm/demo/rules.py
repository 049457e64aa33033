"""The demo model's table: what a message may say, and what is called or answered then.

It looks at the request alone: core memory in the system message, the tools on offer, the person's
last message, and what its calls returned since. It keeps nothing between two requests.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from .reports import report, stems, topics
from .texts import ABOUT, CODE, STORY
from .turn import Call, Json, Reply, Turn
from .upkeep import REFLECTION, reflection, summary

UNKNOWN = f"I do not know that. {ABOUT}"


class Plan(NamedTuple):
    """What to do about a message: calls, answers, and what to say where neither tells anything."""

    calls: tuple[Call, ...] = ()
    answers: tuple[str, ...] = ()
    otherwise: str = ABOUT


def reply_to(request: Json) -> Reply:
    """The demo model's answer to the body of a chat-completions request."""
    turn = Turn.of(request)
    if not turn.tools and not turn.blocks and "summar" in turn.system.lower():
        return Reply(summary(turn.system, turn.message))
    if sent := [call for call in turn.done if call.name == "send_message"]:
        return Reply(report(sent[-1]) if sent[-1].failed else "")
    reply = reflection(turn) if turn.message.startswith(REFLECTION) else answer(turn)
    if not reply.calls and (spoken := turn.call("send_message", reply.text)):
        return Reply(calls=(spoken,))
    return reply


def answer(turn: Turn) -> Reply:
    """The calls that a message asks for; then what they did, and answers to what was asked."""
    plan = plan_for(turn, turn.message)
    if plan.calls and not turn.done:
        return Reply(calls=plan.calls)
    texts = [*map(report, turn.done), *plan.answers]
    if not texts or texts[-1].startswith("My archive says nothing"):
        texts.append(plan.otherwise)
    return Reply("\n\n".join(texts))


def plan_for(turn: Turn, message: str) -> Plan:
    """What the table says about a message: one of its commands, or else clause by clause."""
    text = opened(message.translate(QUOTES))
    for pattern, action in COMMANDS:
        if match := re.fullmatch(pattern, text, re.IGNORECASE | re.DOTALL):
            return action(turn, (match.groupdict().get("x") or "").strip(" '\"?"))
    sentences = re.split(r"(?<=[.!?])\s+|\n+", text)
    clauses = [part for each in sentences for part in re.split(JOINT, each, flags=re.IGNORECASE)]
    plans = [plan for clause in clauses if (plan := plan_for_clause(turn, opened(clause)))]
    if not plans:
        return Plan()
    calls = {repr(call): call for plan in plans for call in plan.calls}
    answers = dict.fromkeys(text for plan in plans for text in plan.answers)
    return Plan(tuple(calls.values()), tuple(answers), plans[-1].otherwise)


def plan_for_clause(turn: Turn, clause: str) -> Plan | None:
    if not clause.endswith("?") and (fact := fact_in(clause)):
        return note(turn, *fact)
    return look_up(turn, clause) if re.fullmatch(QUESTION, clause, re.IGNORECASE) else None


# -- what a clause says ----------------------------------------------------------------------------

QUOTES = str.maketrans("‘’“”", "''\"\"")
OPENING = (
    r"\A(?:(?:hi|hello|hey|no|yes|ok|well|oh|please|actually|also|thanks|(?:can|could|will) you)\b"
    r"[\s,!.:-]*)+"
)
JOINT = r"(?:,|,? and|,? but)\s+(?=(?:i|i'm|my|call)\b)"
QUESTION = r"(?:what|who|whose|where|which|how|when|why|tell me about|do you know)\b.*|.*\?"
NAME = r"(?P<x>\w[\w.'-]*(?: (?-i:[A-Z])[\w.'-]*){0,3})(?:,? (?:not|now|instead|please|from)\b.*)?"
NO_NAME = r"(?!\w+(?:ish|an|ese|ing|ed)\b)"  # "I'm British", "I'm American"
THING = r"(?!(?:it|that|this|you|them|to)\b)(?P<x>.+?)(?: very much| a lot| too| any ?more)?"
NAMED = r"(?:my )?name(?: is|:) .+"
OPINION = r"(?:likes|loves|enjoys|hates|dislikes|does not like) {x}"
FACTS = (  # what a clause says, the line for core memory, the line that it takes the place of
    (rf"(?:my (?:\w+ )?name(?:'s| is)|call me) {NAME}", "Name: {x}", NAMED),
    (rf"i(?:'m| am)(?: called)? {NO_NAME}(?=(?-i:[A-Z])){NAME}", "Name: {x}", NAMED),
    (rf"i (?:really |also )?(?P<v>like|love|enjoy|hate|dislike) {THING}", "{v}s {x}", OPINION),
    (rf"i (?:don't|do not|no longer) (?:like|love|enjoy) {THING}", "Does not like {x}", OPINION),
    (r"i(?:'ve)? (?:now )?(?:live in|moved to) (?P<x>.+)", "Lives in {x}", "lives in .+"),
)


def opened(text: str) -> str:
    """A text without a greeting before it and the full stop behind it."""
    return re.sub(OPENING, "", text.strip(), flags=re.IGNORECASE).rstrip(" \t\n.!")


def fact_in(clause: str) -> tuple[str, str] | None:
    """The line that a clause adds to core memory, and a pattern of the line that it replaces."""
    for pattern, form, replaces in FACTS:
        if match := re.fullmatch(pattern, clause, re.IGNORECASE):
            x, verb = match["x"], match.groupdict().get("v", "").lower()
            line = form.format(x=x.title() if replaces == NAMED and x.islower() else x, v=verb)
            return line[:1].upper() + line[1:], replaces.format(x=re.escape(x))
    return None


def note(turn: Turn, line: str, replaces: str) -> Plan:
    """Write a line into core memory, in the place of what it corrects."""
    lines = [each.strip() for each in turn.blocks.get(turn.human, "").splitlines() if each.strip()]
    if any(each.strip("-*. ").casefold() == line.casefold() for each in lines):
        return Plan(otherwise=f"I know that already: “{line}”.")
    old = [each for each in lines if re.fullmatch(replaces, each.strip("-*. "), re.IGNORECASE)]
    replacing = [(name, turn.human, old[0], line) for name in REPLACING if old]
    return first_of(turn, *replacing, *((name, turn.human, line) for name in APPENDING))


REPLACING = ("core_memory_replace", "memory_replace")
APPENDING = ("core_memory_append", "memory_insert", "core_memory_save")


def first_of(turn: Turn, *choices: tuple[str, ...]) -> Plan:
    """The first of these calls that can be made with the tools on offer."""
    if calls := [call for choice in choices if (call := turn.call(*choice))]:
        return Plan((calls[0],))
    tools = " or ".join(f"`{name}`" for name, *_ in choices)
    return Plan(otherwise=f"For that I need the tool {tools}, which this agent does not have.")


def look_up(turn: Turn, question: str) -> Plan:
    """Answer a question from core memory, or search archival memory for it."""
    about = stems(question)
    if lines := [line for line in turn.known() if about and about <= stems(line)]:
        return Plan(answers=(f"I remember: “{'”, “'.join(lines)}”.",))
    empty = re.search(r"^0 passages are in archival memory", turn.system, re.MULTILINE)
    search = turn.call("archival_memory_search", " ".join(topics(question)))
    return Plan((search,) if search and about and not empty else (), otherwise=UNKNOWN)


# -- what a whole message asks for -----------------------------------------------------------------

Action = Callable[[Turn, str], Plan]


def remember(turn: Turn, words: str) -> Plan:
    """A fact where it is understood as one, else the very words; nothing is replaced by these."""
    return note(turn, *(fact_in(words) or (words[:1].upper() + words[1:], "(?!)")))


def archive(turn: Turn, words: str) -> Plan:
    plan = first_of(turn, ("archival_memory_insert", words))
    return plan if plan.calls else remember(turn, words)


def calling(tool: str) -> Action:
    return lambda turn, words: first_of(turn, (tool, words))


def say_name(turn: Turn, _: str) -> Plan:
    names = [line for line in turn.known() if re.fullmatch(NAMED, line, re.IGNORECASE)]
    name = re.split(r": | is ", names[0])[-1] if names else ""
    return Plan(answers=(f"Your name is {name}.",) * bool(name), otherwise=UNKNOWN)


def say_all(turn: Turn, _: str) -> Plan:
    lines = [f"- {line}" for line in turn.known()]
    answer = "\n".join(["This is what I know about you:", "", *lines])
    return Plan(answers=(answer,) * bool(lines), otherwise=UNKNOWN)


def add_task(turn: Turn, task: str) -> Plan:
    """By a tool of any such name: `task_queue_push`, `task_push`, `add_task`."""
    names = [name for name in turn.tools if re.search(r"task.*(push|add)|(push|add).*task", name)]
    return first_of(turn, *((name, task) for name in [*names, "task_queue_push"]))


ARCHIVE = r"(?:your |the )?(?:archive|archival(?: memory)?)"
THAT = r"(?:,|:)?(?: that| about| for| to)?:? (?P<x>.+)"
COMMANDS: tuple[tuple[str, Action], ...] = (
    (rf"(?:remember|save|keep|note)(?: this)?,? (?:for later|(?:to|in) {ARCHIVE}){THAT}", archive),
    (rf"(?:remember|note|don't forget){THAT}", remember),
    (
        rf"(?:search|look in) {ARCHIVE}{THAT}",
        lambda t, x: first_of(t, ("archival_memory_search", x)),
    ),
    (
        r"what did (?:i|you|we) (?:say|write|talk)(?: (?:about|of|on) (?P<x>.+))?",
        lambda turn, words: first_of(turn, ("conversation_search", words)),
    ),
    (r"add (?:a |the )?(?:new )?task(?: to|:)? (?P<x>.+)", add_task),
    (r"(?:what's|what is|do you know) my name\??|who am i\??", say_name),
    (r"(?:tell me )?what (?:do|did) (?:you (?:know|remember)|i (?:like|love))\b.*", say_all),
    (r"(?:show|write|give) .*\b(?:code|function|script)\b.*", lambda *_: Plan(answers=(CODE,))),
    (r"(?:tell|write|give) .*\b(?:story|long text)\b.*", lambda *_: Plan(answers=(STORY,))),
)
