"""What a person does in the conversation, by plain POST; the socket does the same."""

from __future__ import annotations

from uuid import UUID, uuid4

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.live import fragments
from agents.live.commands import ROW
from agents.models import Conversation, Editor, LimitReached, MemoryRefusal, Role, Run, Step
from agents.models.editing import as_sentence
from agents.models.event import snapshot
from agents.permissions import Forbidden, check_agent
from agents.runs import ways_on
from agents.runs.reflection import reflect

from .request import Request, find_agent, find_conversation


@login_required
@require_GET
def older(request: Request, agent_id: UUID, run_id: int) -> HttpResponse:
    """The runs before one, for scrolling up."""
    with snapshot():
        run = find_run(request, agent_id, run_id)
        context = {"agent": run.agent, "conversation": run.conversation}
        context |= fragments.transcript(run.conversation, before=run_id)
        return render(request, "agents/_older.html", context)


@login_required
@require_POST
def send(request: Request, agent_id: UUID, conversation_id: UUID | None = None) -> HttpResponse:
    """Accept a message."""
    conversation = find_conversation(request, agent_id, conversation_id)
    text = request.POST.get("text", "")
    try:
        key = request.POST.get("key", "")[:100] or uuid4().hex
        images = request.POST.getlist("images")
        conversation.agent.keep_open()
        files = [int(key) if ROW.fullmatch(key) else 0 for key in request.POST.getlist("files")]
        conversation.send(text, key, images, author=request.user, files=files)
    except LimitReached as limit:
        response = refuse_message(request, conversation, text, str(limit), 429)
        response.headers["Retry-After"] = str(limit.seconds)
        return response
    except ValidationError as error:
        return refuse_message(request, conversation, text, " ".join(error.messages), 422)
    return done(request, conversation)


def refuse_message(
    request: Request, conversation: Conversation, text: str, error: str, status: int
) -> HttpResponse:
    """Why a message was not sent; without a socket, with the message, to be sent again."""
    template = "agents/_refusal.html" if request.htmx else "agents/refused.html"
    shown = {"agent": conversation.agent, "conversation": conversation}
    context = {"error": error, "text": text, **shown}
    return render(request, template, context, status=status)


@login_required
@require_POST
def stop(request: Request, agent_id: UUID, conversation_id: UUID | None = None) -> HttpResponse:
    """Stop the run that goes on."""
    conversation = find_conversation(request, agent_id, conversation_id)
    if run := conversation.current_run():
        run.stop()
    return done(request, conversation)


@login_required
@require_POST
def reflect_now(
    request: Request, agent_id: UUID, conversation_id: UUID | None = None
) -> HttpResponse:
    """Have the agent go over its memory."""
    conversation = find_conversation(request, agent_id, conversation_id)
    reflect(conversation)
    return done(request, conversation)


@login_required
@require_POST
def undo(request: Request, agent_id: UUID, run_id: int) -> HttpResponse:
    """Take back all that a run wrote to memory."""
    run = find_run(request, agent_id, run_id)
    try:
        run.undo_edits(by=Editor.person(request.user))
    except MemoryRefusal as refusal:
        context = {"error": as_sentence(str(refusal)), "agent": run.agent}
        return render(request, "agents/_refusal.html", context, status=409)
    return done(request, run.conversation)


@login_required
@require_POST
def retry(request: Request, agent_id: UUID, run_id: int) -> HttpResponse:
    """Go on with a run that failed or gave no answer. POST: `way`, "leave_out" or "make_room", if
    not as it was."""
    run = find_run(request, agent_id, run_id)
    way = request.POST.get("way", "")
    if not ways_on.retry(run, leave_out=way == "leave_out", make_room=way == "make_room"):
        words = gettext(
            "This message cannot be tried again as it is: it was answered, or something was said"
            " after it. “Answer again” goes back to it, and keeps what followed as a version."
        )
        return render(request, "agents/_refusal.html", {"error": words}, status=409)
    return done(request, run.conversation)


@login_required
@require_POST
def feedback(request: Request, agent_id: UUID, step_id: int) -> HttpResponse:
    """Say what one thinks of a step. POST: `verdict`, "positive", "negative" or nothing."""
    steps = Step.objects.select_related("run__conversation__agent")
    step = get_object_or_404(steps, run__agent=find_agent(request, agent_id), pk=step_id)
    step.run.agent = step.run.conversation.agent
    verdict = request.POST.get("verdict", "")
    try:
        step.judge(verdict, step.feedback.get("tags", ()) if verdict else ())
    except ValidationError as error:
        context = {"error": " ".join(error.messages)}
        return render(request, "agents/_refusal.html", context, status=422)
    return done(request, step.run.conversation)


@login_required
@require_POST
def queued(request: Request, agent_id: UUID, run_id: int) -> HttpResponse:
    """Change a message that still waits, or take it back."""
    run = find_run(request, agent_id, run_id)
    check_author(request, run)
    if "withdraw" in request.POST:
        run.withdraw()
        return done(request, run.conversation)
    try:
        run.rewrite(request.POST.get("text", ""))
    except ValidationError as error:
        context = {"error": " ".join(error.messages)}
        return render(request, "agents/_refusal.html", context, status=422)
    return done(request, run.conversation)


def check_author(request: Request, run: Run) -> None:
    """Forbidden where a waiting message is another person's: nobody changes what somebody else
    says, and only who may edit the agent takes it back."""
    if run.author is None or run.author == request.user:
        return
    if "withdraw" not in request.POST:
        words = gettext("This message is %(name)s's; only they can change it.")
        raise Forbidden(words % {"name": run.author.get_username()})
    check_agent(run.agent, run.agent.role, Role.EDITOR)


def find_run(request: Request, agent_id: UUID, run_id: int) -> Run:
    agent = find_agent(request, agent_id)
    runs = Run.objects.select_related("conversation__agent")
    run: Run = get_object_or_404(runs, agent=agent, pk=run_id)
    run.agent = run.conversation.agent = agent
    return run


def done(request: Request, conversation: Conversation) -> HttpResponse:
    """The socket brings what changed; without one, the page is loaded anew."""
    return HttpResponse(status=204) if request.htmx else redirect(conversation)
