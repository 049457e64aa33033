"""Blocks by themselves: a person's own, whoever holds them, and those shared with them.

The templates get a block as `shown`: in their `{% block %}`s, `block` is Django's word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.db.models.functions import Left, Length
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST

from agents.ledger.recent import add_recent
from agents.models import Block, BlockEdit, Editor, MemoryRefusal
from agents.models.event import snapshot
from agents.models.sharing import Holder, sharing_of

from .blocks import change_settings, edit_value, sentence
from .forms.block import BlockForm
from .forms.share import BlockShareForm
from .history import EDITS_A_PAGE
from .history_filters import NEWEST
from .request import Request, query_number, usable_block

BEGINNING = 300  # characters of a value that the list shows
LONGEST_QUERY = 200  # characters of what is searched for
WHICH = {"": _("All"), "shared": _("Shared"), "unused": _("Unused")}


@login_required
@require_GET
def index(request: Request) -> HttpResponse:
    """All blocks a person may use, by the agents that hold them. `?q=` searches, `?which=` is
    "shared" or "unused"."""
    query, which = request.GET.get("q", "").strip()[:LONGEST_QUERY], request.GET.get("which", "")
    with snapshot():
        blocks = [block for block in listed(request, query) if is_wanted(block, which)]
        context = {
            "groups": grouped([b for b in blocks if b.owner_id == request.user.pk]),
            "shared_blocks": [block for block in blocks if block.owner_id != request.user.pk],
            "q": query,
            "which": which if which in WHICH else "",
            "choices": WHICH,
            "at_blocks": True,
        }
        return render(request, "agents/blocks/index.html", context)


def listed(request: Request, query: str) -> list[Block]:
    """The blocks a person may use in whose label, description or value a text stands."""
    usable = Block.objects.usable_by(request.user)
    if query:
        stands = Q(label__icontains=query) | Q(description__icontains=query)
        usable = usable.filter(stands | Q(value__icontains=query))
    begun = usable.defer("value").annotate(begins=Left("value", BEGINNING), length=Length("value"))
    blocks = list(begun)
    add_sharing(request, blocks)
    return blocks


def is_wanted(block: Block, which: str) -> bool:
    """Whether a block is among all of them, the shared or the unused ones."""
    sharing = block.sharing
    if which not in WHICH or not which or sharing is None:
        return True
    holders = len(sharing.holders) + sharing.others
    if which == "unused":
        return not holders
    return bool(sharing.owner or sharing.people or sharing.groups or holders > 1)


class Group(NamedTuple):
    """Blocks that the same agent holds, and no other; `holder` is None for the other groups."""

    title: str
    holder: Holder | None
    blocks: list[Block]


def grouped(blocks: Sequence[Block]) -> list[Group]:
    """Blocks by the agent that holds them, then those of several agents, then those of none."""
    by_agent: dict[UUID, Group] = {}
    several = Group(gettext("Several agents"), None, [])
    none = Group(gettext("No agent"), None, [])
    for block in blocks:
        holders, others = (
            (block.sharing.holders, block.sharing.others) if block.sharing else ([], 0)
        )
        if len(holders) == 1 and not others:
            (holder,) = holders
            group = by_agent.setdefault(holder.pk, Group(holder.name, holder, []))
        else:
            group = several if holders or others else none
        group.blocks.append(block)
    agents = sorted(by_agent.values(), key=lambda group: group.title.casefold())
    return [group for group in (*agents, several, none) if group.blocks]


def add_sharing(request: Request, blocks: Sequence[Block]) -> None:
    sharings = sharing_of(blocks, request.user.pk)
    for block in blocks:
        block.sharing = sharings[block.pk]


@login_required
def new(request: Request) -> HttpResponse:
    """A new block, which no agent holds yet."""
    form = BlockForm(request.POST or None, instance=Block(owner=request.user))
    if request.method == "POST" and form.is_valid():
        return redirect("block", form.save().pk)
    context = {"form": form, "at_blocks": True}
    status = 422 if request.method == "POST" else 200
    return render(request, "agents/blocks/new.html", context, status=status)


@login_required
@require_GET
def show(request: Request, block_id: UUID) -> HttpResponse:
    """A block: its value, who holds it, with whom it is shared."""
    with snapshot():
        block = usable_block(request, block_id)
        return render(request, "agents/blocks/block.html", block_context(request, block))


def block_context(
    request: Request, block: Block, form: BlockShareForm | None = None
) -> dict[str, Any]:
    """What a block's page is drawn from, with a form to share it."""
    add_sharing(request, [block])
    add_recent([block])
    is_own = block.owner_id == request.user.pk
    return {
        "this_block": block,
        "is_own": is_own,
        "shares": list(block.shares.select_related("user", "group")) if is_own else [],
        "form": form or BlockShareForm(block),
        "at_blocks": True,
    }


