"""One turn as a request tells it: the person's message, core memory, tools and their returns."""

import json
import re
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

HEARTBEAT = "request_heartbeat"
LONGEST_MESSAGE = 4000  # characters of a message that are read
BLOCK = r'<([^<>\n"]+?) characters="\d+/\d+"[^>\n]*>\n(.*?)\n?</\1>'  # of the usual template

Json = dict[str, Any]


class Call(NamedTuple):
    """A tool call: one to make, or one of this turn with what it returned."""

    name: str
    arguments: Json
    returned: str = ""


class Reply(NamedTuple):
    """What the model answers."""

    text: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Turn:
    """What a request says about the turn that it is a step of."""

    message: str
    system: str
    blocks: dict[str, str]  # label → value
    tools: dict[str, Json]  # name → schema of the parameters
    done: list[Call]

    @classmethod
    def of(cls, request: Json) -> Self:
        messages, tools = request["messages"], request.get("tools") or []
        start = max((n for n, each in enumerate(messages) if each["role"] == "user"), default=-1)
        system = "\n".join(each["content"] for each in messages if each["role"] == "system")
        offered = [] if request.get("tool_choice") == "none" else [t["function"] for t in tools]
        return cls(
            message=(messages[start].get("content") or "")[:LONGEST_MESSAGE] if start >= 0 else "",
            system=system,
            blocks=dict(re.findall(BLOCK, system, re.DOTALL)),
            tools={each["name"]: each.get("parameters") or {} for each in offered},
            done=calls_in(messages[start + 1 :]),
        )

    def known(self) -> list[str]:
        """What core memory says about the person, line by line."""
        lines = self.blocks.get("human", "").splitlines()
        return [line.strip() for line in lines if line.strip()]

    def call(self, name: str, *values: str) -> Call | None:
        """A call with each value under the tool's own name for it; None where it cannot be made."""
        schema = self.tools.get(name, {})
        types = dict(schema.get("properties", {}))
        heartbeat = {HEARTBEAT: name != "send_message"} if types.pop(HEARTBEAT, None) else {}
        required = [each for each in schema.get("required", ()) if each != HEARTBEAT]
        names = list(dict.fromkeys([*required, *types]))[: len(values)]
        if name not in self.tools or not len(required) <= len(values) == len(names):
            return None
        if any(types.get(each, {}).get("type", "string") != "string" for each in names):
            return None
        return Call(name, dict(zip(names, values, strict=True)) | heartbeat)


def calls_in(messages: list[Json]) -> list[Call]:
    """The tool calls in these messages that have a return, in order."""
    returns = {each.get("tool_call_id"): each.get("content") or "" for each in messages}
    calls = [call for each in messages for call in each.get("tool_calls") or []]
    made = [(call["function"], returns[call["id"]]) for call in calls if call["id"] in returns]
    return [Call(each["name"], from_json(each["arguments"]), text) for each, text in made]


def from_json(text: str) -> Json:
    """The JSON object in a text; an empty one where there is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
