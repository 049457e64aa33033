"""Rendering: what is stored, in the form that one endpoint takes.

Messages are stored as the model or the person wrote them. What is sent is made from them for the
endpoint at hand, so that a history can go to any endpoint, now and after a change of model: no
message can make an agent unusable. The same rows give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

from agents.models.message import NO_TEXT, storable

from . import images
from .dialects import Dialect

Wire = dict[str, Any]

# Messages that fill a gap where an endpoint wants a message and there is none.
OPENING = "(The conversation goes on.)"
GO_ON = "Go on."
DONE = "Done."
NO_RETURN = "No return is known."
NOTHING = "(nothing)"
LONGEST_INVALID = 2000  # characters of arguments that are no object, as the model is shown them
IDS = {"any": re.compile(r"[a-zA-Z0-9_-]{1,40}"), "nine": re.compile(r"[a-zA-Z0-9]{9}")}
NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
LONGEST_NAME = 64
# For calls that another model made: Google's documentation of thought signatures, "FAQs".
NO_SIGNATURE = {"google": {"thought_signature": "skip_thought_signature_validator"}}


class Stored(NamedTuple):
    """A message as it is stored."""

    number: int
    role: str
    content: str
    calls: list[Wire]
    call_id: str
    reasoning: str = ""
    extra: Wire = {}
    images: Sequence[Wire] = ()
    said_by: str = ""


class Sent(NamedTuple):
    """A message as JSON, made of the stored ones numbered `first` to `number`.

    `begins` an exchange if it is a person's, `steps` if it is the model's. `size` is in bytes,
    without those of its images, for which the JSON has slots (`images.py`).
    """

    first: int
    number: int
    begins: bool
    steps: bool
    json: str
    size: int
    images: tuple[Wire, ...] = ()
    image_tokens: int = 0
    hidden: int = 0  # images of which the model is told only that they are there


class Rendering:
    """Stored messages, rendered one by one for a dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.sent: list[Sent] = []
        self.last: Wire = {}  # the newest of them
        self.open: dict[str, str] = {}  # calls without a return: stored id → the one sent
        self.ids: set[str] = set()  # of all calls
        self.strict = dialect.roles == "strict"
        self.has_images = False

    def copy(self) -> Self:
        """A copy that can go on in another way."""
        twin = type(self)(self.dialect)
        twin.sent, twin.last = list(self.sent), self.last
        twin.open, twin.ids, twin.has_images = dict(self.open), set(self.ids), self.has_images
        return twin

    def add(self, stored: Stored) -> None:
        """Add a message."""
        if stored.role == "tool":
            if sent_id := self.open.pop(stored.call_id, None):
                content = stored.content if stored.content.strip() else NOTHING
                message = {"role": "tool", "tool_call_id": sent_id, "content": content}
                self._append(stored.number, message)
            return
        self._answer_all(stored.number)
        if stored.role == "assistant":
            self._add_assistant(stored)
        else:
            self._add_person(stored)

    def finished(self, *, asks: bool = True) -> list[Sent]:
        """All, every call answered; if it `asks`, ending as the strictest endpoint wants it."""
        whole = self.copy()
        number = self.sent[-1].number if self.sent else 0
        whole._answer_all(number)
        if asks and whole.strict and whole.last.get("role") in (None, "assistant"):
            whole._append(number, {"role": "user", "content": GO_ON})
        return whole._with_images_shown() if whole.has_images else whole.sent

    def _with_images_shown(self) -> list[Sent]:
        """All, with as many images as the endpoint reads, and words in the place of the others."""
        most = self.dialect.images
        counts = images.hidden_counts([sent.images for sent in self.sent], most)
        return [
            shown(sent, hidden, most) if sent.images else sent
            for sent, hidden in zip(self.sent, counts, strict=True)
        ]

    # -- by role ---------------------------------------------------------------------------------

    def _add_person(self, stored: Stored) -> None:
        text = f"{stored.said_by}: {stored.content}" if stored.said_by else stored.content
        content: Any = text if text.strip() else NOTHING
        role = stored.role
        if stored.images:
            self.has_images = True
            content = images.content_of(text, stored.images)
        if role == "system" and self.strict:
            role, content = "user", f"<system>\n{content}\n</system>"
        after_tool = self.last.get("role") == "tool" and role == "user"
        if after_tool and not self.dialect.user_after_tool:
            self._append(stored.number, {"role": "assistant", "content": DONE})
        if self.strict and self.last.get("role") == role == "user":
            both = images.joined(self.last["content"], content)
            self._merge(stored.number, {"content": both}, stored.images)
            return
        self._append(stored.number, {"role": role, "content": content}, stored.role == "user")
        if stored.images:
            self.sent[-1] = self.sent[-1]._replace(images=tuple(stored.images))

    def _add_assistant(self, stored: Stored) -> None:
        content = stored.content if stored.content.strip() else None
        if content is None and not stored.calls:
            return  # there is nothing in it to send
        if self.strict and not self.last:
            self._append(stored.number, {"role": "user", "content": OPENING})
        message: Wire = {"role": "assistant", "content": content}
        if self.dialect.reasoning != "no":  # a space where there was none: "" is refused
            message[self.dialect.reasoning] = stored.reasoning or " "
        signed = stored.extra.get("signer") == self.dialect.signer
        details = stored.extra.get("reasoning_details")
        if details and signed and self.dialect.signatures == "reasoning_details":
            message["reasoning_details"] = details
        if stored.calls:
            calls = [self._call(stored.number, call) for call in stored.calls]
            message["tool_calls"] = [
                sent | self._signature(place, call.get("extra") if signed else None)
                for place, (sent, call) in enumerate(zip(calls, stored.calls, strict=True))
            ]
        if self.strict and self.last.get("role") == "assistant":
            texts = filter(None, [self.last["content"], content])
            self._merge(stored.number, message | {"content": "\n\n".join(texts) or None})
            return
        self._append(stored.number, message, steps=True)

    def _call(self, number: int, call: Wire) -> Wire:
        sent_id = self._id(number, call["id"])
        self.open[call["id"]] = sent_id
        return {
            "id": sent_id,
            "type": "function",
            "function": {
                "name": sendable_name(call["name"]),
                "arguments": sendable_arguments(call["arguments"]),
            },
        }

    def _signature(self, place: int, own: Wire | None) -> Wire:
        """What goes with a call: its own signature, or a stand-in with the first of a message."""
        mode = self.dialect.signatures
        if mode.startswith("extra_content") and own:
            return {"extra_content": own}
        if mode in ("extra_content_always", "stand_in") and not place:
            return {"extra_content": NO_SIGNATURE}
        return {}

    # -- putting together ------------------------------------------------------------------------

    def _id(self, number: int, stored: str) -> str:
        """The id itself where the endpoint accepts it, else one made from it; each is used once."""
        candidate, tries = stored, 0
        while not IDS[self.dialect.ids].fullmatch(candidate) or candidate in self.ids:
            digest = hashlib.sha256(f"{number}:{stored}:{tries}".encode()).hexdigest()
            candidate = digest[:9] if self.dialect.ids == "nine" else f"call_{digest[:24]}"
            tries += 1
        self.ids.add(candidate)
        return candidate

    def _answer_all(self, number: int) -> None:
        """A call that was never answered (from an import, say) has a return that says so."""
        for sent_id in self.open.values():
            message = {"role": "tool", "tool_call_id": sent_id, "content": NO_RETURN}
            self._append(number, message)
        self.open.clear()

    def _append(
        self, number: int, message: Wire, begins: bool = False, steps: bool = False
    ) -> None:
        self.last = message
        text = dumps(message)
        self.sent.append(Sent(number, number, begins, steps, text, len(text.encode())))

    def _merge(self, number: int, message: Wire, more: Sequence[Wire] = ()) -> None:
        """One message of two neighbours with the same role; `more` are images of the second."""
        before = self.sent.pop()
        self._append(number, self.last | message, begins=before.begins, steps=before.steps)
        both = (*before.images, *more)
        self.sent[-1] = self.sent[-1]._replace(first=before.first, images=both)


