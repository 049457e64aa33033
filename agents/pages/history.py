"""The ledger of an agent's blocks: every edit, restored, undone, and who wrote each line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from agents.ledger.blame import blame
from agents.models import Agent, Block, BlockEdit, Conversation, Editor, MemoryRefusal
from agents.models.block_edit import edit_ids, taken_back_by, undos_of
from agents.models.event import snapshot

from .blocks import sentence
from .history_filters import NEWEST, Filters, Found, look_through
from .request import Request, find_agent, held_block, query_number

EDITS_A_PAGE = 30
SHOWN_BEFORE = 4  # newer edits shown above one that is looked for
MOST_TOUCHED = 100  # edits drawn anew at once


@dataclass(frozen=True)
class EditEntry:
    """An edit as the list shows it, with what later edits made of it."""

    edit: BlockEdit
    is_current: bool
    taken_back_by: BlockEdit | None
    takes_back: BlockEdit | None
    is_redo: bool

    @property
    def reversing(self) -> BlockEdit:
        """The edit to take back where the entry's button is pressed."""
        return self.taken_back_by or self.edit

    @property
    def offers_redo(self) -> bool:
        """Whether that brings back what was undone."""
        return bool(self.taken_back_by) != bool(self.takes_back and not self.is_redo)


@dataclass(frozen=True)
class Ledger:
    """The edits of some of an agent's blocks: of those it holds, or of one of them."""

    agent: Agent
    blocks: list[Block]
    only: Block | None
    filters: Filters

    @classmethod
    def from_query(cls, request: Request, agent: Agent) -> Ledger:
        """The ledger an address names: `?block=<id>`, or all of it."""
        blocks = agent.core_memory()
        block_id = request.GET.get("block", "")
        only = next((b for b in blocks if str(b.pk) == block_id), None)
        return cls(agent, blocks, only, Filters.from_query(request))

    @property
    def shown(self) -> list[Block]:
        return [self.only] if self.only else self.blocks

    @cached_property
    def found(self) -> Found:
        """What there is to filter by, and what passes the filters."""
        return look_through(self.shown, self.filters)

    def page(self, comparison: str = "<=", bound: int = NEWEST) -> list[int]:
        """Ids of the newest edits whose id compares so, one more than a page shows."""
        if self.filters:
            compares = {"<=": int.__le__, "<": int.__lt__, ">": int.__gt__}[comparison]
            return [pk for pk in self.found.ids if compares(pk, bound)][: EDITS_A_PAGE + 1]
        return edit_ids(self.shown, comparison, bound, "DESC", EDITS_A_PAGE + 1)

    def start_for(self, edit_id: int) -> int | None:
        """The newest edit of the page that has an edit in its midst; None if that is the first."""
        newest = self.page()
        if edit_id in newest[:EDITS_A_PAGE]:
            return None
        above = edit_ids(self.shown, ">=", edit_id, "ASC", SHOWN_BEFORE + 1)
        return above[-1] if edit_id in above else None

    def entries(self, ids: Iterable[int]) -> list[EditEntry]:
        """Edits with what became of them, newest first."""
        edits = BlockEdit.objects.filter(pk__in=list(ids)).order_by("-pk")
        found = list(edits.select_related("block", "step__run__agent"))
        undos = undos_of({edit.block_id for edit in found})
        taken_back = taken_back_by(undos)
        chains = {edit.pk: undo_chain(edit, undos) for edit in found}
        named = {taken_back[pk] for pk in chains if pk in taken_back}
        named |= {undone[-1] for undone in chains.values() if undone}
        rows = BlockEdit.plain.defer("first_value", "after").in_bulk(named)
        return [
            EditEntry(
                edit,
                is_current=edit.version == edit.block.version,
                taken_back_by=rows.get(taken_back.get(edit.pk, 0)),
                takes_back=rows.get(chains[edit.pk][-1]) if chains[edit.pk] else None,
                is_redo=len(chains[edit.pk]) % 2 == 0,
            )
            for edit in found
        ]

    def touched_by(self, new: list[EditEntry], after: int) -> set[int]:
        """The edits up to `after` that newer ones have shown in another light."""
        undos = undos_of({entry.edit.block_id for entry in new})
        touched = {pk for entry in new for pk in undo_chain(entry.edit, undos)}
        first = {entry.edit.block_id: entry.edit.version for entry in new}
        for entry in new:  # newest first, so that the oldest of each block stays
            first[entry.edit.block_id] = entry.edit.version
            if entry.edit.restores:
                touched |= self.numbered(entry.edit.block_id, entry.edit.restores)
        for block, version in first.items():
            touched |= self.numbered(block, version - 1)
        return set(sorted((pk for pk in touched if pk <= after), reverse=True)[:MOST_TOUCHED])

    def numbered(self, block: UUID, version: int) -> set[int]:
        edits = BlockEdit.objects.filter(block=block, version=version)
        return set(edits.values_list("pk", flat=True))

    def query(self, **further: int | None) -> str:
        """The part of an address that names this ledger, and more."""
        parameters = {"block": self.only.pk if self.only else None, **further}
        named = {name: value for name, value in parameters.items() if value is not None}
        return urlencode(self.filters.query() | named)


