"""Core memory, edited by hand. The panel itself is re-drawn by the socket, as for everyone."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Left
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from agents.ledger.recent import add_recent
from agents.models import Agent, Block, BlockEdit, Editor, MemoryRefusal, Role, VersionConflict
from agents.models.block_checks import may_be_configured_by
from agents.models.editing import as_sentence
from agents.models.event import snapshot
from agents.models.sharing import sharing_of
from agents.templatetags.blocks import whole_value
from agents.text.diff import words_changed
from agents.text.merge import merged

from .forms.block import BlockForm, BlockSettingsForm
from .request import Request, find_agent, held_block, usable_block

MOST_CHOICES = 50  # blocks that are offered at once; others are searched for
BEGINNING = 120  # characters of the value of each


@login_required
def edit(request: Request, agent_id: UUID, block_id: UUID) -> HttpResponse:
    """The editor of a block's value in an agent's panel; see `edit_value`."""
    agent, block = held_block(request, agent_id, block_id)
    return edit_value(request, block, reverse("block_edit", args=[agent.pk, block.pk]))


def edit_value(request: Request, block: Block, address: str) -> HttpResponse:
    """The editor of a block's value; saving over somebody else's change asks first.

    POST: `value`, `version` (what the person began from). 409 with both versions and a merge of
    them where the block has changed since; 422 with the reason where the value cannot be.
    """
    context = {"block": block, "address": address}
    if request.method != "POST":
        context |= {"value": block.value, "version": block.version}
        return render(request, "agents/_block_editor.html", context)
    value = request.POST.get("value", "").replace("\r\n", "\n")
    version, editor = version_in_form(request.POST.get("version", "")), Editor.person(request.user)
    try:
        with transaction.atomic():
            block.only_at(version, by=editor)
            block.set_value(value, by=editor)
    except VersionConflict:
        return conflict(request, block, address, value, version)
    except MemoryRefusal as refusal:
        context |= {"value": value, "version": version, "error": sentence(refusal)}
        return render(request, "agents/_block_editor.html", context, status=422)
    return HttpResponse()  # the editor closes; the socket brings the new value


def version_in_form(text: str) -> int:
    """A version as the form has it; -1, which no block has, where that is not a number."""
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def conflict(request: Request, block: Block, address: str, mine: str, version: int) -> HttpResponse:
    """Both versions and their merge, to choose from."""
    known = block.edits.filter(version=version + 1).first()
    base = known.before if known else block.value
    merge, overlaps = merged(base, mine, block.value)
    context = {
        "block": block,
        "address": address,
        "mine": mine,
        "merge": merge,
        "overlaps": overlaps,
        "version": block.version,
        "their_change": words_changed(base, block.value),
        "newest": block.edits.first(),
    }
    return render(request, "agents/_block_conflict.html", context, status=409)


@login_required
@require_GET
def whole(request: Request, agent_id: UUID, block_id: UUID) -> HttpResponse:
    """All of a long value, as the panel draws it; `?plain` is the value itself, to be copied."""
    with snapshot():
        _, block = held_block(request, agent_id, block_id)
        if "plain" in request.GET:
            return HttpResponse(block.value, content_type="text/plain; charset=utf-8")
        add_recent([block])
        return HttpResponse(whole_value(block).html)


@login_required
@require_POST
def undo(request: Request, agent_id: UUID, edit_id: int) -> HttpResponse:
    """Take an edit back."""
    agent = find_agent(request, agent_id)
    edit = get_object_or_404(BlockEdit, pk=edit_id, block__agents=agent)
    try:
        edit.block.undo(edit, by=Editor.person(request.user))
    except MemoryRefusal as refusal:
        context = {"block": edit.block, "error": sentence(refusal)}
        return render(request, "agents/_block_notice.html", context, status=409)
    return HttpResponse(status=204)


@login_required
def configure(request: Request, agent_id: UUID, block_id: UUID) -> HttpResponse:
    """A block's settings in an agent's panel; see `change_settings`."""
    agent, block = held_block(request, agent_id, block_id)
    address = reverse("block_settings", args=[agent.pk, block.pk])
    return change_settings(request, block, address, agent)


def change_settings(
    request: Request, block: Block, address: str, agent: Agent | None = None
) -> HttpResponse:
    """Label, kind, limit and the like, which are the owner's to change; 403 for others."""
    context = {"agent": agent, "block": block, "address": address}
    if not may_be_configured_by(block, request.user.pk):
        status = 403 if request.method == "POST" else 200
        return render(request, "agents/_block_not_yours.html", context, status=status)
    form = BlockSettingsForm(request.POST or None, instance=block, auto_id=f"{block.pk}-%s")
    if request.method == "POST" and form.is_valid():
        try:
            changes = {name: form.cleaned_data[name] for name in form.changed_data}
            block.configure(by=Editor.person(request.user), **changes)
            return HttpResponse()
        except ValidationError as error:
            form.add_error(None, error)
        except MemoryRefusal as refusal:
            form.add_error(None, sentence(refusal))
    status = 422 if form.errors else 200
    return render(request, "agents/_block_settings.html", context | {"form": form}, status=status)


