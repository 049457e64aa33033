"""An agent's settings and a block's are named once: a field that no list has would be lost."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.contrib.admin import site
from django.contrib.auth.models import User
from django.db import models
from django.test import Client, RequestFactory

from agents.agent_file import export_agent, import_agent
from agents.api.schemas.agents import AgentSettings, NewAgent
from agents.api.schemas.blocks import BlockChange, NewBlock
from agents.api.schemas.tools import NewTool, ToolChange
from agents.ledger.fork import fork
from agents.ledger.time_travel import step_at
from agents.memory.classes import TEMPLATES
from agents.models import Agent, AgentTag, Approval, Block, Identity, Tool
from agents.pages.forms.agent import AgentForm
from agents.pages.forms.block import BlockForm
from agents.pages.forms.tool import ToolForm
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text

AGENT: dict[str, Any] = {
    "name": "Coach",
    "model": "gpt-4o-mini",
    "system_prompt": "You are a coach.",
    "tools": ["core_memory_append", "send_message"],
    "tool_rules": [{"type": "exit_loop", "tool_name": "send_message"}],
    "prompt_template": TEMPLATES["json"],
    "reflect_every": 7,
    "max_steps": 9,
    "context_window": 9000,
    "message_buffer_autoclear": True,
    "timezone": "Europe/Riga",
    "hidden": True,
    "compaction_settings": {"mode": "all", "clip_chars": 900},
    "model_settings": {"temperature": 0.5, "max_output_tokens": 900, "reasoning_effort": "low"},
    "memory_class": "BasicBlockMemory",
    "bytes_per_token": 3.5,
    "description": "For sums",
    "metadata": {"room": 3},
    "agent_type": "memgpt_agent",
    "embedding": "openai/text-embedding-3-small",
}
BLOCK: dict[str, Any] = {
    "label": "plans",
    "description": "What is planned",
    "limit": 1234,
    "kind": "list",
    "schema": {"type": "array"},
    "read_only": True,
    "ask_before_write": True,
    "name": "plans-of-1",
    "tags": ["a", "b"],
    "metadata": {"by": "script"},
}
TOOL: dict[str, Any] = {
    "tags": ["x"],
    "seconds": 2.0,
    "megabytes": 9,
    "return_char_limit": 77,
    "default_requires_approval": True,
    "metadata": {"by": "script"},
    "given_description": "Do it well.",
    "given_schema": {"type": "object", "properties": {}},
}
CASES = [(Agent, AGENT), (Block, BLOCK), (Tool, TOOL)]
# What the API has no word for, as Letta has none.
NOT_ON_THE_WIRE: dict[type[models.Model], set[str]] = {
    Agent: {"prompt_template", "reflect_every", "max_steps", "memory_class", "bytes_per_token"},
    Block: {"kind", "schema", "ask_before_write"},
    Tool: {"seconds", "megabytes"},
}
WIRE: dict[type[models.Model], dict[str, str]] = {
    Agent: {"system": "system_prompt", "context_window_limit": "context_window"},
    Block: {},
    Tool: {
        "description": "given_description",
        "json_schema": "given_schema",
        "metadata_": "metadata",
    },
}


def fields(model: type[models.Model]) -> set[str]:
    return {field.name for field in model._meta.concrete_fields}


def settings_of(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.SETTINGS}


@pytest.fixture
def coach(agent: Agent, model: FakeOpenAI, ask: Ask) -> Agent:
    """An agent and a block of which no setting is what a new one has; one step was taken."""
    agent.configure(**copy.deepcopy(AGENT))
    AgentTag.replace(agent, ["maths", "school"])
    block = Block.objects.create(owner=agent.owner, value='["x"]', **copy.deepcopy(BLOCK))
    agent.attach(block)
    bob = Identity.objects.create(
        owner=agent.owner, identifier_key="bob", name="Bob", identity_type="user"
    )
    bob.agents.add(agent)
    bob.blocks.add(block)
    agent.configure(model="", tools=["core_memory_append"], tool_rules=[])
    model.script(text("Hello."))
    ask("Hello")
    agent.refresh_from_db()
    agent.configure(**copy.deepcopy(AGENT))
    return agent


@pytest.mark.parametrize(("model", "values"), CASES)
def test_each_field_is_a_setting_or_a_record(
    model: type[Agent | Block | Tool], values: dict[str, Any]
) -> None:
    assert set(model.SETTINGS) | set(model.RECORDS) == fields(model)
    assert not set(model.SETTINGS) & set(model.RECORDS)
    assert values.keys() == set(model.SETTINGS)
    new = model()
    assert [name for name in values if values[name] == getattr(new, name)] == []


def test_a_fork_keeps_each_setting_tags_and_identities(coach: Agent) -> None:
    step = step_at(coach, 1)
    assert step
    made = fork(step, "Fork", coach.owner)
    made = Agent.objects.get(pk=made.pk)
    assert settings_of(made) == AGENT | {"name": "Fork"}
    assert [tagged.tag for tagged in made.tagged.all()] == ["maths", "school"]
    assert [identity.name for identity in made.identities.all()] == ["Bob"]
    block = made.block("plans")
    assert block
    assert settings_of(block) == BLOCK
    assert [identity.name for identity in block.identities.all()] == ["Bob"]


def test_a_fork_keeps_what_people_said_of_calls(agent: Agent, model: FakeOpenAI, ask: Ask) -> None:
    rule = {"type": "requires_approval", "tool_name": "core_memory_append"}
    agent.configure(tool_rules=[rule])
    model.script(calls(("core_memory_append", {"label": "human", "content": "Pie"})), text("No."))
    ask("I like pie")
    Approval.objects.get().decide(Approval.Status.REFUSED, agent.owner, reason="Not that.")
    step = step_at(agent, 1)
    assert step
    made = fork(step, "Fork", agent.owner)
    kept = Approval.objects.get(step__run__agent=made)
    assert (kept.status, kept.reason) == ("refused", "Not that.")


def test_a_block_that_became_a_list_later_is_forked_as_the_text_it_was(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.script(text("Hello."))
    ask("Hello")
    block = agent.block("human")
    assert block
    Block.objects.filter(pk=block.pk).update(kind="list")
    step = step_at(agent, 1)
    assert step
    copied = fork(step, "Fork", agent.owner).block("human")
    assert copied
    assert (copied.kind, copied.value) == ("text", "Name: Bob")


def test_an_agent_file_keeps_each_setting(coach: Agent, bob: User) -> None:
    made = import_agent(bob, export_agent(coach)).agent
    assert settings_of(made) == AGENT
    assert [tagged.tag for tagged in made.tagged.all()] == ["maths", "school"]
    block = made.block("plans")
    assert block
    assert settings_of(block) == BLOCK


def test_an_agent_file_keeps_each_setting_of_a_tool(agent: Agent, bob: User) -> None:
    Tool.from_source(agent.owner, 'def f():\n    """Do it."""\n', **TOOL)
    agent.configure(tools=["f"])
    import_agent(bob, export_agent(agent))
    made = Tool.objects.get(owner=bob)
    assert settings_of(made) == TOOL


def test_forms_the_admin_and_the_api_name_each_setting(coach: Agent, web: Client) -> None:
    request = RequestFactory().get("/")
    request.user = coach.owner
    Tool.from_source(coach.owner, 'def f():\n    """Do it."""\n', **TOOL)
    for model in (Agent, Block, Tool):
        row = model.objects.filter(owner=coach.owner).first()
        shown = site._registry[model].get_fieldsets(request, row)
        in_admin = {name for _, options in shown for name in options["fields"]}
        assert set(model.SETTINGS) <= in_admin
    assert set(AgentForm.base_fields) == set(Agent.IN_FORMS)
    assert set(ToolForm.base_fields) == {"source", "keep_schema", *Tool.IN_FORMS}
    assert set(BlockForm.base_fields) == {"value", *Block.IN_FORMS}
    wire: list[tuple[Any, tuple[Any, ...]]] = [
        (Agent, (AgentSettings, NewAgent)),
        (Block, (NewBlock,)),
        (Block, (BlockChange,)),
        (Tool, (NewTool,)),
        (Tool, (ToolChange,)),
    ]
    for model, schemas in wire:
        names = {name for schema in schemas for name in schema.model_fields}
        on_the_wire = {WIRE[model].get(name, name) for name in names}
        assert set(model.SETTINGS) - on_the_wire == NOT_ON_THE_WIRE[model]
