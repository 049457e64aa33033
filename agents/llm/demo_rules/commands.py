"""Messages that ask the demo model for one of the other tools: archival, recall, a task queue."""

import re

from .sentences import ANY_CASE, opened

ARCHIVAL = r"(?:your |the |my )?(?:archival|archive)(?: memory| storage)?"
RECALL = (
    r"(?:our |your |the |my |past |previous |old )*"
    r"(?:conversations?|chats?|messages|history|recall)(?: memory| history)?"
)
SAVE = r"(?:remember|save|store|put|insert|note|keep|add|write|record)"
FIND = r"(?:search|look|check|query|go)(?: up| in| into| through)*"
FACT = r"(?:(?:the (?:information|fact)|this)\b)? ?(?:that\b)?[\s:,]*"
FOR = (
    r"(?:,? (?:for|about|on)(?: information (?:on|about))?"
    r"|,? to (?:answer|find)(?: out)?(?: the question| this)?|:)"
)
COMMANDS: tuple[tuple[str, str], ...] = (
    (
        rf"{SAVE} (?:this )?(?:in|to|into) {ARCHIVAL}[\s:,]*{FACT}(?P<x>.+)",
        "archival_memory_insert",
    ),
    (rf"{SAVE} {FACT}(?P<x>.+?),? (?:in|to|into) {ARCHIVAL}", "archival_memory_insert"),
    (rf"{FIND} {ARCHIVAL}{FOR}[\s:,]*(?P<x>.+)", "archival_memory_search"),
    (rf"(?:find|look up|search(?: for)?) (?P<x>.+?) in {ARCHIVAL}", "archival_memory_search"),
    (rf"what(?: is|'s|'s there)? in {ARCHIVAL} (?:about|on) (?P<x>.+)", "archival_memory_search"),
    (rf"(?P<x>.+?)[?.!,;]* (?:please )?{FIND} {ARCHIVAL}", "archival_memory_search"),
    (rf"{FIND} {RECALL}{FOR}[\s:,]*(?P<x>.+)", "conversation_search"),
    (rf"(?:find|look up|search(?: for)?) (?P<x>.+?) in {RECALL}", "conversation_search"),
    (
        r"(?:what|when) did (?:i|we|you) (?:say|tell you|talk|write|mention|discuss)"
        r"(?: to you)?(?: about)? (?P<x>.+)",
        "conversation_search",
    ),
    (
        r"(?:complete|do|finish|work (?:on|through)|process|run|execute|start)"
        r"(?: all)?(?: of)?(?: your| the| my| these| those)?"
        r"(?: pending| remaining| open| queued)? (?:tasks?|task (?:list|queue))(?: now)?",
        "task_queue_pop",
    ),
)
PUSH = r"\b(?:add|push|queue|put|create|enqueue)\b.*\btasks?\b|\bnew tasks?\b"
ONE_TASK = (
    r"(?:add|push|queue|put|create|enqueue)(?: up)? (?:(?:a |another |one )?(?:new )?tasks?[ :]+"
    r"(?:to )?(?P<x>.+)|(?P<y>.+?) (?:as|to|on|onto|in|into) (?:\w+ )*?tasks?(?: list| queue)?)"
    r"|new task[ :]+(?P<z>.+)"
)
PARAMETER = {
    "archival_memory_insert": "content",
    "archival_memory_search": "query",
    "conversation_search": "query",
    "task_queue_push": "task_description",
}


def command(said: str) -> tuple[str, list[str]] | None:
    """The tool a message asks for, and the text of each call: one call, or one for each task."""
    text = opened(said.translate(str.maketrans("‘’“”", "''\"\""))).strip(" .!?")
    if tasks := tasks_in(text):
        return "task_queue_push", tasks
    for pattern, name in COMMANDS:
        if asked := re.fullmatch(pattern, text, ANY_CASE | re.DOTALL):
            return name, [asked.groupdict().get("x", "").strip(" '\".?!")]
    return None


def tasks_in(text: str) -> list[str]:
    """The tasks a message asks to queue: 'Add "a" and "b" as two tasks.'"""
    if not re.search(PUSH, text, ANY_CASE):
        return []
    if quoted := re.findall(r"(?<!\w)(['\"])(.+?)\1(?!\w)", text):
        return [task for _, task in quoted]
    asked = re.fullmatch(ONE_TASK, text, ANY_CASE)
    if not asked:
        return []
    task = asked["x"] or asked["y"] or asked["z"]
    several = re.search(r"\b(?:two|three|four|separate|seperate|several)\b.*tasks", text, ANY_CASE)
    parts = re.split(r",? and |, ", task) if several else [task]
    return [part.strip() for part in parts if part.strip()]