@login_required
def new(request: Request, agent_id: UUID) -> HttpResponse:
    """A further block for an agent."""
    agent = find_agent(request, agent_id)
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
def attach(request: Request, agent_id: UUID) -> HttpResponse:
    """A block there is already, the person's own or one shared with them, for an agent.

    POST: `block`, its id. 404 where the person may not use it; 422 where its label is taken.
    """
    agent = find_agent(request, agent_id)
    error = ""
    if request.method == "POST":
        chosen = uuid_or_none(request.POST.get("block"))
        block = usable_block(request, chosen, needs=Role.VIEWER)
        try:
            agent.attach(block)
            return HttpResponse()
        except (ValidationError, MemoryRefusal) as refusal:
            reason = refusal.messages[0] if isinstance(refusal, ValidationError) else str(refusal)
            error = as_sentence(reason)
    query = request.GET.get("q", "").strip()
    others = attachable_blocks(request, agent, query)
    sharings = sharing_of(others, request.user.pk)
    for block in others:
        block.sharing = sharings[block.pk]
    labels = set(agent.attachments.values_list("label", flat=True))
    attachable = [block for block in others if block.label not in labels]
    context = {
        "agent": agent,
        "error": error,
        "q": query,
        "attachable": attachable[:MOST_CHOICES],
        "left_out": max(len(attachable) - MOST_CHOICES, 0),
        "label_taken": [block for block in others if block.label in labels][:MOST_CHOICES],
    }
    status = 422 if error else 200
    return render(request, "agents/_block_attach.html", context, status=status)


def attachable_blocks(request: Request, agent: Agent, query: str) -> list[Block]:
    """The blocks that a person may give an agent, in whose label, description or value a text
    stands."""
    blocks = (
        Block.objects.usable_by(request.user)
        .filter(pk__in=Block.objects.usable_by(agent.owner).values("pk"))
        .exclude(agents=agent)
    )
    if query:
        stands = Q(label__icontains=query) | Q(description__icontains=query)
        blocks = blocks.filter(stands | Q(value__icontains=query))
    return list(blocks.defer("value").annotate(begins=Left("value", BEGINNING)))


def uuid_or_none(sent: str | None) -> UUID | None:
    """An id that somebody sent; None where it is none."""
    try:
        return UUID(sent or "")
    except ValueError:
        return None


@login_required
@require_POST
def detach(request: Request, agent_id: UUID, block_id: UUID) -> HttpResponse:
    """Take a block out of an agent's core memory."""
    agent, block = held_block(request, agent_id, block_id)
    agent.detach(block)
    return HttpResponse(status=204)


def sentence(refusal: MemoryRefusal) -> str:
    """A refusal as a sentence of its own."""
    return as_sentence(str(refusal))
