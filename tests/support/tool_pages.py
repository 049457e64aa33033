"""The pages of tools, as tests read and fill them in."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client
from django.urls import reverse

from agents.models import Agent, Tool

SHOUT = '''\
def shout(agent_state, words: str, times: int = 1):
    """Say it loudly.

    Args:
        words (str): What to say.
        times (int): How often.
    """
    print("Shouting", times)
    block = agent_state.memory.get_block("human")
    agent_state.memory.update_block_value("human", block.value + "\\n" + words.upper())
    return words.upper() * times
'''


def html(response: Any) -> str:
    return str(response.content.decode())


def tab(web: Client, agent: Agent) -> str:
    return html(web.get(reverse("panel_tab", args=[agent.pk, "tools"])))


def words_of(markup: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", markup).split())


def save(web: Client, tool: Tool, **changed: Any) -> Any:
    tool.refresh_from_db()
    form = {"source": tool.source, "seen": tool.updated_at.isoformat(), **changed}
    return web.post(reverse("tool", args=[tool.pk]), form)
