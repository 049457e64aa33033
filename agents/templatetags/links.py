"""Several links or names in one, so that the sentence they stand in can be translated whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from agents.models import Agent, Block
from agents.models.sharing import Holder

register = template.Library()
BETWEEN = " · "


class Named(Protocol):
    name: str


@register.filter
def names(rows: Iterable[Named]) -> str:
    """The names of agents, or of other rows, with commas between them."""
    return ", ".join(row.name for row in rows)


@register.simple_tag
def tool_users(agents: Iterable[Agent]) -> SafeString:
    """Agents that use a tool, each a link to its tools."""
    links = ((reverse("agent", args=[agent.pk]), agent.name) for agent in agents)
    return format_html_join(BETWEEN, '<a href="{}?panel=tools">{}</a>', links)


@register.simple_tag
def holder_links(block: Block) -> SafeString:
    """The person's agents that hold a block, each a link to it there."""
    holders = block.sharing.holders if block.sharing else []
    links = ((holder_link(holder, block),) for holder in holders)
    return format_html_join(BETWEEN, "{}", links)


def holder_link(holder: Holder, block: Block) -> SafeString:
    if holder.deleted:
        deleted = reverse("agents_deleted")
        return format_html('{} (<a href="{}">{}</a>)', holder.name, deleted, gettext("deleted"))
    agent = reverse("agent", args=[holder.pk])
    return format_html('<a href="{}#block-{}">{}</a>', agent, block.pk, holder.name)
