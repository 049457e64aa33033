"""What the fake server of `fake_openai.py` may be told to answer, and how it looks on the wire."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Ending = Literal["finish", "break", "cut", "stall", "silence", "garbage", "error"]
Body = dict[str, Any]


class Refusal(Exception):
    """An HTTP error with the API's JSON body."""

    def __init__(
        self,
        message: str,
        param: str | None = None,
        code: str | None = None,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error = {"message": message, "type": kind, "param": param, "code": code}


@dataclass(frozen=True)
class Call:
    name: str
    arguments: str
    id: str | None = None
    """None: the server gives it one of its own, "call_1", "call_2", …"""


@dataclass(frozen=True)
class Answer:
    """One answer of the model, or of the server that fails to give one."""

    content: str | None = None
    calls: tuple[Call, ...] = ()
    reasoning: str = ""
    chunk: int = 5
    """Characters in each streamed piece."""
    usage: tuple[int, int] | None = None
    """Tokens of prompt and completion; None: a fourth of their characters."""
    ending: Ending = "finish"
    refusal: Refusal | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def deltas(self) -> Iterator[Body]:
        """The role, then reasoning, text and calls in pieces."""
        yield {"role": "assistant", "content": None if self.calls else "", "refusal": None}
        for piece in _cut(self.reasoning, self.chunk):
            yield {"content": None, "reasoning_content": piece}
        for piece in _cut(self.content or "", self.chunk):
            yield {"content": piece}
        for index, call in enumerate(self.calls):
            function = {"name": call.name, "arguments": ""}
            head = {"index": index, "id": call.id, "type": "function"}
            yield {"tool_calls": [{**head, "function": function}]}
            for piece in _cut(call.arguments, self.chunk):
                yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}

    def usage_for(self, request: Body) -> Body:
        answered = "".join(call.name + call.arguments for call in self.calls)
        answered += (self.content or "") + self.reasoning
        asked = json.dumps([request["messages"], request.get("tools", [])], ensure_ascii=False)
        prompt, completion = self.usage or (_tokens(asked), _tokens(answered))
        total = prompt + completion
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}


class Gate:
    """An answer that is streamed piece by piece, each as the test releases it.

    The end of the answer is one piece more. The role's chunk is sent at once.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.reached = threading.Event()
        """Set while the server waits here, everything released being sent."""
        self._changed = threading.Condition()
        self._released = 0
        self._open = False

    def release(self, pieces: int = 1) -> None:
        with self._changed:
            self._released += pieces
            self.reached.clear()
            self._changed.notify_all()

    def open(self) -> None:
        with self._changed:
            self._open = True
            self.reached.clear()
            self._changed.notify_all()

    def wait(self, timeout: float = 5.0) -> None:
        """Return when everything released has been sent and the server waits for more."""
        assert self.reached.wait(timeout), "the server did not reach the gate"

    def let_through(self, check: Callable[[], None]) -> None:
        """Wait for a release; `check`, asked every 10 ms, raises when waiting is in vain."""
        with self._changed:
            while not (self._open or self._released):
                self.reached.set()
                check()
                self._changed.wait(0.01)
            self._released -= not self._open


Scripted = Answer | Gate | Callable[[Body], Answer | Gate]
ToolCall = tuple[str, dict[str, Any] | str]


def text(content: str, *, chunk: int = 5, usage: tuple[int, int] | None = None) -> Answer:
    """An answer in words, streamed `chunk` characters at a time."""
    return Answer(content=content, chunk=chunk, usage=usage)


def calls(*made: ToolCall, ids: Sequence[str] | None = None) -> Answer:
    """Tool calls; arguments given as a string go out as they are, JSON or not."""
    given: Sequence[str | None] = ids if ids is not None else [None] * len(made)
    named = zip(made, given, strict=True)
    return Answer(calls=tuple(Call(name, _json(args), id) for (name, args), id in named), chunk=7)


def text_and_calls(content: str, *made: ToolCall) -> Answer:
    return replace(calls(*made), content=content)


def reasoning(thought: str, then: Answer) -> Answer:
    """`then`, after a thought in the field that DeepSeek and vLLM use for it."""
    return replace(then, reasoning=thought)


def empty() -> Answer:
    """No text, no tool call, finished."""
    return Answer()


def gated(answer: Answer) -> Gate:
    return Gate(answer)


def break_off(after: str = "", *, cleanly: bool = False) -> Answer:
    """Part of an answer, then the connection is closed; or, `cleanly`, the HTTP response ends.

    Neither way is there a finish reason or a [DONE].
    """
    return Answer(content=after, ending="cut" if cleanly else "break")


def stall(after: str | None = None) -> Answer:
    """Part of an answer, then silence; not even a status line when there is no part."""
    return Answer(content=after, ending="silence" if after is None else "stall")


def garbage(after: str = "") -> Answer:
    """Part of an answer, then data that is not JSON."""
    return Answer(content=after, ending="garbage")


def error_in_stream(message: str, after: str = "") -> Answer:
    """Part of an answer, then an error in its stream."""
    refusal = Refusal(message, status=500, kind="server_error")
    return Answer(content=after, ending="error", refusal=refusal)


def status(code: int, message: str | None = None, headers: dict[str, str] | None = None) -> Answer:
    """An HTTP error, in the API's words for it unless there is a message."""
    words, kind, name = STATUSES.get(code, ("Error", "server_error", None))
    refusal = Refusal(message or words, None, name, status=code, kind=kind)
    return Answer(refusal=refusal, headers=headers or {})


def context_length() -> Answer:
    words = "This model's maximum context length is 8192 tokens. However, your messages "
    words += "resulted in 9000 tokens. Please reduce the length of the messages."
    return Answer(refusal=Refusal(words, "messages", "context_length_exceeded"))


STATUSES: dict[int, tuple[str, str, str | None]] = {
    401: ("Incorrect API key provided: sk-fake.", "invalid_request_error", "invalid_api_key"),
    429: (
        "Rate limit reached for fake-model in organization org-fake on requests per min (RPM): "
        "Limit 3, Used 3, Requested 1. Please try again in 20s.",
        "requests",
        "rate_limit_exceeded",
    ),
    500: ("The server had an error while processing your request.", "server_error", None),
}


def _cut(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def _json(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _tokens(text: str) -> int:
    return -(-len(text) // 4)
