"""What the demo model says about its tool calls: only what their returns say."""

import re

from .turn import HEARTBEAT, Call, from_json

# The built-in tools' returns begin with "Done" where they did what these sentences say.
NOTED, CHANGED = "I noted in core memory: “{1}”.", "I changed “{1}” to “{2}” in core memory."
REPORTS = {
    **dict.fromkeys(("core_memory_append", "core_memory_save", "memory_insert"), NOTED),
    **dict.fromkeys(("core_memory_replace", "memory_replace"), CHANGED),
    "memory_rethink": "I put the block “{0}” in order.",
    "archival_memory_insert": "I saved to archival memory: “{0}”.",
}
SEARCHES = {"archival_memory_search": "My archive says", "conversation_search": "You said"}
ROLES = (None, "user")  # of passages, and of what the person said
MAX_RESULTS = 5
IDLE_WORDS = frozenset(
    """a about all am an and any are as at be by can could did do does for from had has have he her
    his how i in is it its know me my of on or our say she so tell that the their they this to was
    we were what when where which who whose why will with would you your""".split()  # noqa: SIM905
)


def report(call: Call) -> str:
    """What a call did or found, or why it failed."""
    values = [str(value) for name, value in call.arguments.items() if name != HEARTBEAT]
    if call.returned.startswith("Error"):
        return f"The call of `{call.name}` failed: {call.returned.removeprefix('Error: ')}"
    if call.returned.startswith("Done") and call.name in REPORTS:
        return REPORTS[call.name].format(*values, "", "", "")
    results = from_json(call.returned).get("results")
    if call.name not in SEARCHES or not isinstance(results, list):
        return f"`{call.name}` returned: {call.returned}"
    query = "".join(values[:1])
    said = [each for each in results if isinstance(each, dict) and each.get("role") in ROLES]
    texts = [" ".join(str(each.get("text")).split()) for each in said]
    texts = [text for text in texts if stems(query) & stems(text)][:MAX_RESULTS]
    quoted = f": “{'”, “'.join(texts)}”" if texts else f" nothing about “{query}”."
    return SEARCHES[call.name] + quoted


def topics(text: str) -> list[str]:
    """The words that say what a text is about."""
    return [word for word in re.findall(r"\w[\w'-]*", text) if word.casefold() not in IDLE_WORDS]


def stems(text: str) -> set[str]:
    """The same with the forms of a word as one: 'cats', 'cat'."""
    return {word.casefold().rstrip("s")[:5] for word in topics(text)}
