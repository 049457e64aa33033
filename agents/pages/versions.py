"""What a person does with a message that was said: say it again, fork from it, leave it out."""

from __future__ import annotations

from uuid import UUID, uuid4

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.ledger.fork_conversation import fork as fork_conversation
from agents.models import LimitReached, Message, Role, Run
from agents.models.message import spoken_text
from agents.runs import ways_on

from .conversations import go_to
from .request import Request, find_agent
from .runs import done, find_run


@login_required
def again(request: Request, agent_id: UUID, run_id: int) -> HttpResponse:
    """GET: the form in which a message is edited. POST: say it again; what followed is put away.

    POST: `text`, if not as it was; `key`; `memory`, "back" or "keep", which is asked for where the
    agent wrote to its memory since then and the person may change it.
    """
    run = find_run(request, agent_id, run_id)
    if not may_say_again(request, run):
        words = gettext(
            "Only who wrote this message, or may edit the agent, can have it said again."
        )
        return refuse(request, words, 409)
    if request.method != "POST":
        return ask(request, run, {"text": run.text, "edits": True})
    text, memory = request.POST.get("text", run.text), request.POST.get("memory", "")
    if not memory and run.agent.role >= Role.EDITOR and run.conversation.blocks_since(run):
        return ask(request, run, {"text": text})
    key = request.POST.get("key", "")[:100] or uuid4().hex
    back = memory == "back" and run.agent.role >= Role.EDITOR
    try:
        run.conversation.say_again(run, text, key, request.user, with_memory=back)
    except ValidationError as error:
        return refuse(request, " ".join(error.messages), 422)
    except LimitReached as limit:
        return refuse(request, str(limit), 429)
    return done(request, run.conversation)


def ask(request: Request, run: Run, context: dict[str, object]) -> HttpResponse:
    """The form of a message that is to be said again, with the question about memory."""
    may_edit = run.agent.role >= Role.EDITOR
    context |= {
        "run": run,
        "agent": run.agent,
        "blocks": run.conversation.blocks_since(run) if may_edit else [],
        "key": uuid4().hex,
    }
    return render(request, "agents/_say_again.html", context)


@login_required
@require_POST
def show(request: Request, agent_id: UUID, run_id: int) -> HttpResponse:
    """Go on from another version of a message."""
    run = find_run(request, agent_id, run_id)
    conversation = run.conversation.shown
    conversation.agent = run.agent
    try:
        conversation.show_version(run, request.user)
    except ValidationError as error:
        return refuse(request, " ".join(error.messages), 409)
    return done(request, conversation)


@login_required
@require_GET
def text(request: Request, agent_id: UUID, message_id: int) -> HttpResponse:
    """What a message says, as it was written, to be copied."""
    message = find_message(request, agent_id, message_id)
    words = spoken_text(message.content, message.tool_calls)
    return HttpResponse(words, content_type="text/plain; charset=utf-8")


@login_required
@require_POST
def fork(request: Request, agent_id: UUID, message_id: int) -> HttpResponse:
    """Begin another conversation with what was said up to a message."""
    message = find_message(request, agent_id, message_id)
    if message.number < message.conversation.context_from:
        words = gettext(
            "This message is no longer in the context, and so a fork would know nothing of it."
            " Fork from a later message."
        )
        return refuse(request, words, 409)
    try:
        new = fork_conversation(message.conversation, message)
    except LimitReached as limit:
        return refuse(request, str(limit), 429)
    return go_to(request, new.get_absolute_url())


@login_required
@require_POST
def leave_out(request: Request, agent_id: UUID, message_id: int) -> HttpResponse:
    """Send a message to the model no more."""
    message = find_message(request, agent_id, message_id)
    ways_on.leave_out(message)
    return done(request, message.conversation)


@login_required
@require_POST
def put_back(request: Request, agent_id: UUID, message_id: int) -> HttpResponse:
    """Send a message to the model again that was left out."""
    message = find_message(request, agent_id, message_id)
    try:
        ways_on.put_back(message)
    except ValidationError as error:
        return refuse(request, " ".join(error.messages), 409)
    return done(request, message.conversation)


def find_message(request: Request, agent_id: UUID, message_id: int) -> Message:
    """A message of an agent's conversation that the person may see."""
    agent = find_agent(request, agent_id)
    rows = Message.objects.select_related("conversation", "run", "step__run")
    message: Message = get_object_or_404(
        rows, agent=agent, pk=message_id, internal=False, conversation__version_of=None
    )
    message.agent = message.conversation.agent = agent
    return message


def may_say_again(request: Request, run: Run) -> bool:
    """Whether a message is the person's own, or of an agent that they may edit."""
    return run.author_id == request.user.pk or run.agent.role >= Role.EDITOR


def refuse(request: Request, error: str, status: int) -> HttpResponse:
    return render(request, "agents/_refusal.html", {"error": error}, status=status)