@login_required
def value(request: Request, block_id: UUID) -> HttpResponse:
    """The editor of a block's value; see `edit_value`."""
    block = usable_block(request, block_id)
    return refresh_if_saved(
        request, edit_value(request, block, reverse("block_value", args=[block.pk]))
    )


@login_required
def configure(request: Request, block_id: UUID) -> HttpResponse:
    """A block's settings; see `change_settings`."""
    block = usable_block(request, block_id)
    address = reverse("block_configure", args=[block.pk])
    return refresh_if_saved(request, change_settings(request, block, address))


def refresh_if_saved(request: Request, response: HttpResponse) -> HttpResponse:
    """The answer of an editor; where it saved, the page, which hears no socket, loads anew."""
    if request.method == "POST" and response.status_code == 200:
        response.headers["HX-Refresh"] = "true"
    return response


@login_required
@require_GET
def history(request: Request, block_id: UUID) -> HttpResponse:
    """The edits of a block, newest first; `?before=<id>` for older ones."""
    with snapshot():
        block = usable_block(request, block_id)
        edits = block.edits.filter(pk__lt=query_number(request, "before") or NEWEST)
        found = list(edits.select_related("step__run__agent")[: EDITS_A_PAGE + 1])
        add_sharing(request, [block])
        context = {
            "this_block": block,
            "edits": found[:EDITS_A_PAGE],
            "older": found[EDITS_A_PAGE - 1].pk if len(found) > EDITS_A_PAGE else None,
            "first": BlockEdit.objects.filter(block=block, version=1).first(),
            "at_blocks": True,
        }
        return render(request, "agents/blocks/history.html", context)


@login_required
@require_POST
def restore(request: Request, block_id: UUID, version: int) -> HttpResponse:
    """Make a version of a block the current one."""
    block = usable_block(request, block_id)
    try:
        block.restore(version, by=Editor.person(request.user))
    except MemoryRefusal as refusal:
        context = block_context(request, block) | {"error": sentence(refusal)}
        return render(request, "agents/blocks/block.html", context, status=409)
    return redirect("block", block.pk)


@login_required
def delete(request: Request, block_id: UUID) -> HttpResponse:
    """Ask, then delete for good; 409 where an agent holds the block.

    POST: `sure`, without which it asks again.
    """
    block = usable_block(request, block_id)
    status = 200
    if request.method == "POST":
        status = 422
        if request.POST.get("sure"):
            if Block.objects.filter(pk=block.pk).delete_unheld():
                return redirect("blocks")
            status = 409
    held = block.agents.select_related("owner").order_by("name")
    context = {
        "this_block": block,
        "holders": [agent for agent in held if agent.owner_id == request.user.pk],
        "other_owners": [agent.owner for agent in held if agent.owner_id != request.user.pk],
        "edits": block.edits.count(),
        "shares": list(block.shares.select_related("user", "group")),
        "unsure": status == 422,
        "at_blocks": True,
    }
    return render(request, "agents/blocks/delete.html", context, status=status)
