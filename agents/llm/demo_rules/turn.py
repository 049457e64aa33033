"""One turn as a request tells it: what was said, core memory, the tools, what they returned."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from .answers import Known
from .edits import label_of
from .sentences import ANY_CASE

HEARTBEAT = "request_heartbeat"
MOST_READ = 4000  # characters of the person's message
FAILED = (
    r"\A\W*(?:\w*error\b|failed\b|there is no (?:block|tool)\b|no return is known)|does not occur"
    r"|would be \S+ of \S+ characters|would be .* characters|is read-only|was not called"
)
NOTHING = (
    r"\W*(?:none|null|no (?:\w+ )*(?:results?|tasks?|passages?|messages?)\b.*|.*\bis empty)?\W*"
)

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

    @property
    def failed(self) -> bool:
        return bool(re.search(FAILED, self.returned, ANY_CASE))

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
    memory: dict[str, str]
    tools: dict[str, list[str]]  # name → names of parameters
    done: list[Done] = field(default_factory=list)

    def did(self, name: str) -> list[Done]:
        return [each for each in self.done if each.call.name == name]

    @property
    def known(self) -> Known:
        human, persona = label_of("human", self.memory), label_of("persona", self.memory)
        return Known(self.memory.get(human, ""), self.memory.get(persona, ""))


def turn_of(asked: Json) -> Turn:
    """The turn that a request is a step of."""
    messages: list[Json] = asked["messages"]
    system = "\n".join(
        text_of(each) for each in messages if each["role"] in ("system", "developer")
    )
    start = max((i for i, each in enumerate(messages) if each["role"] == "user"), default=-1)
    offered = [] if asked.get("tool_choice") == "none" else asked.get("tools") or []
    functions = [tool["function"] for tool in offered if isinstance(tool.get("function"), dict)]
    return Turn(
        said=text_of(messages[start]).strip()[:MOST_READ] if start >= 0 else "",
        system=system,
        memory=memory_in(system),
        tools={
            str(function.get("name")): list(
                (function.get("parameters") or {}).get("properties") or {}
            )
            for function in functions
        },
        done=done_in(messages[start + 1 :]),
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


def done_in(messages: list[Json]) -> list[Done]:
    """The tool calls in these messages that were answered, in order."""
    returns = {each.get("tool_call_id"): each for each in messages if each["role"] == "tool"}
    calls = [call for each in messages for call in each.get("tool_calls") or []]
    return [
        done_with(call["function"], returns[call["id"]]) for call in calls if call["id"] in returns
    ]


def done_with(function: Json, message: Json) -> Done:
    """A tool call with its return; Letta's JSON wrapping of returns is taken off."""
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:
        arguments = {}
    returned = text_of(message)
    try:
        wrapped = json.loads(returned)
    except ValueError:
        wrapped = None
    if isinstance(wrapped, dict) and {"status", "message"} <= wrapped.keys():
        failed = str(wrapped["status"]).lower() in ("error", "failed")
        returned = f"{'Error: ' if failed else ''}{wrapped['message']}"
    return Done(Call(function["name"], arguments if isinstance(arguments, dict) else {}), returned)