def shown(sent: Sent, hidden: int, most: int) -> Sent:
    """A message with words in the place of its first `hidden` images, and the others counted."""
    text = sent.json
    if hidden:
        text = dumps(images.without_hidden(json.loads(text), sent.images, hidden, most))
    tokens = sum(map(images.tokens_of, sent.images[hidden:]))
    return sent._replace(json=text, size=len(text.encode()), image_tokens=tokens, hidden=hidden)


def rendered(messages: Iterable[Stored], dialect: Dialect) -> list[Sent]:
    """Messages as an endpoint is sent them."""
    rendering = Rendering(dialect)
    for message in messages:
        rendering.add(message)
    return rendering.finished()


def sendable_name(name: str) -> str:
    """A tool's name as every endpoint accepts it: up to 64 of `[a-zA-Z0-9_-]`."""
    return NOT_IN_NAMES.sub("_", name)[:LONGEST_NAME] or "unnamed"


def sendable_arguments(text: str) -> str:
    """Arguments as every endpoint accepts them: the text of a JSON object.

    Anything else is shown to the model as it is, so that the model sees its mistake.
    """
    try:
        value = json.loads(text)
        again = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        value = text if text.strip() else None
    else:
        if isinstance(value, dict):
            return storable(again) if NO_TEXT.search(again) else text
    if value in (None, ""):
        return "{}"
    return dumps({"invalid_arguments": storable(text)[:LONGEST_INVALID]})


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