def undo_chain(edit: BlockEdit, undos: dict[int, int]) -> list[int]:
    """What an edit takes back, and what that took back, and so on: a redo undoes an undo."""
    undone = []
    pk = edit.undoes_id
    while pk:
        undone.append(pk)
        pk = undos.get(pk)
    return undone


def list_context(ledger: Ledger, ids: list[int]) -> dict[str, Any]:
    """One page of a list: its entries, and how it goes on. `ids` may hold one too many."""
    entries = ledger.entries(ids[:EDITS_A_PAGE])
    more = len(ids) > EDITS_A_PAGE
    return {
        "agent": ledger.agent,
        "entries": entries,
        "older": ledger.query(before=ids[EDITS_A_PAGE - 1]) if more else "",
        "origins": [] if more or ledger.filters else origins(ledger.shown),
    }


def origins(blocks: list[Block]) -> list[tuple[Block, str]]:
    """What blocks were made with, where their ledgers reach back so far."""
    first = BlockEdit.objects.filter(block__in=[b.pk for b in blocks], version=1)
    values = {edit.block_id: edit.before for edit in first}
    return [(b, values.get(b.pk, b.value)) for b in blocks if b.pk in values or not b.version]


def tab(request: Request, conversation: Conversation) -> dict[str, Any]:
    """The History tab: `?block=<id>` for one block, `?edit=<id>` for the page that holds it."""
    ledger = Ledger.from_query(request, conversation.agent)
    marked = 0 if ledger.filters else query_number(request, "edit")
    start = ledger.start_for(marked) if marked else None
    ids = ledger.page("<=", start or NEWEST)
    newest = ledger.page()[:1] if start else ids[:1]
    return {
        **list_context(ledger, ids),
        "blocks": ledger.blocks,
        "only": ledger.only,
        "filters": ledger.filters,
        "found": ledger.found,
        "marked_edit": marked,
        "in_the_past": start is not None,
        "newer": ledger.query(after=newest[0] if newest else 0, past=1 if start else None),
    }


@login_required
@require_GET
def older(request: Request, agent_id: UUID) -> HttpResponse:
    """The edits `?before=<id>`, for scrolling down."""
    with snapshot():
        agent = find_agent(request, agent_id)
        ledger = Ledger.from_query(request, agent)
        context = list_context(ledger, ledger.page("<", query_number(request, "before")))
        return render(request, "agents/panel/_edits.html", context)


@login_required
@require_GET
def newer(request: Request, agent_id: UUID) -> HttpResponse:
    """What the list has to show since the edit `?after=<id>`: new ones, and those they changed.

    With `past` the list does not begin with the newest, so that new ones do not belong in it.
    """
    with snapshot():
        agent = find_agent(request, agent_id)
        ledger = Ledger.from_query(request, agent)
        after, past = query_number(request, "after"), "past" in request.GET
        ids = ledger.page(">", after)
        if not ids:
            return HttpResponse(status=204)
        if len(ids) > EDITS_A_PAGE and not past:
            context = {"whole": True, **tab(request, agent.first_conversation)}
        else:
            new = ledger.entries(ids[:EDITS_A_PAGE])
            context = {
                "agent": agent,
                "entries": [] if past else new,
                "origins": []
                if ledger.filters
                else origins([e.edit.block for e in new if e.edit.version == 1]),
                "changed": ledger.entries(ledger.touched_by(new, after)),
                "newer": ledger.query(after=ids[0], past=1 if past else None),
            }
        return render(request, "agents/panel/_newer_edits.html", context)


@login_required
@require_POST
def restore(request: Request, agent_id: UUID, block_id: UUID, version: int) -> HttpResponse:
    """Make a version of a block the current one."""
    _, block = held_block(request, agent_id, block_id)
    try:
        block.restore(version, by=Editor.person(request.user))
    except MemoryRefusal as refusal:
        context = {"block": block, "error": sentence(refusal)}
        return render(request, "agents/_block_notice.html", context, status=409)
    return HttpResponse(status=204)


@login_required
@require_GET
def blame_lines(request: Request, agent_id: UUID, block_id: UUID) -> HttpResponse:
    """Who wrote each line of a block."""
    with snapshot():
        agent, block = held_block(request, agent_id, block_id)
        context = {"agent": agent, "block": block, "blame": blame(block)}
        return render(request, "agents/panel/_blame.html", context)
