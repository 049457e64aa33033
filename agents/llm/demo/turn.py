"""One turn as a request tells it: what was said, core memory, the tools, what they returned."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from .answers import Known
from .edits import label_of
from .searches import NOTHING
from .sentences import ANY_CASE

HEARTBEAT = "request_heartbeat"
MOST_READ = 4000  # characters of the person's message
FAILED = (
    r"\A\W*(?:\w*error\b|failed\b|there is no (?:block|tool)\b|no return is known)|does not occur"
    r"|would be \S+ of \S+ characters|would be .* characters|is read-only|was not called"
)
APPROVED_OTHERWISE = "(The person approved this with other arguments: "
REFUSED = (
    r"not run, because the person refused it: (?P<why>.*)|not run: (?P<late>nobody approved .*)"
)
SUMMARY = r"<conversation_summary>\n(.*?)\n?</conversation_summary>"
EMPTY_ARCHIVE = r"^0 passages are in archival memory"
QUEUE = "tasks"  # the label of the block that holds what is to do

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool call to make."""

    name: str
    arguments: Json


@dataclass(frozen=True)
class Done:
    """A tool call of this turn, with what it returned."""

    call: Call
    returned: str
    said: str = ""  # what the model said as it made the call

    @property
    def failed(self) -> bool:
        told = self.returned
        return not told.startswith("Done.") and bool(re.search(FAILED, told, ANY_CASE))

    @property
    def error(self) -> str:
        return re.sub(r"\AError: ", "", self.returned.strip())

    @property
    def refusal(self) -> str:
        """Why a person did not let it run, or nothing."""
        asked = re.search(REFUSED, self.returned, re.DOTALL) if self.failed else None
        if not asked:
            return ""
        return f"you refused it: {asked['why']}" if asked["why"] else str(asked["late"])

    @property
    def empty(self) -> bool:
        return bool(re.fullmatch(NOTHING, self.returned, ANY_CASE))

    @property
    def texts(self) -> list[str]:
        """The arguments in order, without the heartbeat."""
        return [str(value) for key, value in self.call.arguments.items() if key != HEARTBEAT]


@dataclass(frozen=True)
class Turn:
    """What a request says: the last user message, and all that matters for answering it."""

    said: str
    system: str
    memory: dict[str, str]  # label → value, of the blocks of text
    tools: dict[str, list[str]]  # name → names of parameters
    done: list[Done] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)  # what core memory says is to do

    def did(self, name: str) -> list[Done]:
        return [each for each in self.done if each.call.name == name]

    @property
    def known(self) -> Known:
        human, persona = label_of("human", self.memory), label_of("persona", self.memory)
        summary = re.search(SUMMARY, self.system, re.DOTALL)
        return Known(
            self.memory.get(human, ""),
            self.memory.get(persona, ""),
            summary[1] if summary else "",
        )

    @property
    def has_archive(self) -> bool:
        """Whether it can search archival memory, and there is something in it."""
        empty = re.search(EMPTY_ARCHIVE, self.system, re.MULTILINE)
        return "archival_memory_search" in self.tools and not empty


def turn_of(asked: Json) -> Turn:
    """The turn that a request is a step of."""
    messages: list[Json] = asked["messages"]
    system = "\n".join(
        text_of(each) for each in messages if each["role"] in ("system", "developer")
    )
    memory = memory_in(system)
    start = max((i for i, each in enumerate(messages) if each["role"] == "user"), default=-1)
    offered = [] if asked.get("tool_choice") == "none" else asked.get("tools") or []
    functions = [tool["function"] for tool in offered if isinstance(tool.get("function"), dict)]
    return Turn(
        said=text_of(messages[start]).strip()[:MOST_READ] if start >= 0 else "",
        system=system,
        memory={k: v for k, v in memory.items() if k != QUEUE and not is_json(v)},
        tools={
            str(function.get("name")): list(
                (function.get("parameters") or {}).get("properties") or {}
            )
            for function in functions
        },
        done=done_in(messages[start + 1 :]),
        tasks=tasks_in(memory.get(QUEUE, "")),
    )


def text_of(message: Json) -> str:
    """A message's text, whether it is sent as a string or in parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content or "")


def memory_in(system: str) -> dict[str, str]:
    """Core memory, label → value, as either built-in template compiles it."""
    tags = r'<([^<>\n"]+?) characters="\d+/\d+">\n(.*?)\n?</\1>'
    memory: dict[str, str] = {}
    for label, value in re.findall(tags, system, re.DOTALL):
        memory.setdefault(label, value)
    for heading in re.finditer(r"\[MEMORY\]\s*(?=\{)", system):
        try:
            values, _ = json.JSONDecoder().raw_decode(system, heading.end())
        except ValueError:
            continue
        memory |= {
            label: value if isinstance(value, str) else "" for label, value in values.items()
        }
    return memory


def is_json(value: str) -> bool:
    """Whether a block holds a list or an object, which is no text to edit."""
    try:
        return isinstance(json.loads(value), list | dict)
    except ValueError:
        return False


def tasks_in(value: str) -> list[str]:
    """The tasks that a block lists."""
    tasks = json.loads(value) if is_json(value) else []
    return [str(task) for task in tasks] if isinstance(tasks, list) else []


def done_in(messages: list[Json]) -> list[Done]:
    """The tool calls in these messages that were answered, in order."""
    returns = {each.get("tool_call_id"): each for each in messages if each["role"] == "tool"}
    return [
        done_with(call["function"], returns[call["id"]], text_of(each))
        for each in messages
        for call in each.get("tool_calls") or []
        if call["id"] in returns
    ]


def done_with(function: Json, message: Json, said: str) -> Done:
    """A tool call with its return; Letta's JSON wrapping of returns is taken off."""
    arguments = loaded(function.get("arguments") or "{}")
    returned = text_of(message)
    if returned.startswith(APPROVED_OTHERWISE):
        approved, _, returned = returned.removeprefix(APPROVED_OTHERWISE).partition(")\n")
        arguments = loaded(approved) or arguments
    wrapped = loaded(returned)
    if {"status", "message"} <= wrapped.keys():
        failed = str(wrapped["status"]).lower() in ("error", "failed")
        returned = f"{'Error: ' if failed else ''}{wrapped['message']}"
    return Done(Call(function["name"], arguments), returned, said)


def loaded(text: str) -> Json:
    """A JSON object; an empty one where the text is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
