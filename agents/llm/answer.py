"""An answer, put together from the chunks that real servers send.

They differ in where reasoning stands, how calls are told apart, and what is left out; the tests say
who sends what. An answer is kept as it came; `rendering.py` makes it sendable.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from agents.models import ToolCall
from agents.models.message import storable

from .text_calls import written_calls
from .thoughts import Delta, ThoughtSplitter, split_unopened

Wire = dict[str, Any]

MOST_CALLS = 128  # in one message, as the API has it for tools
LONGEST_ID = 200  # characters that are stored of a call's id, and of its name
MOST_DETAILS = 1000  # pieces of `reasoning_details` that are kept


@dataclass
class Call:
    """A tool call, as much of it as has arrived."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: Wire = field(default_factory=dict)


@dataclass
class Answer:
    """A model's answer, put together from its chunks."""

    content: str = ""
    reasoning: str = ""
    calls: list[Call] = field(default_factory=list)
    details: list[Wire] = field(default_factory=list)  # `reasoning_details`, to be sent back
    finish: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    as_text: bool = False  # the calls were written as text
    _splitter: ThoughtSplitter = field(default_factory=ThoughtSplitter, repr=False)

    # -- pieces ----------------------------------------------------------------------------------

    def add(self, chunk: Wire) -> list[Delta]:
        """Add a `chat.completion.chunk`; returns the new text in it."""
        if isinstance(usage := chunk.get("usage"), dict):
            self.prompt_tokens = _count(usage.get("prompt_tokens"))
            self.completion_tokens = _count(usage.get("completion_tokens"))
        if not chunk.get("choices"):
            return []
        choice = chunk["choices"][0]
        self.finish = choice.get("finish_reason") or self.finish
        delta = choice.get("delta") or choice.get("message") or {}
        deltas = self._reasoning_in(delta) + self._content_in(delta)
        for piece in delta.get("tool_calls") or []:
            self._add_call(piece)
        return [self._keep(Delta(each.field, storable(each.text))) for each in deltas]

    def _keep(self, delta: Delta) -> Delta:
        if delta.field == "reasoning":
            self.reasoning += delta.text
        else:
            self.content += delta.text
        return delta

    def _reasoning_in(self, delta: Wire) -> list[Delta]:
        details = delta.get("reasoning_details")
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(details, list):
            pieces = [each for each in details if isinstance(each, dict)]
            self.details += pieces[: MOST_DETAILS - len(self.details)]
            thought = thought or "".join(_texts(pieces))
        return [Delta("reasoning", str(thought))] if thought else []

    def _content_in(self, delta: Wire) -> list[Delta]:
        content = delta.get("content")
        if isinstance(content, list):
            return [each for part in content for each in self._part(part)]
        text = content or delta.get("refusal")
        return self._splitter.take(str(text)) if text else []

    def _part(self, part: Any) -> list[Delta]:
        """A part of content that is a list: a text, or a thought."""
        if not isinstance(part, dict):
            return self._splitter.take(part) if isinstance(part, str) else []
        if "thinking" in part:
            inner = part["thinking"]
            thought = "".join(_texts(inner)) if isinstance(inner, list) else str(inner)
            return [Delta("reasoning", thought)] if thought else []
        text = part.get("text")
        return self._splitter.take(text) if isinstance(text, str) and text else []

    def _add_call(self, piece: Wire) -> None:
        function = piece.get("function") or {}
        call = self._call_of(piece, function)
        call.id = call.id or str(piece.get("id") or "")
        name, arguments = function.get("name") or "", function.get("arguments")
        if name and not (call.arguments or call.name == name):  # some repeat it in each piece
            call.name += name
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        call.arguments += arguments or ""
        extra = piece.get("extra_content") or function.get("extra_content")
        if isinstance(extra, dict):
            call.extra |= extra

    def _call_of(self, piece: Wire, function: Wire) -> Call:
        """The call that a piece belongs to: by its index, unless an id or a name says otherwise."""
        index, call_id = piece.get("index"), piece.get("id")
        if index is not None and (type(index) is not int or not 0 <= index < MOST_CALLS):
            raise ValueError(f"tool call number {index}")
        same = [call for call in self.calls if call.index == index]
        if same and not self._is_another(same[-1], call_id, function):
            return same[-1]
        if index is None and call_id:  # told apart by id alone
            for call in self.calls:
                if call.id == call_id:
                    return call
        if len(self.calls) == MOST_CALLS:
            raise ValueError(f"more than {MOST_CALLS} tool calls")
        self.calls.append(Call(index))
        self.calls.sort(key=lambda call: -1 if call.index is None else call.index)
        return next(call for call in reversed(self.calls) if call.index == index)

    @staticmethod
    def _is_another(call: Call, call_id: Any, function: Wire) -> bool:
        """Whether a piece with the index of a call begins another: some number all of them 0."""
        if call_id:
            return bool(call.id and call_id != call.id and function.get("name"))
        return bool(function.get("name") and call.arguments and function["name"] != call.name) or (
            bool(function.get("name")) and call.index is None and is_whole(call.arguments)
        )

    # -- the whole -------------------------------------------------------------------------------

    def end(self, names: Collection[str]) -> None:
        """The stream has ended. `names` are the tools, whose calls may be written as text."""
        for delta in self._splitter.end():
            self._keep(delta)
        self.split()
        if self.calls:
            return
        self.content, written = written_calls(self.content, names)
        self.calls = [Call(name=name, arguments=storable(arguments)) for name, arguments in written]
        self.as_text = bool(written)

    def split(self) -> None:
        """Take a thought that was opened in the prompt out of the text."""
        if not self.reasoning:
            self.reasoning, self.content = split_unopened(self.content)

    def extra(self, signer: str) -> Wire:
        """What the endpoint may want back beside text and calls, and which endpoint that is."""
        kept = {"reasoning_details": storable_json(self.details)} if self.details else {}
        return kept | {"signer": signer} if kept or any(call.extra for call in self.calls) else {}

    @property
    def size(self) -> int:
        """Bytes of what the model wrote."""
        calls = "".join(call.name + call.arguments for call in self.calls)
        return len((self.content + self.reasoning + calls).encode())

    def tool_calls(self) -> list[ToolCall]:
        """The calls as they are stored: ids are unique within the message, names are there."""
        seen: set[str] = set()
        calls = []
        for number, call in enumerate(self.calls, 1):
            call_id = storable(call.id)[:LONGEST_ID]
            if not call_id or call_id in seen:
                call_id = f"{call_id[: LONGEST_ID - 8] or 'call'}_{number}"
            seen.add(call_id)
            name = storable(call.name)[:LONGEST_ID] or "unnamed"
            extra = storable_json(call.extra)
            calls.append(ToolCall(call_id, name, storable(call.arguments), extra, self.as_text))
        return calls


def is_whole(arguments: str) -> bool:
    """Whether arguments are complete JSON."""
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return False
    return True


def storable_json(value: Any) -> Any:
    """JSON without the characters that a database cannot hold."""
    return json.loads(storable(json.dumps(value, ensure_ascii=False))) if value else value


def _texts(pieces: list[Any]) -> list[str]:
    """The texts in pieces of reasoning."""
    named = [each for each in pieces if isinstance(each, dict)]
    texts = [each.get("text") or each.get("summary") for each in named]
    return [text for text in texts if isinstance(text, str)]


def _count(tokens: Any) -> int | None:
    """Tokens as reported; None where a server sends no usable number."""
    return tokens if type(tokens) is int and tokens > 0 else None
