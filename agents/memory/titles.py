"""Titles of conversations, by a model where the operator names one (MEMORYWEB_TITLE_MODEL).

Until then, and where the model fails, the first words of the first message are the title.
"""

from __future__ import annotations

import logging
import time

from django.conf import settings

from agents.llm import ModelCall, ModelError, facts, resolve
from agents.llm.rendering import dumps
from agents.llm.spending import Spending, tokens_in
from agents.models import Conversation, Message, Run, Usage
from agents.models.message import spoken_text
from agents.text.excerpts import cut, first_words

logger = logging.getLogger(__name__)
LONGEST_READ = 2000  # characters of the message and of the answer, each
LONGEST_TITLE = 60  # characters
ANSWER_TOKENS = 1024  # some models think before they write
LOOK_SECONDS = 0.5
SECONDS = 60.0  # after which the first words stay

INSTRUCTIONS = (
    "Give the conversation that you are shown a title of two to six words, in its own language."
    " Write the title alone: no quotes, no full stop, nothing else."
)


def title_by_model(run: Run) -> None:
    """Give a conversation a better title after its first answer; nothing where that fails."""
    conversation = run.conversation
    if not settings.TITLE_MODEL or not is_first_answer(run, conversation):
        return
    try:
        title = asked_for(run)
    except ModelError as error:
        logger.warning("No title for conversation %s. %s", conversation.pk, error)
        return
    now = Conversation.find(conversation.pk)
    if title and now and now.title == first_words(run.words):  # nobody renamed it meanwhile
        now.agent = run.agent
        now.configure(title=title)


def is_first_answer(run: Run, conversation: Conversation) -> bool:
    """Whether the run was the first of the conversation, and answered."""
    answered = run.kind == Run.Kind.MESSAGE and run.status == Run.Status.DONE
    return answered and not conversation.runs.exclude(pk=run.pk).exists()


def asked_for(run: Run) -> str:
    """The title that the model gives; ModelError where it gives none."""
    endpoint, model = resolve(settings.TITLE_MODEL, run.agent.owner_id)
    rows = run.messages.filter(role=Message.Role.ASSISTANT).order_by("number")
    answer = "\n".join(filter(None, (spoken_text(row.content, row.tool_calls) for row in rows)))
    said = f"Person: {cut(run.words, LONGEST_READ)}\nAgent: {cut(answer, LONGEST_READ)}"
    body = {
        "model": model,
        "stream": True,
        facts.dialect_of(endpoint, model).limit: ANSWER_TOKENS,
        "messages": [
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": said},
        ],
    }
    sent = dumps(body).encode()
    until = time.monotonic() + SECONDS
    spending = Spending.of_run(run, endpoint, model, Usage.Kind.TITLE)
    with spending.reserved(tokens_in(len(sent)), ANSWER_TOKENS):
        call = ModelCall(spending, sent)
        try:
            while call.wait(LOOK_SECONDS) is not None:
                if time.monotonic() > until:
                    return ""
        finally:
            call.close()
    title = call.answer.content.strip().strip("\"'“”").removesuffix(".")
    return first_words(title, LONGEST_TITLE)
