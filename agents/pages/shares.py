"""Blocks given to other people, where there are other people (MEMORYWEB_ACCOUNTS)."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from agents.models import Block, BlockShare

from .block_pages import of_block
from .forms.block import ShareForm
from .request import Request, own_block


@login_required
@require_POST
def give(request: Request, block_id: UUID) -> HttpResponse:
    """Give a block of one's own to a person, or change how they have it.

    POST: `username`, `access` (read or write).
    """
    block = own_shareable(request, block_id)
    form = ShareForm(block, request.POST)
    if not form.is_valid():
        context = of_block(request, block, form)
        return render(request, "agents/blocks/block.html", context, status=422)
    form.give()
    return redirect("block", block.pk)


@login_required
@require_POST
def take_back(request: Request, block_id: UUID, share_id: int) -> HttpResponse:
    """Share a block with somebody no more."""
    block = own_shareable(request, block_id)
    get_object_or_404(BlockShare, pk=share_id, block=block).take_back()
    return redirect("block", block.pk)


def own_shareable(request: Request, block_id: UUID) -> Block:
    if not settings.ACCOUNTS:
        raise Http404
    return own_block(request, block_id)
