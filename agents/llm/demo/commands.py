"""Messages that ask the demo model for one of the other tools: archival, recall, a task queue."""

import re
from dataclasses import dataclass
from typing import Any

from .facts import REMEMBER
from .sentences import ANY_CASE, clean, opened

ARCHIVE = r"(?:your |the |my )?(?:archival|archives?|long-term)(?: memory| storage)?"
MEMORY = rf"(?:{ARCHIVE}|(?:your |the )?memory)"
RECALL = (
    r"(?:our |your |the |my |past |previous |old )*"
    r"(?:conversations?|chats?|messages|history|recall)(?: memory| history)?"
)
SAVE = (
    r"(?:remember|save|store|put|insert|note|keep|add|write|record|(?:make|add|write|put) a note)"
    r"(?: down)?"
)
FIND = r"(?:search|look|check|query|go)(?: up| in| into| through)*"
FACT = r"(?:(?:the (?:information|fact)|this)\b)? ?(?:that\b)?[\s:,]*"
FOR = (
    r"(?:,? (?:for|about|on)(?: information (?:on|about))?"
    r"|,? to (?:answer|find)(?: out)?(?: the question| this)?|:)"
)
SAID = (
    r"(?:say|said|tell|told|talk|talked|speak|spoke|spoken|write|wrote|written|mention|mentioned"
    r"|discuss|discussed|ask|asked|chat|chatted)(?: (?:to |with )?(?:you|me|each other))?"
)
ABOUT_X = r"(?: (?:about|of|on))?(?: (?P<x>.+))?"
EARLIER = (
    r"(?:^|[\s,]+)(?:earlier|before|previously|recently|yesterday|today|in the past|so far|again"
    r"|the other day|(?:last|this) (?:time|week|month|year|night|morning)"
    r"|(?:a|some|two|three|few|a few) ?(?:long )?(?:while|time|days?|weeks?|months?|years?) ago)$"
)
COMMANDS: tuple[tuple[str, str], ...] = (
    (
        rf"{SAVE} (?:this |it )?(?:in|to|into) {ARCHIVE}[\s:,]*{FACT}(?P<x>.+)",
        "archival_memory_insert",
    ),
    (rf"{SAVE} {FACT}(?P<x>.+?),? (?:in|to|into) {ARCHIVE}", "archival_memory_insert"),
    (r"archive (?:this|that|the fact that)[\s:,]+(?P<x>.+)", "archival_memory_insert"),
    (rf"{FIND} {MEMORY}(?:{FOR}[\s:,]*(?P<x>.+))?", "archival_memory_search"),
    (rf"(?:find|look up|search(?: for)?) (?P<x>.+?) in {MEMORY}", "archival_memory_search"),
    (
        rf"what(?: is|'s|'s there| do you have| have you(?: got)?| did you put)? in {ARCHIVE}"
        r"(?: (?:about|on)(?P<x> .+))?",
        "archival_memory_search",
    ),
    (rf"what does {ARCHIVE} say (?:about|on) (?P<x>.+)", "archival_memory_search"),
    (
        r"(?:do you have|have you(?: got)?|is there) (?:any|some)thing "
        rf"(?:(?:about|on) (?P<x>.+?) in {ARCHIVE}|in {ARCHIVE} (?:about|on) (?P<y>.+))",
        "archival_memory_search",
    ),
    (rf"(?P<x>.+?)[?.!,;]* (?:please )?{FIND} {ARCHIVE}", "archival_memory_search"),
    (rf"{FIND} {RECALL}(?:{FOR}[\s:,]*(?P<x>.+))?", "conversation_search"),
    (rf"(?:find|look up|search(?: for)?) (?P<x>.+?) in {RECALL}", "conversation_search"),
    (
        r"(?:(?:do you (?:still )?)?(?:remember|recall) )?(?:what|when|that)"
        rf"(?: did| have|'ve)? ?(?P<who>i|we|you)(?:'ve| have)? (?:ever )?{SAID}{ABOUT_X}",
        "conversation_search",
    ),
    (rf"(?:did|have) (?P<who>i|we|you) (?:ever )?{SAID}{ABOUT_X}", "conversation_search"),
    (
        rf"do you (?:still )?(?:remember|recall) (?:our|the|that) "
        rf"(?:conversation|chat|talk|discussion)s?{ABOUT_X}",
        "conversation_search",
    ),
    (
        r"(?:complete|do|finish|work (?:on|off|through)|process|run|execute|start|clear)"
        r"(?: all)?(?: of)?(?: your| the| my| these| those)?"
        r"(?: pending| remaining| open| queued)? (?:tasks?|task (?:list|queue))(?: now)?",
        "task_queue_pop",
    ),
)
GO_ON = (
    r"(?:keep going|go on|carry on|continue|next(?: task)?|(?:do )?the next (?:one|task)"
    r"|keep (?:on )?working)(?: with (?:your|the) tasks)?"
)
ROLES = {"i": ["user"], "you": ["assistant"]}
TAGGED = (
    r"(?:[\s,;.(]+(?:tagged|with (?:the )?tags?)(?: (?:as|with))?"
    r"|(?:[,;.(]\s*(?:and )?|\s+and )tags?(?: (?:it|this|that|them))?(?: (?:as|with))?)"
    r"[\s:]+(?P<tags>[^.!?\n]+?)\)?$"
)
LONG = 160  # characters; what is longer is put away rather than kept in view

