"""An agent's forms: the template of a new one, the settings of any."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.memory import classes
from agents.memory.classes import ChatMemory, Memory
from agents.models import Agent, Block, Tool
from tests.support.pages import at, shown

# -- a new agent's template ------------------------------------------------------------------------


class DiaryMemory(ChatMemory):
    """A class of an operator's own."""

    description = "Persona, human and a diary"

    def __init__(self, human: str = "", persona: str = "", limit: int = 500) -> None:
        super().__init__(human, persona, limit)
        self.set_block(
            Block(
                label="diary",
                value='{"days": []}',
                kind="object",
                schema={"required": ["days"]},
                limit=limit,
                ask_before_write=True,
            )
        )

    def diary_read(self) -> str:
        """Read the diary."""
        return self.get_block("diary").value


@pytest.fixture
def diary(monkeypatch: pytest.MonkeyPatch) -> type[Memory]:
    """Found through MEMORYWEB_MEMORY_CLASSES."""
    found = classes.load_classes([f"{__name__}.DiaryMemory"])
    monkeypatch.setitem(classes.CLASSES, "DiaryMemory", found["DiaryMemory"])
    return found["DiaryMemory"]


def first(client: Client, name: str) -> str:
    response = client.get(at("agent_new_first_blocks"), {"template": name})
    assert response.status_code == 200
    return response.content.decode()


def labels(page: str) -> list[str]:
    return re.findall(r'name="blocks-\d+-label" value="(\w+)"', page)


def test_each_template_has_its_first_blocks(web: Client, diary: type[Memory]) -> None:
    assert labels(first(web, "assistant")) == ["persona", "human"]
    assert labels(first(web, "own")) == []
    tasks = first(web, "tasks")
    assert labels(tasks) == ["persona", "human", "tasks"]
    assert '<option value="list" selected>' in tasks
    assert labels(first(web, "DiaryMemory")) == ["persona", "human", "diary"]
    for name in ("", "Nope", "os.system"):
        asked = {"template": name}
        assert web.get(at("agent_new_first_blocks"), asked).status_code == 404


