"""Passages, changed by hand. The list itself is re-drawn by the socket, as for everyone."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from agents.attached_files.taking import keys_tagged, remove_tagged
from agents.models import Agent, Editor, MemoryRefusal, Passage, VersionConflict
from agents.models.editing import RowDeleted
from agents.models.passage import LONGEST_PASSAGE

from .archival import format_tags, parse_tags
from .blocks import sentence
from .request import Request, find_agent


def typed_text(request: Request) -> str:
    return request.POST.get("text", "").replace("\r\n", "\n")


@login_required
def add(request: Request, agent_id: UUID) -> HttpResponse:
    """Store a passage. POST: `text`, `tags` as a person types them. 422 with the reason."""
    agent = find_agent(request, agent_id)
    text, typed = typed_text(request), request.POST.get("tags", "")
    context = {"address": reverse("archival_add", args=[agent.pk]), "text": text, "tags": typed}
    if request.method == "POST":
        try:
            Passage.insert(agent, text, parse_tags(typed), by=Editor.person(request.user))
            return HttpResponse()  # the form closes; the socket brings the passage
        except MemoryRefusal as refusal:
            return editor(request, context | {"error": sentence(refusal)}, status=422)
    return editor(request, context)


@login_required
def edit(request: Request, agent_id: UUID, passage_id: int) -> HttpResponse:
    """The editor of a passage. POST: `text`, `tags`, `version` (what the person began from).

    409 with both where the passage was changed or deleted since; 422 with the reason where it
    cannot be so; 404 where there was none to begin with.
    """
    agent = find_agent(request, agent_id)
    if request.method != "POST":
        passage = agent.passages.filter(pk=passage_id).first()
        if passage is None:
            return not_found(request)
        context = {"text": passage.text, "tags": format_tags(passage.tags)}
        return editor(request, passage_context(agent, passage) | context)
    context = {"text": typed_text(request), "tags": request.POST.get("tags", "")}
    passage = Passage(pk=passage_id, agent=agent)
    try:
        with transaction.atomic():
            passage.only_at(request.POST.get("version", ""))
            same = context["tags"] == format_tags(passage.tags)
            tags = passage.tags if same else parse_tags(context["tags"])
            passage.edit(context["text"], tags, by=Editor.person(request.user))
    except RowDeleted:
        address = reverse("archival_add", args=[agent.pk])
        return conflict(request, context | {"address": address})
    except VersionConflict:
        return conflict(request, context | passage_context(agent, passage))
    except MemoryRefusal as refusal:
        context |= passage_context(agent, passage) | {"error": sentence(refusal)}
        return editor(request, context, status=422)
    return HttpResponse()  # the editor closes; the socket brings the new text


@login_required
def delete(request: Request, agent_id: UUID, passage_id: int) -> HttpResponse:
    """Ask whether a passage is to be deleted; POST with its `version` deletes it.

    409 asks again where it was changed since, 404 where it is gone.
    """
    agent = find_agent(request, agent_id)
    if request.method != "POST":
        passage = agent.passages.filter(pk=passage_id).first()
        return confirm_delete(request, agent, passage) if passage else not_found(request)
    passage = Passage(pk=passage_id, agent=agent)
    try:
        with transaction.atomic():
            passage.only_at(request.POST.get("version", ""))
            passage.remove()
    except RowDeleted:
        return not_found(request)
    except VersionConflict:
        return confirm_delete(request, agent, passage, changed=True)
    return HttpResponse()  # the socket takes it from the list


@login_required
def delete_tagged(request: Request, agent_id: UUID) -> HttpResponse:
    """Ask whether all passages with the tag `?tag=` are to be deleted; POST deletes them."""
    agent, tag = find_agent(request, agent_id), request.GET.get("tag", "")
    if request.method == "POST":
        remove_tagged(agent, tag)
        return HttpResponse()  # the socket brings the list up to date
    context = {"agent": agent, "tag": tag, "count": len(keys_tagged(agent, tag))}
    return render(request, "agents/archival/_delete_tagged.html", context)


def confirm_delete(
    request: Request, agent: Agent, passage: Passage, changed: bool = False
) -> HttpResponse:
    """Whether the passage is to be deleted."""
    address = reverse("archival_delete", args=[agent.pk, passage.pk])
    context = passage_context(agent, passage) | {"address": address, "changed": changed}
    return render(request, "agents/archival/_delete.html", context, status=409 if changed else 200)


def passage_context(agent: Agent, passage: Passage) -> dict[str, Any]:
    return {
        "passage": passage,
        "version": passage.version,
        "address": reverse("archival_edit", args=[agent.pk, passage.pk]),
    }


def editor(request: Request, context: dict[str, Any], status: int = 200) -> HttpResponse:
    context |= {"limit": LONGEST_PASSAGE}
    return render(request, "agents/archival/_editor.html", context, status=status)


def conflict(request: Request, context: dict[str, Any]) -> HttpResponse:
    """What was typed beside what the passage says by now, if it is still there."""
    context |= {"limit": LONGEST_PASSAGE}
    return render(request, "agents/archival/_conflict.html", context, status=409)


def not_found(request: Request) -> HttpResponse:
    return render(request, "agents/archival/_gone.html", status=404)
