"""What the demo model says about its tool calls: only what their returns say."""

import re

from .turn import Call, Json, from_json

# The built-in tools' returns begin with "Done" where they did what these sentences say.
NOTED, CHANGED = "I noted in core memory: “{1}”.", "I changed “{1}” to “{2}” in core memory."
REPORTS = {
    "core_memory_append": NOTED,
    "core_memory_save": NOTED,
    "memory_insert": NOTED,
    "core_memory_replace": CHANGED,
    "memory_replace": CHANGED,
    "memory_rethink": "I put the block “{0}” in order.",
    "archival_memory_insert": "I saved to archival memory: “{0}”.",
}
SEARCHES = {
    "archival_memory_search": "My archive says",
    "conversation_search": "Our conversations say",
}
SPEAKERS = {"user": "You said: ", "assistant": "I said: "}
MOST_RESULTS = 5
IDLE_WORDS = frozenset(
    """a about all am an and any are as at be by can could did do does for from had has have he her
    his how i in is it its know me my of on or our say she so tell that the their they this to was
    we were what when where which who whose why will with would you your""".split()  # noqa: SIM905
)


def report(call: Call) -> str:
    """What a call did or found, or why it failed."""
    if call.failed:
        return f"The call of `{call.name}` failed: {call.returned.removeprefix('Error: ')}"
    if call.returned.startswith("Done") and call.name in REPORTS:
        return REPORTS[call.name].format(*call.values, "", "", "")
    results = from_json(call.returned).get("results")
    if call.name not in SEARCHES or not isinstance(results, list):
        return f"`{call.name}` returned: {call.returned}"
    source, query = SEARCHES[call.name], "".join(call.values[:1])
    texts = [text_of(each) for each in results if isinstance(each, dict)]
    texts = [text for text in texts if not query or stems(query) & stems(text)][:MOST_RESULTS]
    if len(texts) < 2:
        return f"{source}: “{texts[0]}”" if texts else f"{source} nothing about “{query}”."
    return "\n".join([f"{source}:", "", *(f"- “{text}”" for text in texts)])


def text_of(result: Json) -> str:
    """The text that a search found; of a message, with who said it."""
    return SPEAKERS.get(str(result.get("role")), "") + " ".join(str(result.get("text")).split())


def topics(text: str) -> list[str]:
    """The words that say what a text is about."""
    return [word for word in re.findall(r"\w[\w'-]*", text) if word.casefold() not in IDLE_WORDS]


def stems(text: str) -> set[str]:
    """The same with the forms of a word as one: 'cats', 'cat'."""
    return {word.casefold().rstrip("s")[:5] for word in topics(text)}