def fields_of(page: str) -> dict[str, str]:
    """What a browser would send of the blocks in a page."""
    found: dict[str, str] = {}
    for tag in re.findall(r'<input[^>]*name="blocks-[^>]*>', page):
        given = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if given["type"] != "checkbox" or " checked" in tag:
            found[given["name"]] = given.get("value", "on")
    areas = re.findall(r'<textarea name="(blocks-[^"]*)"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    found |= dict(areas)
    chosen = re.findall(
        r'<select name="(blocks-[^"]*)".*?value="(\w+)" selected.*?</select>', page, re.DOTALL
    )
    found |= dict(chosen)
    return {name: text.replace("&quot;", '"') for name, text in found.items()}


def make(client: Client, chosen: str, page: str, **more: str) -> Any:
    form = fields_of(page) | {"name": "New", "template": chosen, "system_prompt": "x"}
    count = {"blocks-TOTAL_FORMS": str(len(labels(page))), "blocks-INITIAL_FORMS": "0"}
    return client.post(at("agent_new"), form | count | more)


def test_an_agent_of_a_class_of_ones_own_has_its_blocks_and_tools(
    web: Client, diary: type[Memory]
) -> None:
    response = make(web, "DiaryMemory", first(web, "DiaryMemory"))
    assert response.status_code == 302
    agent = Agent.objects.get()
    assert agent.memory_class == "DiaryMemory"
    assert agent.tools == [*Memory.tool_names, "diary_read"]
    block = agent.block("diary")
    assert block is not None
    assert (block.value, block.kind, block.limit) == ('{"days": []}', "object", 500)
    assert (block.schema, block.ask_before_write) == ({"required": ["days"]}, True)


def test_a_task_agent_made_by_the_form_can_work_off_its_tasks(web: Client) -> None:
    make(web, "tasks", first(web, "tasks"))
    agent = Agent.objects.get()
    assert agent.tools[-2:] == ["task_queue_push", "task_queue_pop"]
    tasks = agent.block("tasks")
    assert tasks is not None
    assert (tasks.kind, tasks.value) == ("list", "[]")


def test_an_agent_without_blocks_may_be_made(web: Client) -> None:
    assert make(web, "own", "").status_code == 302
    assert Agent.objects.get().core_memory() == []


def test_what_was_refused_comes_back_as_it_was_typed(web: Client) -> None:
    page = first(web, "tasks")
    more = {"name": "", "blocks-1-value": "Name: Eve", "blocks-1-limit": "2000"}
    response = make(web, "tasks", page, **more)
    assert response.status_code == 422
    again = response.content.decode()
    assert labels(again) == ["persona", "human", "tasks"]
    assert "Name: Eve" in again
    # those that are as the class has them may go when another class is chosen
    assert again.count("data-fresh") == 2
    assert not Agent.objects.exists()


def test_a_value_that_is_not_of_its_kind_makes_no_agent(web: Client) -> None:
    page = first(web, "tasks")
    response = make(web, "tasks", page, **{"blocks-2-value": "1. Buy milk"})
    assert "The value cannot stay: it would no longer be JSON" in shown(response, 422)
    assert not Agent.objects.exists()


# -- an agent's settings ---------------------------------------------------------------------------


SOURCE = '''
def roll_dice(sides: int) -> str:
    """Roll dice.

    Args:
        sides (int): How many sides they have.
    """
    return "4"
'''
AGENT = {"name": "Tutor", "model": "", "system_prompt": "x", "max_steps": "50", "timezone": "UTC"}


def configure(client: Client, agent: Agent, **changes: Any) -> Any:
    response = client.post(at("agent_settings", agent), AGENT | changes)
    agent.refresh_from_db()
    return response


def test_tools_are_chosen_from_three_families(web: Client, alice: User, bob: User) -> None:
    Tool.from_source(alice, SOURCE)
    Tool.from_source(bob, SOURCE.replace("roll_dice", "bobs_dice"))
    agent = Agent.create(alice, "Tasks", classes.TaskMemory())
    page = shown(web.get(at("agent_settings", agent)))
    for words in ("Built in", "From its memory class, TaskMemory", "Your own", "Roll dice."):
        assert words in page
    assert "bobs_dice" not in page
    chosen = ["archival_memory_search", "task_queue_pop", "roll_dice"]
    assert configure(web, agent, tools=chosen).status_code == 302
    assert agent.tools == chosen
    response = configure(web, agent, tools=["bobs_dice"])
    assert "bobs_dice is not one of the available choices" in shown(response, 422)
    assert agent.tools == chosen


def rules(*rows: tuple[str, str, str, str]) -> dict[str, list[str]]:
    parts = ("tool", "type", "children", "most")
    return {
        f"tool_rules-{part}": list(column)
        for part, column in zip(parts, zip(*rows, strict=True), strict=True)
    }


TOOLS = ["core_memory_append", "core_memory_replace"]


def test_tool_rules_are_set_a_row_each(web: Client, agent: Agent) -> None:
    given = rules(
        ("core_memory_append", "run_first", "", ""),
        ("core_memory_append", "constrain_child_tools", " core_memory_replace , ", ""),
        ("", "exit_loop", "", ""),
        ("core_memory_replace", "max_count_per_step", "", "2"),
        ("core_memory_replace", "requires_approval", "ignored", "3"),
    )
    assert configure(web, agent, tools=TOOLS, **given).status_code == 302
    append, replace = TOOLS
    assert agent.tool_rules == [
        {"tool_name": append, "type": "run_first"},
        {"tool_name": append, "type": "constrain_child_tools", "children": [replace]},
        {"tool_name": replace, "type": "max_count_per_step", "max_count_limit": 2},
        {"tool_name": replace, "type": "requires_approval"},
    ]
    page = web.get(at("agent_settings", agent)).content.decode()
    assert page.count('class="rule"') == 5  # and an empty one
    assert f'value="{replace}"' in page
    again = rules(("", "exit_loop", "", ""))
    configure(web, agent, tools=TOOLS, **again)
    assert agent.tool_rules == []


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            ("send_message", "exit_loop", "", ""),
            "A rule names the tool 'send_message', which the agent does not have.",
        ),
        (
            ("core_memory_append", "constrain_child_tools", " , ", ""),
            "The rule for what follows core_memory_append needs a list of tools as 'children'.",
        ),
        (
            ("core_memory_append", "constrain_child_tools", "nope", ""),
            "A rule names the tool 'nope', which the agent does not have.",
        ),
        (
            ("core_memory_append", "max_count_per_step", "", "²"),
            "core_memory_append needs a number of calls, 1 or more, as 'max_count_limit'.",
        ),
        (
            ("core_memory_append", "max_count_per_step", "", ""),
            "core_memory_append needs a number of calls, 1 or more, as 'max_count_limit'.",
        ),
        (("core_memory_append", "dance", "", ""), "There is no tool rule 'dance'"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_in_words(
    row: tuple[str, str, str, str], words: str, web: Client, agent: Agent
) -> None:
    response = configure(web, agent, tools=TOOLS, **rules(row))
    assert words in shown(response, 422)
    assert agent.tool_rules == []
    if row[2].strip(" ,"):
        assert row[2] in response.content.decode()


def test_a_rule_for_a_tool_that_is_gone_is_shown_and_can_be_left_out(
    web: Client, agent: Agent
) -> None:
    agent.configure(tool_rules=[{"tool_name": "gone", "type": "exit_loop"}])
    assert (
        '<option value="gone" selected>gone</option>'
        in web.get(at("agent_settings", agent)).content.decode()
    )


def test_reflection_and_window_are_set_and_bounded(web: Client, agent: Agent) -> None:
    assert configure(web, agent, reflect_every="5", context_window="1000").status_code == 302
    assert (agent.reflect_every, agent.context_window) == (5, 1000)
    page = shown(configure(web, agent, reflect_every="0", context_window="999"), 422)
    assert "greater than or equal to 1." in page
    assert "greater than or equal to 1000." in page
    configure(web, agent)
    assert (agent.reflect_every, agent.context_window) == (None, None)


def test_how_the_model_is_asked_is_set_in_the_page(web: Client, agent: Agent) -> None:
    typed = {
        "model_settings-temperature": "0.5",
        "model_settings-max_output_tokens": " 900 ",
        "model_settings-reasoning_effort": "low",
        "model_settings-parallel_tool_calls": "no",
        "model_settings-response_format": '{"type": "json_object"}',
    }
    assert configure(web, agent, **typed).status_code == 302
    assert agent.model_settings == {
        "temperature": 0.5,
        "max_output_tokens": 900,
        "reasoning_effort": "low",
        "parallel_tool_calls": False,
        "response_format": {"type": "json_object"},
    }
    page = web.get(at("agent_settings", agent)).content.decode()
    assert 'value="900"' in page
    assert '<option value="low" selected>' in page
    for wrong, words in (("7", "temperature must be a number from 0 to 2"), ("hot", "be read")):
        refused = configure(web, agent, **typed | {"model_settings-temperature": wrong})
        assert refused.status_code == 422
        assert words in refused.content.decode()
    assert agent.model_settings["temperature"] == 0.5
    configure(web, agent)
    assert agent.model_settings == {}


def test_who_may_define_endpoints_is_led_there_from_the_demo_model(
    client: Client, agent: Agent, settings: Any
) -> None:
    settings.ACCOUNTS = True
    endpoint = reverse("admin:agents_modelendpoint_add")
    page = reverse("agent", args=[agent.pk])
    client.force_login(agent.owner)
    seen = client.get(page).content.decode()
    assert "An administrator can define" in seen
    assert endpoint not in seen
    User.objects.filter(pk=agent.owner_id).update(is_staff=True, is_superuser=True)
    assert endpoint in client.get(page).content.decode()
