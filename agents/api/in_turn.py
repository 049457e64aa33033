"""Two runs of which the second begins when the first has ended, answered as one.

A script that approves a tool call and sends a message in one request waits for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agents.models.run import REQUIRES_APPROVAL

from .messages_out import ApiMessage
from .run_stream import Follower

Result = Callable[[], dict[str, Any] | None]  # None until there is one
ENDS = ("stop_reason", "usage_statistics")
COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens", "step_count")


def is_last(stop_reason: str) -> bool:
    """Whether nothing comes after a run that rests for this reason: the one behind it still waits,
    or it failed, which is to be told."""
    return stop_reason in (REQUIRES_APPROVAL, "error")


def one_after_the_other(first: Result, second: Result) -> dict[str, Any] | None:
    """What both runs gave, once the second rests; what the first gave, if it is the last."""
    before = first()
    if before is None or before.get("error") or is_last(before["stop_reason"]["stop_reason"]):
        return before
    after = second()
    if after is None or after.get("error"):
        return after
    messages = before["messages"] + after["messages"]
    return after | {"messages": messages, "usage": together(before["usage"], after["usage"])}


def together(first: ApiMessage, second: ApiMessage) -> ApiMessage:
    """The tokens and steps of both runs."""
    counts = {name: first[name] + second[name] for name in COUNTS}
    return second | counts | {"run_ids": first["run_ids"] + second["run_ids"]}


class InTurn:
    """Follows the first run, then the second, whose end alone is told."""

    def __init__(self, first: Follower, second: Follower) -> None:
        self.agent, self.run_id = first.agent, first.run_id
        self.first, self.second = first, second
        self.usage: ApiMessage | None = None
        self.ended = False

    def more(self) -> list[ApiMessage]:
        """What is new, as of one run."""
        items = [] if self.first.ended else self.first.more()
        if not self.first.ended:
            return items
        if self.usage is None:
            ends = {item["message_type"]: item for item in items}
            reason = ends.get("stop_reason", {}).get("stop_reason", "error")
            if is_last(reason):
                self.ended = True
                return items
            self.usage, self.run_id = ends["usage_statistics"], self.second.run_id
            items = [item for item in items if item["message_type"] not in ENDS]
        items += self.second.more()
        self.ended = self.second.ended
        return [self._whole(item) for item in items]

    def pieces(self, pieces: Sequence[dict[str, Any]]) -> list[ApiMessage]:
        """Parts of the message that is being written."""
        return (self.second if self.first.ended else self.first).pieces(pieces)

    def _whole(self, item: ApiMessage) -> ApiMessage:
        if item["message_type"] != "usage_statistics" or self.usage is None:
            return item
        return together(self.usage, item)
