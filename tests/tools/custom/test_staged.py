"""Tools that users write: the staged memory they work on."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from agents.memory.classes import TaskMemory
from agents.models import Agent, Block, Editor, Passage
from agents.models.share import BlockShare
from agents.tools import Caller
from tests.support.custom_tools import tried

# -- the agent's memory ----------------------------------------------------------------------------


def test_agent_state_is_the_agent_and_its_memory(agent: Agent) -> None:
    ran = tried(
        agent,
        "m = agent_state.memory\n"
        "b = m.get_block('human')\n"
        "return [agent_state.id, m.list_block_labels(), b.label, b.value, b.limit, b.read_only,\n"
        "        [x.label for x in m.blocks], m.compile()]",
    )
    block = agent.block("human")
    assert block
    assert ran.returned == str(
        [
            f"agent-{agent.pk}",
            ["persona", "human", "tasks"],
            "human",
            "Bob",
            2000,
            False,
            ["persona", "human", "tasks"],
            '<persona characters="6/2000">\nI work\n</persona>\n<human characters="3/2000">\nBob\n'
            '</human>\n<tasks characters="2/2000">\n[]\n</tasks>',
        ]
    )
    assert "What the agent knows" in block.description


def test_a_tool_reads_what_it_wrote_in_the_same_call(agent: Agent) -> None:
    ran = tried(
        agent,
        "import letta_client\n"
        "client = letta_client.Letta()\n"
        "agent_state.memory.update_block_value('human', 'Ann')\n"
        "client.agents.blocks.modify(agent_state.id, 'persona', value='Kind')\n"
        "block = client.agents.blocks.retrieve(agent_state.id, 'human')\n"
        "client.blocks.modify(block.id, value=block.value + 'a')\n"
        "return [block.value, client.blocks.retrieve(block.id).value,\n"
        "        agent_state.memory.get_block('persona').value,\n"
        "        client.agents.core_memory.retrieve_block(agent_state.id, 'human').value,\n"
        "        client.agents.retrieve(agent_state.id).memory.get_block('human').value,\n"
        "        [b.value for b in client.agents.blocks.list(agent_state.id)],\n"
        "        'Anna' in client.agents.core_memory.retrieve(agent_state.id).compile(),\n"
        "        client.agents.core_memory.retrieve(agent_state.id).prompt_template != '']",
    )
    assert ran.error == ""
    assert ran.returned == str(
        ["Ann", "Anna", "Kind", "Anna", "Anna", ["Kind", "Anna", "[]"], True, True]
    )
    assert [(c.label, c.before, c.after) for c in ran.changes] == [
        ("persona", "I work", "Kind"),
        ("human", "Bob", "Anna"),
    ]


@pytest.mark.parametrize(
    "call",
    [
        "client.agents.blocks.retrieve(agent_id={id}, block_label='human')",
        "client.agents.blocks.retrieve('human', agent_id={id})",
        "client.agents.blocks.list({id})",
        "client.agents.blocks.modify({id}, 'human', value='x')",
        "client.agents.blocks.update('human', agent_id={id}, value='x')",
        "client.agents.core_memory.retrieve({id})",
        "client.agents.core_memory.modify_block({id}, 'human', value='x')",
        "client.agents.passages.list({id})",
        "client.agents.passages.create({id}, text='x')",
        "client.agents.passages.search({id}, query='x')",
        "client.agents.retrieve({id})",
    ],
)
def test_a_tool_reaches_no_other_agent_not_even_of_the_same_person(call: str, agent: Agent) -> None:
    other = Agent.create(agent.owner, "Other", TaskMemory(human="A secret"))
    body = "from letta_client import Letta\nclient = Letta()\n" + call.format(
        id=f"'agent-{other.pk}'"
    )
    ran = tried(agent, body)
    assert f"LookupError: There is no agent agent-{other.pk} here" in ran.error
    assert "secret" not in ran.error


def test_a_tool_reaches_no_block_that_the_agent_does_not_hold(agent: Agent) -> None:
    other = Agent.create(agent.owner, "Other", TaskMemory(human="A secret"))
    block = other.block("human")
    assert block
    for call in (f"retrieve('block-{block.pk}')", f"modify('block-{block.pk}', value='x')"):
        ran = tried(agent, f"from letta_client import Letta\nLetta().blocks.{call}")
        assert "LookupError: This agent has no block" in ran.error


@pytest.mark.parametrize(
    ("write", "error", "words"),
    [
        ("('human', 'x' * 2001)", "ValueError", "2,001 of 2,000 characters; shorten it by 1"),
        ("('human', ['x'])", "TypeError", "must be a string, not list"),
        ("('human', 'a\\x00')", "ValueError", "cannot hold the character"),
        ("('persona', 'x')", "ValueError", "read-only"),
        ("('tasks', '[]\\n1. wash')", "ValueError", "would no longer be JSON"),
        ("('dog', 'x')", "LookupError", "The blocks are: 'persona', 'human', 'tasks'"),
    ],
)
def test_a_write_that_the_block_refuses_is_an_exception_the_tool_can_see(
    write: str, error: str, words: str, agent: Agent
) -> None:
    agent.blocks.filter(label="persona").update(read_only=True)
    ran = tried(
        agent,
        f"try:\n    agent_state.memory.update_block_value{write}\n"
        f"except {error} as error:\n    return str(error)",
    )
    assert words in ran.returned
    assert not ran.changes
    assert error in tried(agent, f"agent_state.memory.update_block_value{write}").error


def test_a_block_that_was_shared_to_be_read_is_only_read(agent: Agent, bob: User) -> None:
    block = Block.objects.create(owner=bob, label="bobs", value="Bob's")
    BlockShare.objects.create(block=block, user=agent.owner, can_write=False)
    agent.attachments.create(block=block, label="bobs", position=9)
    ran = tried(
        agent,
        "m = agent_state.memory\n"
        "print(m.get_block('bobs').value)\n"
        "m.update_block_value('bobs', '')",
    )
    assert ran.stdout == "Bob's\n"
    assert "shared to be read only" in ran.error


def test_archival_memory_is_written_with_the_return_and_seen_by_the_call_before(
    caller: Caller,
) -> None:
    agent = caller.agent
    by = Editor.person(agent.owner)
    for text in ("Sarah loves cats", "Riga is in Latvia"):
        Passage.insert(agent, text, ["old"], by=by)
    ran = tried(
        agent,
        "from letta_client import Letta\n"
        "passages = Letta().agents.passages\n"
        "made = passages.create(agent_id=agent_state.id, text='Bob loves terriers', tags=['new'])\n"
        "found = passages.search(agent_state.id, query='loves', top_k=5)\n"
        "return [made[0].text, [p.text for p in passages.list(agent_state.id)],\n"
        "        [p.text for p in passages.list(agent_state.id, limit=1, ascending=False)],\n"
        "        [p.text for p in passages.list(agent_state.id, search='riga')],\n"
        "        found.count, [r.content for r in found.results],\n"
        "        [r.content for r in\n"
        "         passages.search(agent_state.id, 'loves', tags=['old']).results]]",
    )
    assert ran.error == ""
    assert ran.returned == str(
        [
            "Bob loves terriers",
            ["Sarah loves cats", "Riga is in Latvia", "Bob loves terriers"],
            ["Bob loves terriers"],
            ["Riga is in Latvia"],
            2,
            ["Bob loves terriers", "Sarah loves cats"],
            ["Sarah loves cats"],
        ]
    )
    assert agent.passages.count() == 2
    with transaction.atomic():
        ran.apply(caller)
    stored = agent.passages.get(text="Bob loves terriers")
    assert (stored.tags, stored.step, stored.editor_kind) == (["new"], caller.step, "agent")


def test_one_call_puts_away_and_searches_only_so_often(agent: Agent) -> None:
    start = "from letta_client import Letta\np = Letta().agents.passages\n"
    ran = tried(agent, f"{start}for n in range(101): p.create(agent_state.id, text='x')")
    assert "One call may insert at most 100 passages" in ran.error
    ran = tried(agent, f"{start}for n in range(21): p.search(agent_state.id, query='x')")
    assert "One call may search at most 20 times" in ran.error
    assert (
        "ValueError: The passage is empty"
        in tried(agent, f"{start}p.create(agent_state.id, text=' ')").error
    )
