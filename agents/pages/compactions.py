"""Compactions: what left the context, the summary that stands for it, and making room by hand."""

from __future__ import annotations

from uuid import UUID, uuid4

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.models import Compaction, Run

from .request import Request, find_agent, find_conversation
from .runs import done

MESSAGES_A_PAGE = 50


@login_required
@require_POST
def compact(request: Request, agent_id: UUID, conversation_id: UUID | None = None) -> HttpResponse:
    """Make room now: everything but the last exchange leaves the context."""
    conversation = find_conversation(request, agent_id, conversation_id)
    key = request.POST.get("key", "")[:100] or uuid4().hex
    conversation.start("Compact now", key, Run.Kind.COMPACTION)
    return done(request, conversation)


@login_required
@require_GET
def messages(request: Request, agent_id: UUID, compaction_id: int) -> HttpResponse:
    """What left the context, from the message after number `after` on."""
    compaction = find_compaction(request, agent_id, compaction_id)
    after = request.GET.get("after", "")
    rows = compaction.messages().order_by("number")
    rows = rows.filter(number__gt=int(after) if after.isdecimal() and len(after) < 18 else 0)
    shown = list(rows[: MESSAGES_A_PAGE + 1])
    more = shown[MESSAGES_A_PAGE - 1].number if len(shown) > MESSAGES_A_PAGE else None
    context = {"compaction": compaction, "messages": shown[:MESSAGES_A_PAGE], "more": more}
    return render(request, "agents/_messages.html", context)


@login_required
def summary(request: Request, agent_id: UUID, compaction_id: int) -> HttpResponse:
    """The summary's editor. POST: `summary`."""
    compaction = find_compaction(request, agent_id, compaction_id)
    context = {"compaction": compaction, "text": compaction.summary, "error": ""}
    if request.method == "POST":
        text = request.POST.get("summary", "").replace("\r\n", "\n")
        try:
            compaction.rewrite(text, Compaction.Author.PERSON)
        except ValidationError as error:
            context |= {"text": text, "error": " ".join(error.messages)}
            return render(request, "agents/_compaction_editor.html", context, status=422)
    elif "view" not in request.GET and compaction.is_newest():
        return render(request, "agents/_compaction_editor.html", context)
    elif "view" not in request.GET:
        words = gettext("A later summary includes this one; edit the newest instead.")
        context["error"] = words
    return render(request, "agents/_compaction_text.html", context)


def find_compaction(request: Request, agent_id: UUID, compaction_id: int) -> Compaction:
    compactions = Compaction.objects.filter(conversation__agent=find_agent(request, agent_id))
    compaction: Compaction = get_object_or_404(
        compactions.select_related("conversation__agent"), pk=compaction_id
    )
    return compaction
