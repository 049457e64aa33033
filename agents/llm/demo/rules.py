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
from .upkeep import REFLECTION, SUMMARY, reflection, summary

IMAGE = re.compile(r"\[Image, (\d+ × \d+), not shown: [^\]]*\]")
UNSEEN = "You gave me an image of {} pixels. I am a small set of rules and cannot look at it."
UNKNOWN = f"I do not know that. {ABOUT}"


class Plan(NamedTuple):
    """What to do about a message: a call, and what to say if there is none or it found nothing."""

    call: Call | None = None
    otherwise: str = ABOUT


def reply_to(request: Json) -> Reply:
    """The demo model's answer to the body of a chat-completions request."""
    turn = Turn.of(request)
    if turn.system.startswith(SUMMARY):
        return Reply(summary(turn.system, turn.message))
    if sent := [call for call in turn.done if call.name == "send_message"]:
        return Reply(report(sent[-1]) if sent[-1].returned.startswith("Error") else "")
    reply = reflection(turn) if turn.message.startswith(REFLECTION) else answer(turn)
    if not reply.calls and (spoken := turn.call("send_message", reply.text)):
        return Reply(calls=(spoken,))
    return reply


def answer(turn: Turn) -> Reply:
    """The calls that a message asks for; then what they did, or an answer where there are none."""
    plans = plans_for(turn)
    calls = {repr(plan.call): plan.call for plan in plans if plan.call}
    if calls and not turn.done:
        return Reply(calls=tuple(calls.values()))
    texts = [report(call) for call in turn.done]
    texts += [UNSEEN.format(size) for size in IMAGE.findall(turn.message)]
    if not texts or texts[-1].startswith("My archive says nothing"):
        texts += dict.fromkeys(plan.otherwise for plan in plans) or [ABOUT]
    return Reply("\n\n".join(texts))


def plans_for(turn: Turn) -> list[Plan]:
    """What the tables say about a message: one call or answer, or else clause by clause."""
    text = bare(IMAGE.sub("", turn.message).translate(QUOTES))
    for pattern, tool in CALLS:
        if match := re.fullmatch(pattern, text, re.IGNORECASE | re.DOTALL):
            return [first_of(turn, (tool, match[1].strip(" '\"?")))]
    for pattern, answer_of in ANSWERS:
        if re.fullmatch(pattern, text, re.IGNORECASE | re.DOTALL):
            return [Plan(otherwise=answer_of(turn))]
    clauses = [bare(each) for each in re.split(CLAUSES, text, flags=re.IGNORECASE)]
    return [plan for clause in clauses if (plan := note(turn, clause) or look_up(turn, clause))]


# -- what a clause says ----------------------------------------------------------------------------

QUOTES = str.maketrans("‘’“”", "''\"\"")
OPENING = r"\A(?:(?:hi|hello|hey|no|yes|please|actually|also|remember that)\b[\s,!.:-]*)+"
CLAUSES = r"(?<=[.!?])\s+|\n+|(?:,|,? and|,? but)\s+(?=(?:i|i'm|my|call)\b)"
QUESTION = r"(?:what|who|whose|where|which|how|when|why|tell me about)\b.*|.*\?"
NAME = r"(?P<x>\w[\w.'-]*(?: (?-i:[A-Z])[\w.'-]*){0,3})(?:,? (?:not|now|instead|please|from)\b.*)?"
AFTER_ALL = r"(?: actually| really)?"
NO_NAME = r"(?!\w+(?:ish|an|ese|ing|ed)\b)"  # "I'm British", "I'm American"
THING = r"(?!(?:it|that|this|you|them|to)\b)(?P<x>.+?)(?: very much| a lot| too| any ?more)?"
NAMED = r"(?:my )?name(?: is|:) (.+)"
OPINION = r"(?:likes|loves|enjoys|hates|dislikes|does not like) {x}"
FACTS = (  # what a clause says, the line for core memory, the line that it takes the place of
    (rf"(?:my (?:\w+ )?name(?:'s| is)|call me){AFTER_ALL} {NAME}", "Name: {x}", NAMED),
    (rf"i(?:'m| am){AFTER_ALL}(?: called)? {NO_NAME}(?=(?-i:[A-Z])){NAME}", "Name: {x}", NAMED),
    (rf"i (?:really |also )?(?P<v>like|love|enjoy|hate|dislike) {THING}", "{v}s {x}", OPINION),
    (rf"i (?:don't|do not|no longer) (?:like|love|enjoy) {THING}", "Does not like {x}", OPINION),
)
REPLACING = ("core_memory_replace", "memory_replace")
APPENDING = ("core_memory_append", "memory_insert", "core_memory_save")


