"""Trying an endpoint out: is it there, does a model stream and call tools, what is known of it.

Everything is asked as a run would ask it, so that what a refusal teaches is kept (`facts.py`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from agents.models import Usage
from agents.text.stored import stored as _
from agents.text.stored import stored_plural

from . import facts
from .clients import list_models
from .endpoints import Endpoint, ModelError
from .handles import default_model
from .model_lists import Models
from .openai import ModelCall
from .options import options_of
from .prices import dollars, price_of
from .rendering import dumps
from .spending import Spending
from .windows import DEFAULT, known, window_in, window_of

SECONDS = 30.0  # of all together
LIST_SECONDS = 10.0
LOOK_SECONDS = 0.1
MOST_REFUSALS = 4  # after each of which the request has another form
ANSWER_TOKENS = 1024  # some models think before they write
PROMPT_TOKENS = 100  # about

COUNT = "Count from 1 to 20 in digits, with a space between them. Write nothing else."
CALL = "Call the tool note_colour with the colour blue."
TOOL = {
    "type": "function",
    "function": {
        "name": "note_colour",
        "description": "Note a colour.",
        "parameters": {
            "type": "object",
            "properties": {"colour": {"type": "string"}},
            "required": ["colour"],
        },
    },
}

IS_DEMO = _(
    "This is the built-in demo, a set of rules and no language model: it streams, calls the tools"
    " of memory, and costs nothing."
)
LISTS = stored_plural(
    "It lists %(count)s model, after %(time)s ms.", "It lists %(count)s models, after %(time)s ms."
)
NOT_LISTED = _("'%(model)s' is not among them, and is asked all the same.")
STREAMS = _("'%(model)s' streams: the first words after %(first)s ms, all after %(time)s ms.")
STREAMS_NOT = _("'%(model)s' does not stream: all came after %(time)s ms.")
CALLS_NOT = _(
    "'%(model)s' called no tool though it was asked to: an agent cannot edit its memory with it."
)
CALLS_AS_TEXT = _("'%(model)s' writes calls of tools as text, which is understood.")
CALLS = _("'%(model)s' calls tools.")
TOO_SLOW = _("'%(model)s' had not answered within %(seconds)s s.")
REFUSES = _("'%(model)s' does not take %(name)s, so it is left out.")
REFUSES_SAYING = _("'%(model)s' does not take %(name)s, so it is left out. It said: %(answer)s")
WINDOWS = {
    "here": stored_plural(
        "Its context window has %(count)s token, as is said here.",
        "Its context window has %(count)s tokens, as is said here.",
    ),
    "endpoint": stored_plural(
        "Its context window has %(count)s token, as the endpoint says.",
        "Its context window has %(count)s tokens, as the endpoint says.",
    ),
    "name": stored_plural(
        "Its context window has %(count)s token, as is known of its name.",
        "Its context window has %(count)s tokens, as is known of its name.",
    ),
    "nobody": stored_plural(
        "Its context window has %(count)s token, which is taken where nothing is known.",
        "Its context window has %(count)s tokens, which is taken where nothing is known.",
    ),
    "itself": stored_plural(
        "Its context window has %(count)s token, as it says.",
        "Its context window has %(count)s tokens, as it says.",
    ),
}
COSTS = _("It costs %(read)s and %(written)s a million tokens, read and written.")
COST_UNKNOWN = _("Nobody has said what it costs, so quotas of money do not count it.")


class Finding(NamedTuple):
    """What was tried and what came of it, in a sentence."""

    ok: bool
    words: str


class Trial:
    """One trial of a model at an endpoint, or of its default one, with an agent's model settings.

    `findings` grow as it goes on.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        payer_id: int,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.endpoint, self.model, self.payer_id = endpoint, model, payer_id
        # a format is of an agent's answers, and not of these
        self.settings = {n: v for n, v in (settings or {}).items() if n != "response_format"}
        self.until = time.monotonic() + SECONDS
        self.findings: list[Finding] = []

    @property
    def ok(self) -> bool:
        return all(finding.ok for finding in self.findings)

    @property
    def words(self) -> str:
        return "\n".join(finding.words for finding in self.findings)

    def carry_out(self) -> Trial:
        models: Models = {}
        try:
            self.endpoint.check()
            models = {} if self.endpoint.is_demo else self.look_at_list()
            self.model = self.model or default_model(self.endpoint)
        except ModelError as error:
            self.say(False, str(error))
        if not self.model:
            return self
        if self.endpoint.is_demo:
            self.say(True, IS_DEMO)
            return self
        for step in (self.stream, self.call_tool):
            try:
                step()
            except ModelError as error:
                self.say(False, str(error))
                break
        self.tell_what_is_refused()
        self.tell_what_is_known(models)
        return self

    def say(self, ok: bool, words: str) -> None:
        self.findings.append(Finding(ok, words))

    def look_at_list(self) -> Models:
        began = time.monotonic()
        models = list_models(self.endpoint, LIST_SECONDS)
        words = LISTS[len(models) != 1]
        self.say(True, words % {"count": f"{len(models):,}", "time": since(began)})
        if self.model and self.model not in models:
            self.say(True, NOT_LISTED % {"model": self.model})
        return models

    def stream(self) -> None:
        began = time.monotonic()
        call, first = self.ask(COUNT)
        words = STREAMS if call.streams else STREAMS_NOT
        self.say(True, words % {"model": self.model, "first": first, "time": since(began)})

    def call_tool(self) -> None:
        answer = self.ask(CALL, tools=[TOOL])[0].answer
        if not answer.calls:
            self.say(False, CALLS_NOT % {"model": self.model})
        elif answer.tool_calls()[0].as_text:
            self.say(True, CALLS_AS_TEXT % {"model": self.model})
        else:
            self.say(True, CALLS % {"model": self.model})

    def ask(self, text: str, tools: list[Any] | None = None) -> tuple[ModelCall, str]:
        """The call, and after which time its first words came. ModelError where it has no answer
        in time."""
        for refusals in range(MOST_REFUSALS + 1):
            try:
                answered = self.ask_once(text, tools)
            except ModelError as error:
                adapted = facts.adapt(self.endpoint, self.model, error)
                if not adapted or refusals == MOST_REFUSALS:
                    raise
                continue
            facts.confirm(self.endpoint, self.model)
            break
        return answered

    def ask_once(self, text: str, tools: list[Any] | None) -> tuple[ModelCall, str]:
        dialect = facts.dialect_of(self.endpoint, self.model)
        body: dict[str, Any] = {
            "model": self.model,
            "stream": True,
            dialect.limit: ANSWER_TOKENS,
            "messages": [{"role": "user", "content": text}],
            **options_of(self.settings, dialect, tools=bool(tools), demanded=False),
        }
        if tools:
            body["tools"] = tools
            if dialect.tool_choice:
                body["tool_choice"] = "required"
        first = ""
        names = [each["function"]["name"] for each in tools or []]
        spending = Spending(self.payer_id, Usage.Kind.CHECK, self.endpoint, self.model)
        with spending.reserved(PROMPT_TOKENS, ANSWER_TOKENS):
            began = time.monotonic()
            call = ModelCall(spending, dumps(body).encode(), names)
            try:
                while (pieces := call.wait(LOOK_SECONDS)) is not None:
                    first = first or (since(began) if pieces else "")
                    if time.monotonic() > self.until:
                        words = TOO_SLOW % {"model": self.model, "seconds": f"{SECONDS:.0f}"}
                        raise ModelError(words, trouble=_("had not answered in time"))
            finally:
                call.close()
        return call, first or since(began)

    def tell_what_is_refused(self) -> None:
        """The settings that are left out of every request, as the endpoint does not take them."""
        words = facts.words_of_refusal(self.endpoint, self.model)
        for name in facts.refused(self.endpoint, self.model, self.settings):
            sentence = REFUSES_SAYING if name in words else REFUSES
            self.say(False, sentence % {"model": self.model, "name": name, "answer": words})

    def tell_what_is_known(self, models: Models) -> None:
        """Window and prices, and who says so."""
        window = window_of(self.endpoint, self.model, ask=False)
        defined = self.endpoint.models.get(self.model)
        if defined and defined.window:
            source = "here"
        elif window_in(models.get(self.model, {})) == window:
            source = "endpoint"
        elif known(self.model) == window:
            source = "name"
        else:
            source = "nobody" if window == DEFAULT else "itself"
        self.say(True, WINDOWS[source][1] % {"count": f"{window:,}"})
        price = price_of(self.model, self.endpoint)
        if price:
            prices = {"read": dollars(price.prompt), "written": dollars(price.completion)}
            self.say(True, COSTS % prices)
        else:
            self.say(True, COST_UNKNOWN)


def since(began: float) -> str:
    """How many milliseconds have passed."""
    return f"{(time.monotonic() - began) * 1000:,.0f}"
