"""Blocks shared with other people, where there are other people (MEMORYWEB_ACCOUNTS)."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from agents.models import Block, BlockShare

from .block_pages import block_context
from .forms.share import BlockShareForm
from .request import Request, usable_block


@login_required
@require_POST
def share(request: Request, block_id: UUID) -> HttpResponse:
    """Share a block of one's own with a person or a group, or change what they may do with it.

    POST: `name`, `access` (read or write).
    """
    block = own_shareable(request, block_id)
    form = BlockShareForm(block, request.POST)
    if not form.is_valid():
        context = block_context(request, block, form)
        return render(request, "agents/blocks/block.html", context, status=422)
    form.share()
    return redirect("block", block.pk)


@login_required
@require_POST
def stop_sharing(request: Request, block_id: UUID, share_id: int) -> HttpResponse:
    """Stop sharing a block with somebody."""
    block = own_shareable(request, block_id)
    get_object_or_404(BlockShare, pk=share_id, block=block).stop()
    return redirect("block", block.pk)


def own_shareable(request: Request, block_id: UUID) -> Block:
    if not settings.ACCOUNTS:
        raise Http404
    return usable_block(request, block_id)
