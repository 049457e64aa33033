"""Core memory, edited by hand. The panel itself is re-drawn by the socket, as for everyone."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from agents.diff import words_changed
from agents.forms import BlockForm, BlockSettingsForm
from agents.models import Agent, Block, BlockEdit, Editor, MemoryRefusal
from agents.models.block_edit import merged
from agents.models.editing import as_sentence
from agents.views.request import Request


@login_required
def edit(request: Request, agent_id: UUID, block_id: UUID) -> HttpResponse:
    """The editor of a block's value; saving over somebody else's change asks first.

    POST: `value`, `version` (what the person began from). 409 with both versions and a merge of
    them where the block has changed since.
    """
    agent, block = find(request, agent_id, block_id)
    if request.method != "POST":
        context = {"agent": agent, "block": block, "value": block.value, "version": block.version}
        return render(request, "agents/_block_editor.html", context)
    value = request.POST.get("value", "").replace("\r\n", "\n")
    version = request.POST.get("version", "")
    try:
        with transaction.atomic():
            block.lock()
            if version != str(block.version):
                return conflict(request, agent, block, value, version)
            block.set_value(value, by=Editor.person(request.user))
    except MemoryRefusal as refusal:
        context = {"agent": agent, "block": block, "value": value, "version": version}
        context["error"] = sentence(refusal)
        return render(request, "agents/_block_editor.html", context, status=422)
    return HttpResponse()  # the editor closes; the socket brings the new value


def conflict(request: Request, agent: Agent, block: Block, mine: str, version: str) -> HttpResponse:
    """Both versions and their merge, to choose from."""
    number = int(version) if version.isdecimal() and len(version) < 10 else -1
    known = block.edits.filter(version=number + 1).first()
    base = known.before if known else block.value
    merge, overlaps = merged(base, mine, block.value)
    context = {
        "agent": agent,
        "block": block,
        "mine": mine,
        "merge": merge,
        "overlaps": overlaps,
        "version": block.version,
        "theirs": words_changed(base, block.value),
        "newest": block.edits.first(),
    }
    return render(request, "agents/_block_conflict.html", context, status=409)


@login_required
@require_POST
def undo(request: Request, agent_id: UUID, edit_id: int) -> HttpResponse:
    """Take an edit back."""
    agent = get_object_or_404(Agent.objects.visible_to(request.user), pk=agent_id)
    edit = get_object_or_404(BlockEdit, pk=edit_id, block__agents=agent)
    try:
        edit.block.undo(edit, by=Editor.person(request.user))
    except MemoryRefusal as refusal:
        context = {"block": edit.block, "error": sentence(refusal)}
        return render(request, "agents/_block_notice.html", context, status=409)
    return HttpResponse(status=204)


@login_required
def configure(request: Request, agent_id: UUID, block_id: UUID) -> HttpResponse:
    """Label, description, limit and read-only of a block."""
    agent, block = find(request, agent_id, block_id)
    form = BlockSettingsForm(request.POST or None, instance=block, auto_id=f"{block.pk}-%s")
    if request.method == "POST" and form.is_valid():
        try:
            find(request, agent_id, block_id)[1].configure(**form.cleaned_data)
            return HttpResponse()
        except ValidationError as error:
            form.add_error(None, error)
    context = {"agent": agent, "block": block, "form": form}
    status = 422 if form.errors else 200
    return render(request, "agents/_block_settings.html", context, status=status)


@login_required
def new(request: Request, agent_id: UUID) -> HttpResponse:
    """A further block for an agent."""
    agent = get_object_or_404(Agent.objects.visible_to(request.user), pk=agent_id)
    form = BlockForm(
        request.POST or None, instance=Block(owner=agent.owner), auto_id="new-block-%s"
    )
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                agent.attach(form.save())
            return HttpResponse()
        except ValidationError as error:
            form.add_error(None, error)
    status = 422 if form.errors else 200
    return render(request, "agents/_block_new.html", {"agent": agent, "form": form}, status=status)


@login_required
@require_POST
def detach(request: Request, agent_id: UUID, block_id: UUID) -> HttpResponse:
    """Take a block out of an agent's core memory."""
    agent, block = find(request, agent_id, block_id)
    agent.detach(block)
    return HttpResponse(status=204)


def find(request: Request, agent_id: UUID, block_id: UUID) -> tuple[Agent, Block]:
    agent = get_object_or_404(Agent.objects.visible_to(request.user), pk=agent_id)
    return agent, get_object_or_404(agent.blocks, pk=block_id)


def sentence(refusal: MemoryRefusal) -> str:
    """A refusal as a sentence of its own."""
    return as_sentence(str(refusal))
