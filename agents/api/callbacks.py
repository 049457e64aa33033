"""Callbacks: a script that named an address is told there, by a POST, that its run rests.

The run's end stores that the POST is due, so that no crash loses it; it may come twice. It is sent
again while the address cannot be reached or its server fails, five times in all, in 75 minutes.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from agents.models import Run
from agents.outgoing import OutgoingError, post_json

from .responses import outcome
from .runs import shown_as
from .schemas.runs import RunState

AT_ONCE = 10
TRY_AGAIN = {408, 425, 429}  # statuses below 500 that may be others later


class Answer(NamedTuple):
    """What came of a POST."""

    status: int | None
    error: str
    again: bool


def send_due() -> int:
    """Send the callbacks that are due; how many. Called every few seconds."""
    claimed = [run for run in Run.objects.callbacks_due()[:AT_ONCE] if run.claim_callback()]
    payloads = [payload_of(run) for run in claimed]
    with ThreadPoolExecutor(AT_ONCE) as pool:  # which does not touch the database
        answers = list(pool.map(post, [run.callback_url for run in claimed], payloads))
    for run, answer in zip(claimed, answers, strict=True):
        run.note_callback(answer.status, answer.error, again=answer.again)
    return len(claimed)


def payload_of(run: Run) -> dict[str, Any]:
    """What a script is told: how the run stands, and what was answered."""
    state = RunState.model_validate(run).model_dump(mode="json")
    result = outcome(run, shown_as(run))
    told = {name: state[name] for name in ("status", "completed_at", "metadata")}
    told["metadata"] |= {"result": result}
    return {"run_id": state["id"], **told}


def post(url: str, payload: dict[str, Any]) -> Answer:
    try:
        status = post_json(url, payload)
    except OutgoingError as error:
        return Answer(None, str(error), again=True)
    if status < 300:
        return Answer(status, "", again=False)
    again = status >= 500 or status in TRY_AGAIN
    return Answer(status, f"The server at callback_url answered {status}.", again)