TASK_VERB = r"(?:add|push|queue|put|create|enqueue)(?: up)?"
PUSH = rf"\b{TASK_VERB}\b.*\btasks?\b|\bnew tasks?\b"
SEVERAL = r"two|three|four|five|[2-9]|several|some|separate|seperate"
ONE_TASK = (
    rf"{TASK_VERB} (?:(?:a|another|one|these|the|following|{SEVERAL}|new|more) )*tasks?"
    r"(?: (?:to|in|on) (?:your|the|my) (?:task )?(?:list|queue))?(?:: ?| )(?:to )?(?P<x>.+)"
    rf"|{TASK_VERB} (?P<y>.+?) (?:as|to|on|onto|in|into) (?:\w+ )*?tasks?(?: list| queue)?"
    r"|new tasks?[ :]+(?P<z>.+)"
)
NUMBERED = r"(?:^|[\s,;]+)(?:and )?(?:task )?\d+[.):]\s+"


@dataclass(frozen=True)
class Command:
    """A tool that a message asks for, with the arguments of each call."""

    tool: str
    calls: tuple[dict[str, Any], ...]


def command(said: str) -> Command | None:
    """The tool a message asks for: called once, or once for each task to queue."""
    text, tags = untagged(plain_quotes(said))
    if tasks := tasks_in(text):
        return Command("task_queue_push", tuple({"task_description": task} for task in tasks))
    for pattern, name in COMMANDS:
        if asked := re.fullmatch(pattern, text, ANY_CASE | re.DOTALL):
            return Command(name, (arguments_of(name, asked, tags),))
    return None


def arguments_of(name: str, asked: re.Match[str], tags: list[str]) -> dict[str, Any]:
    """The arguments that a message gives the tool it asks for."""
    groups = asked.groupdict()
    text = (groups.get("x") or groups.get("y") or "").strip(" '\".?!")
    if name == "task_queue_pop":
        return {}
    if name == "archival_memory_insert":
        return {"content": text} | ({"tags": tags} if tags else {})
    if name == "archival_memory_search":
        return {"query": text} | ({"tags": tags} if tags else {})
    who = (groups.get("who") or "").lower()
    roles = {"roles": ROLES[who]} if who in ROLES else {}
    query = clean(re.sub(EARLIER, "", text, flags=ANY_CASE))
    return {"query": re.sub(r"^(?:the|an?|my|our) ", "", query, flags=ANY_CASE)} | roles


def for_later(said: str) -> Command | None:
    """What is to be remembered but need not be in view: 'for later', or long."""
    text, tags = untagged(plain_quotes(said))
    asked = re.fullmatch(REMEMBER, text, ANY_CASE | re.DOTALL)
    if not asked or not (asked["later"] or tags or len(asked["x"]) > LONG):
        return None
    content = asked["x"].strip(" '\"")
    return Command(
        "archival_memory_insert", ({"content": content} | ({"tags": tags} if tags else {}),)
    )


def goes_on(said: str) -> bool:
    """Whether a message asks to go on with what there is to do."""
    return bool(re.fullmatch(GO_ON, opened(said).strip(" .!?"), ANY_CASE))


def plain_quotes(said: str) -> str:
    return opened(said.translate(str.maketrans("‘’“”", "''\"\""))).strip(" .!?")


def untagged(text: str) -> tuple[str, list[str]]:
    """A text without the tags asked for at its end, and the tags."""
    asked = re.search(TAGGED, text, ANY_CASE)
    if not asked:
        return text, []
    tags = (tag.strip(" '\"#") for tag in re.split(r",? and |[,;]\s*|\s+(?=#)", asked["tags"]))
    return text[: asked.start()].rstrip(" .,;("), [tag for tag in tags if tag]


def tasks_in(text: str) -> list[str]:
    """The tasks a message asks to queue: 'Add "a" and "b" as two tasks.'"""
    if not re.search(PUSH, text, ANY_CASE):
        return []
    if quoted := re.findall(r"(?<!\w)(['\"])(.+?)\1(?!\w)", text):
        return [task for _, task in quoted]
    asked = re.fullmatch(ONE_TASK, text, ANY_CASE | re.DOTALL)
    if not asked:
        return []
    tasks = asked["x"] or asked["y"] or asked["z"]
    several = re.search(rf"\b(?:{SEVERAL})\b.*\btasks\b|\btasks:", text, ANY_CASE)
    if len(re.findall(NUMBERED, tasks, ANY_CASE)) > 1:
        parts = re.split(NUMBERED, tasks, flags=ANY_CASE)
    else:
        parts = re.split(r",? and |[,;]\s+|\n", tasks) if several else [tasks]
    return [part for each in parts if (part := each.strip(" .,;-"))]
