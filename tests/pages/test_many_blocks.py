"""An agent with many blocks, and with long ones: what its page holds of them."""

from __future__ import annotations

import re

from django.contrib.auth.models import User
from django.test import Client

from agents.ledger.recent import INDEX_FROM
from agents.live import fragments
from agents.memory.classes import BasicBlockMemory
from agents.models import Agent, Block, Editor, Event
from tests.support.pages import at

LARGEST_PAGE = 150_000  # bytes
LINE = "- Likes pie & <b>cats</b> number {}, and walks along the river\n"
LONG = "".join(LINE.format(n) for n in range(2000))[:100_000]


def with_blocks(alice: User, count: int, value: str = LONG) -> Agent:
    agent = Agent.create(alice, "Big", BasicBlockMemory([]))
    for number in range(count):
        block = Block(owner=alice, label=f"block {number}", limit=200_000, value=value)
        block.save()
        agent.attach(block)
    return agent


def page_of(web: Client, agent: Agent) -> str:
    return web.get(at("agent", agent)).content.decode()


def value_in(html: str, block: Block) -> str:
    view = html.partition(f'id="block-{block.pk}-view"')[2]
    found = re.search(r'<div class="value"[^>]*>(.*?)</div>', view, re.DOTALL)
    assert found
    return found[1]


def labels_in_index(html: str) -> list[str]:
    index = html.partition('id="block-index"')[2].partition("</ul>")[0]
    return re.findall(r">([^<]+)</a>", index)


def test_the_page_of_forty_long_blocks_stays_small(web: Client, alice: User, by: Editor) -> None:
    agent = with_blocks(alice, 40)
    for block in agent.core_memory():
        block.set_value(block.value[:50_000] + "Likes tea" + block.value[50_020:], by=by)
    assert len(page_of(web, agent).encode()) <= LARGEST_PAGE


def test_a_long_block_shows_the_lines_around_its_change_and_all_of_it_on_request(
    web: Client, alice: User, by: Editor
) -> None:
    agent = with_blocks(alice, 1)
    (block,) = agent.core_memory()
    html = page_of(web, agent)
    assert "number 0," in value_in(html, block)
    assert "number 20," not in value_in(html, block)
    assert "of 1,5" in html
    block.replace_once("number 700,", "number 700, and tea,", by=by)
    html = page_of(web, agent)
    assert re.search("<ins>[^<]*tea[^<]*</ins>", value_in(html, block))
    assert value_in(html, block).count("\n") < 12
    assert "Lines 699–" in html
    whole = web.get(at("block_whole", agent, block)).content.decode()
    assert "number 0," in whole
    assert re.search("<ins>[^<]*tea[^<]*</ins>", whole)
    assert "&lt;b&gt;cats" in whole
    plain = web.get(at("block_whole", agent, block), {"plain": ""})
    assert plain.content.decode() == Block.objects.get(pk=block.pk).value
    assert plain["Content-Type"].startswith("text/plain")


def test_a_short_block_is_whole_at_once(web: Client, agent: Agent, human: Block) -> None:
    html = page_of(web, agent)
    assert value_in(html, human) == "Name: Bob"
    assert "Show all" not in html
    assert 'id="block-index"' not in html


def test_many_blocks_have_an_index_with_what_changed_last_first(
    web: Client, alice: User, by: Editor
) -> None:
    agent = with_blocks(alice, INDEX_FROM, "Short")
    blocks = agent.core_memory()
    blocks[3].append("Likes pie", by=by)
    blocks[5].append("Likes pie", by=by)
    labels = labels_in_index(page_of(web, agent))
    assert labels[:4] == ["block 5", "block 3", "block 0", "block 1"]
    assert len(labels) == INDEX_FROM
    blocks[1].append("Likes tea", by=by)
    event = agent.events.filter(kind=Event.Kind.BLOCK_EDITED).latest("seq")
    told = fragments.render(agent.first_conversation, event.kind, event.data)
    assert re.findall(r">([^<]+)</a></li>", told) == labels_in_index(page_of(web, agent))


def test_a_strangers_block_is_not_read(bobs_web: Client, agent: Agent, human: Block) -> None:
    assert bobs_web.get(at("block_whole", agent, human)).status_code == 404
