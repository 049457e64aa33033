"""Spending: the one door to a model. What a call may take is reserved before, and settled after.

`ModelCall` and `embed` are given a `Spending` that was reserved, and take it for one call. Who pays
is the person who wrote the message that is answered, else the agent's owner. Where no quota applies
to them nothing is reserved, and settling is one statement.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, Self

from django.db import transaction
from django.utils.translation import override

from agents.models import LimitReached, Reservation, Run, Step, Usage
from agents.models.quota_checks import check_spending, is_limited
from agents.models.quota_words import MICRO
from agents.models.usage import Spent

from .available import endpoint_at
from .endpoints import Endpoint, ModelError
from .handles import resolve
from .prices import price_of

ANSWER_TOKENS = 1000  # that an answer is thought to take where it has no limit
BYTES_PER_TOKEN = 4

Kind = Usage.Kind


class QuotaReached(ModelError):
    """A call that was not made, as it is more than is left to the person who would pay."""


class NotReserved(RuntimeError):
    """A call of a model around the door: an error of the program."""


class Answered(Protocol):
    """What a call has given so far, and what the endpoint says that it took."""

    prompt_tokens: int | None
    completion_tokens: int | None

    @property
    def size(self) -> int:
        """Bytes of what was written."""
        ...


class Spending:
    """What one call of a model costs whom.

    `is_free`: the endpoint did not take the request, so nothing was spent.
    """

    def __init__(
        self, payer_id: int, kind: str, endpoint: Endpoint, model: str, run: Run | None = None
    ) -> None:
        self.payer_id, self.kind, self.endpoint, self.model = payer_id, kind, endpoint, model
        self.run = run
        self.is_free = False
        self._is_reserved = self._is_settled = False
        self._expected = 0
        self._answer: Answered | None = None
        self._reservation: Reservation | None = None

    @classmethod
    def of_run(cls, run: Run, endpoint: Endpoint, model: str, kind: str = "") -> Self:
        """A call in a run; one of its steps, unless another kind is named."""
        step = Kind.REFLECTION if run.kind == Run.Kind.REFLECTION else Kind.MESSAGE
        return cls(run.payer_id, kind or step, endpoint, model, run)

    # -- before the call -------------------------------------------------------------------------

    def reserve(self, prompt: int, answer: int | None = None) -> Self:
        """Hold back what a prompt of so many tokens may take, with an answer of at most so many.
        QuotaReached where the payer has not so much left."""
        if is_limited(self.payer_id):
            self._hold_back(self._spent(prompt, ANSWER_TOKENS if answer is None else answer))
        self._expected, self._is_reserved = prompt, True
        return self

    @transaction.atomic
    def _hold_back(self, expected: Spent) -> None:
        try:
            with override("en"):  # as all errors of models, which are stored
                check_spending(self.payer_id, expected.tokens, expected.cost)
        except LimitReached as limit:
            raise QuotaReached(str(limit)) from None
        self._reservation = Reservation.make(self.payer_id, self.run, expected)

    @contextmanager
    def reserved(self, prompt: int, answer: int | None = None) -> Iterator[Self]:
        """Reserved for a call within, and settled at its end, however it ends."""
        self.reserve(prompt, answer)
        try:
            yield self
        finally:
            self.settle()

    def begin(self, answer: Answered) -> None:
        """Take what was reserved for one call, whose answer this will be."""
        if not self._is_reserved or self._answer:
            raise NotReserved("A model is called without a reservation of its own.")
        self._answer = answer

    @contextmanager
    def settled_at_end(self) -> Iterator[None]:
        """Settled as the last thing within a transaction, unless something fails in it."""
        yield
        self.settle()

    # -- after it --------------------------------------------------------------------------------

    def settle(self) -> None:
        """Count what the call took: what the endpoint reported, else what it must have been.

        An answer that broke off, or was stopped, cost its prompt and what there was of it.
        """
        if self._is_settled or not self._is_reserved:
            return
        self._is_settled, spent = True, None
        if self._answer and not self.is_free:
            answer = self._answer
            prompt, written = answer.prompt_tokens, answer.completion_tokens
            spent = self._spent(
                self._expected if prompt is None else prompt,
                tokens_in(answer.size) if written is None else written,
            )
        if self._reservation:
            self._reservation.settle(spent)
        elif spent:
            Usage.add(self.payer_id, spent)

    def _spent(self, prompt: int, completion: int) -> Spent:
        return Usage(
            endpoint=self.endpoint.name,
            model=self.model,
            kind=self.kind,
            own_key=self.endpoint.is_own_key,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost=cost_of(self.endpoint, self.model, prompt, completion),
        )


def cost_of(endpoint: Endpoint, model: str, prompt: int, completion: int) -> int:
    """Millionths of a US dollar; nothing with the person's own key, or without a price."""
    price = None if endpoint.is_own_key else price_of(model, endpoint)
    return math.ceil(price.of(prompt, completion) * MICRO) if price else 0


def is_free(run: Run) -> bool:
    """Whether the model that will answer costs nothing, as far as is known without asking."""
    try:
        endpoint, model = resolve(run.model_handle, run.agent.owner_id, ask=False)
    except ModelError:
        return False
    return not cost_of(endpoint, model, MICRO, MICRO)


def tokens_in(size: int) -> int:
    """About so many tokens are in a text of so many bytes."""
    return math.ceil(size / BYTES_PER_TOKEN)


def settle_left(run: Run, step: Step, answer: Answered) -> None:
    """Count a call in which the process died: as much as was reserved for it; where nothing was,
    its prompt, and what there is of the answer. In the transaction that takes the run up again."""
    if not Reservation.settle_left(run):
        spending = Spending.of_run(run, endpoint_at(step.endpoint), step.model)
        Usage.add(run.payer_id, spending._spent(step.context_tokens, tokens_in(answer.size)))