def bare(text: str) -> str:
    """A text without a greeting before it and the full stop behind it."""
    return re.sub(OPENING, "", text.strip(), flags=re.IGNORECASE).rstrip(" \t\n.!")


def note(turn: Turn, clause: str) -> Plan | None:
    """Write what a clause says into core memory, in the place of the line that it corrects."""
    for pattern, form, replaces in FACTS:
        if match := re.fullmatch(pattern, clause, re.IGNORECASE):
            x, verb = match["x"], match.groupdict().get("v", "").lower()
            line = form.format(x=x.title() if replaces == NAMED and x.islower() else x, v=verb)
            line, corrects = line[:1].upper() + line[1:], replaces.format(x=re.escape(x))
            known = {each.strip("-*. ").casefold(): each for each in turn.known()}
            if line.casefold() in known:
                return Plan(otherwise=f"I know that already: “{line}”.")
            old = [known[each] for each in known if re.fullmatch(corrects, each, re.IGNORECASE)]
            replacing = [(name, "human", old[0], line) for name in REPLACING if old]
            return first_of(turn, *replacing, *((name, "human", line) for name in APPENDING))
    return None


def first_of(turn: Turn, *choices: tuple[str, ...]) -> Plan:
    """The first of these calls that can be made with the tools on offer."""
    calls = filter(None, (turn.call(*choice) for choice in choices))
    tools = " or ".join(f"`{name}`" for name, *_ in choices)
    return Plan(
        next(calls, None), f"For that I need the tool {tools}, which this agent does not have."
    )


def look_up(turn: Turn, question: str) -> Plan | None:
    """Answer a question from core memory, or search archival memory for it."""
    if not re.fullmatch(QUESTION, question, re.IGNORECASE):
        return None
    about = stems(question)
    if lines := [line for line in turn.known() if about and about <= stems(line)]:
        return Plan(otherwise=f"I remember: “{'”, “'.join(lines)}”.")
    empty = re.search(r"^0 passages are in archival memory", turn.system, re.MULTILINE)
    search = turn.call("archival_memory_search", " ".join(topics(question)))
    return Plan(search if about and not empty else None, UNKNOWN)


# -- what a whole message asks for -----------------------------------------------------------------


def name_known(turn: Turn) -> str:
    names = [match[1] for line in turn.known() if (match := re.fullmatch(NAMED, line, re.I))]
    return f"Your name is {names[0]}." if names else UNKNOWN


def all_known(turn: Turn) -> str:
    known = "\n".join(f"- {line.strip('- ')}" for line in turn.known())
    return f"This is what I know about you:\n\n{known}" if known else UNKNOWN


LATER = r"(?:remember|save|keep|note)(?: this)?,? (?:for later|(?:to|in) archival memory)"
CALLS = (
    (rf"{LATER}[,:]?(?: that| about| to)?:? (.+)", "archival_memory_insert"),
    (r"search archival memory for (.+)", "archival_memory_search"),
    (r"what did (?:i|you|we) (?:say|write|talk) (?:about|of|on) (.+)", "conversation_search"),
    (r"add (?:a |the )?(?:new )?task(?: to|:)? (.+)", "task_queue_push"),
)
ANSWERS: tuple[tuple[str, Callable[[Turn], str]], ...] = (
    (r"(?:what's|what is|do you know) my name\??|who am i\??", name_known),
    (r"(?:tell me )?what (?:do|did) (?:you (?:know|remember)|i (?:like|love))\b.*", all_known),
    (r"(?:show|write|give) .*\b(?:code|function|script)\b.*", lambda _: CODE),
    (r"(?:tell|write|give) .*\b(?:story|long text)\b.*", lambda _: STORY),
)
