"""One turn as a request tells it: the person's message, core memory, tools and their returns."""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

HEARTBEAT = "request_heartbeat"
LONGEST_MESSAGE = 4000  # characters of a message that are read
BLOCK = r'<([^<>\n"]+?) characters="\d+/\d+"[^>\n]*>\n(.*?)\n?</\1>'  # of the usual template
SUMMARY = r"<conversation_summary>\n(.*?)\n?</conversation_summary>"

Json = dict[str, Any]


class Call(NamedTuple):
    """A tool call: one to make, or one of this turn with what it returned."""

    name: str
    arguments: Json
    returned: str = ""

    @property
    def failed(self) -> bool:
        return self.returned.startswith("Error")

    @property
    def values(self) -> list[str]:
        """The arguments in order, without the heartbeat."""
        return [str(value) for name, value in self.arguments.items() if name != HEARTBEAT]


class Reply(NamedTuple):
    """What the model answers."""

    text: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Turn:
    """What a request says about the turn that it is a step of."""

    message: str
    system: str
    tools: dict[str, Json]  # name → schema of the parameters
    done: list[Call]

    @classmethod
    def of(cls, request: Json) -> Self:
        messages = request["messages"]
        texts = [(each["role"], each.get("content") or "") for each in messages]
        start = max((place for place, (role, _) in enumerate(texts) if role == "user"), default=-1)
        offered = [] if request.get("tool_choice") == "none" else request.get("tools") or []
        functions = [tool["function"] for tool in offered]
        return cls(
            message=texts[start][1][:LONGEST_MESSAGE] if start >= 0 else "",
            system="\n".join(text for role, text in texts if role == "system"),
            tools={each["name"]: each.get("parameters") or {} for each in functions},
            done=calls_in(messages[start + 1 :]),
        )

    @cached_property
    def blocks(self) -> dict[str, str]:
        """Core memory, label → value, as either built-in template compiles it."""
        _, marker, rest = self.system.partition("[MEMORY]\n")
        if marker and rest.startswith("{"):
            values = from_json(rest.partition("\n")[0]) or {}
            return {label: str(value) for label, value in values.items()}
        return dict(re.findall(BLOCK, self.system, re.DOTALL))

    @property
    def human(self) -> str:
        """The label of the block about the person."""
        others = [label for label in self.blocks if label not in ("human", "persona", "agent")]
        return others[0] if others and "human" not in self.blocks else "human"

    def known(self) -> list[str]:
        """What core memory and the summary say about the person, line by line."""
        summary = re.search(SUMMARY, self.system, re.DOTALL)
        texts = [self.blocks.get(self.human, ""), summary[1] if summary else ""]
        lines = (line.strip(" -") for text in texts for line in text.splitlines())
        return [line for line in lines if line and not line.endswith(":")]

    def call(self, name: str, *values: str) -> Call | None:
        """A call with each value under the tool's own name for it; None where it cannot be made."""
        if name not in self.tools:
            return None
        properties = self.tools[name].get("properties") or {}
        required = [each for each in self.tools[name].get("required") or [] if each != HEARTBEAT]
        others = [each for each in properties if each not in (*required, HEARTBEAT)]
        names = [*required, *others][: len(values)]
        if not len(required) <= len(values) == len(names) or not all(
            is_text(properties.get(each)) for each in names
        ):
            return None
        heartbeat = {HEARTBEAT: name != "send_message"} if HEARTBEAT in properties else {}
        return Call(name, dict(zip(names, values, strict=True)) | heartbeat)


def is_text(schema: Any) -> bool:
    """Whether a parameter takes a text."""
    return not isinstance(schema, dict) or schema.get("type", "string") == "string"


def calls_in(messages: list[Json]) -> list[Call]:
    """The tool calls in these messages that have a return, in order."""
    returns = {each.get("tool_call_id"): each.get("content") or "" for each in messages}
    calls = [call for each in messages for call in each.get("tool_calls") or []]
    return [
        Call(
            call["function"]["name"], from_json(call["function"]["arguments"]), returns[call["id"]]
        )
        for call in calls
        if call["id"] in returns
    ]


def from_json(text: str) -> Json:
    """The JSON object in a text; an empty one where there is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
