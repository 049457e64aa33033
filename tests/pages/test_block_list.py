"""The page of all blocks and the dialog that attaches one: searched, grouped, filtered."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agents.memory.classes import BasicBlockMemory
from agents.models import Agent, Block, BlockShare
from agents.pages import blocks as block_dialogs
from tests.support.pages import at


@pytest.fixture
def second(alice: User, human: Block) -> Agent:
    """Another agent of Alice's, which holds her block as well."""
    agent = Agent.create(alice, "Second", BasicBlockMemory([]))
    agent.attach(human)
    return agent


@pytest.fixture
def spare(alice: User) -> Block:
    """A block that no agent holds."""
    return Block.objects.create(
        owner=alice, label="spare", value="Cherry pie & tea", description="What to cook"
    )


def groups_in(web: Client, **query: str) -> dict[str, list[str]]:
    """The labels of the blocks in each group."""
    html = web.get(at("blocks"), query).content.decode().partition("<main")[2]
    html = html.partition("</main>")[0]
    found: dict[str, list[str]] = {}
    for part in re.split(r"<h2[^>]*>", html)[1:]:
        title, _, rest = part.partition("</h2>")
        labels = re.findall(r"<h3><a [^>]*>([^<]+)</a></h3>", rest)
        found[re.sub(r"<[^>]+>", "", title).strip()] = labels
    return found


def test_blocks_are_grouped_by_the_agent_that_holds_them(
    web: Client, agent: Agent, second: Agent, spare: Block
) -> None:
    assert groups_in(web) == {
        "Tutor": ["persona"],
        "Several agents": ["human"],
        "No agent": ["spare"],
    }


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ({"q": "CHERRY"}, ["spare"]),
        ({"q": "cook"}, ["spare"]),
        ({"q": "human"}, ["human"]),
        ({"which": "shared"}, ["human"]),
        ({"which": "unused"}, ["spare"]),
        ({"which": "unused", "q": "human"}, []),
        ({"which": "nonsense"}, ["persona", "human", "spare"]),
    ],
)
def test_blocks_are_searched_and_filtered(
    query: dict[str, str],
    labels: list[str],
    web: Client,
    agent: Agent,
    second: Agent,
    spare: Block,
) -> None:
    found = groups_in(web, **query)
    assert [label for group in found.values() for label in group] == labels
    html = web.get(at("blocks"), query).content.decode()
    assert ("No block matches." in html) == (not labels)


def test_what_others_shared_is_found_as_well(
    bobs_web: Client, agent: Agent, spare: Block, bob: User
) -> None:
    BlockShare.share(spare, bob, can_write=False)
    assert groups_in(bobs_web, q="pie", which="shared") == {"Shared with you": ["spare"]}
    assert groups_in(bobs_web, q="bob") == {}


def test_the_dialog_that_attaches_a_block_searches(
    web: Client, agent: Agent, second: Agent, spare: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offered(**query: str) -> list[str]:
        html = web.get(at("block_attach", second), query).content.decode()
        return re.findall(r"<b>([^<]+)</b>", html)

    assert sorted(offered()) == ["persona", "spare"]
    assert offered(q="cherry") == ["spare"]
    assert offered(q="nonsense") == []
    monkeypatch.setattr(block_dialogs, "MOST_CHOICES", 1)
    html = web.get(at("block_attach", second)).content.decode()
    assert "1 more is not listed here" in html
