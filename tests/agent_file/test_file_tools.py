"""Agent files: the tools they bring, and their rules."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from agents.agent_file import export_agent, import_agent
from agents.agent_file.toolset import renamed
from agents.models import Agent, Tool
from tests.support.agent_file_samples import SOURCE, noted, sample, small_file


def test_tools_that_can_be_used_are_taken_and_the_others_named(alice: User) -> None:
    imported = import_agent(alice, sample("lists.af"))
    assert imported.agent.tools == ["weather", "memory_insert", "run_code"]
    assert [tool.name for tool in Tool.objects.filter(owner=alice)] == ["weather"]
    assert noted(imported.notes, "pack", "typescript")
    assert noted(imported.notes, "fetch", "requests")
    assert noted(imported.notes, "'odd' was not imported", "no docstring")
    assert imported.agent.tool_rules == [
        {"tool_name": "weather", "type": "max_count_per_step", "max_count_limit": 3},
        {
            "tool_name": "weather",
            "type": "conditional",
            "child_output_mapping": {"Rain": "memory_insert"},
        },
    ]
    assert noted(imported.notes, "'run_first' for 'fetch'")


def test_rules_are_taken_over_by_the_names_that_tools_have_here(alice: User) -> None:
    file = sample("lists.af")
    Tool.from_source(alice, SOURCE.replace("look_up_book", "weather"))
    rules = file["agents"][0]["tool_rules"]
    rules[:] = [
        {"tool_name": "memory_insert", "type": "required_before_exit"},
        {"tool_name": "memory_insert", "type": "parent_last_tool", "children": ["weather"]},
        {
            "tool_name": "weather",
            "type": "conditional",
            "child_output_mapping": {"weather": "weather"},
            "default_child": "memory_insert",
            "require_output_mapping": True,
        },
        {
            "tool_name": "weather",
            "type": "constrain_child_tools",
            "children": ["weather"],
            "child_arg_nodes": [{"name": "weather", "args": {"city": "Oslo"}}],
        },
        {"tool_name": "weather", "type": "conditional", "child_output_mapping": {"x": 3}},
        {"tool_name": "weather", "type": "dance"},
    ]
    imported = import_agent(alice, file)
    assert imported.agent.tool_rules == [
        {"tool_name": "memory_insert", "type": "required_before_exit"},
        {"tool_name": "memory_insert", "type": "parent_last_tool", "children": ["weather_2"]},
        {
            "tool_name": "weather_2",
            "type": "conditional",
            "child_output_mapping": {"weather": "weather_2"},
            "default_child": "memory_insert",
            "require_output_mapping": True,
        },
        {"tool_name": "weather_2", "type": "constrain_child_tools", "children": ["weather_2"]},
    ]
    assert noted(imported.notes, "arguments", "'constrain_child_tools' for 'weather'")
    assert noted(imported.notes, "'conditional' for 'weather' was not imported")
    assert noted(imported.notes, "'dance'", "do not exist here")


def test_reading_the_same_file_again_uses_the_same_tool(alice: User) -> None:
    for _ in range(2):
        imported = import_agent(alice, sample("single.af"))
        assert imported.agent.tools[-1] == "look_up_book"
    assert Tool.objects.filter(owner=alice).count() == 1


def test_another_tool_of_that_name_is_left_alone(alice: User, bob: User) -> None:
    own = Tool.from_source(alice, SOURCE)
    imported = import_agent(alice, sample("single.af"))
    assert imported.agent.tools[-1] == "look_up_book_2"
    assert noted(imported.notes, "'look_up_book' is called 'look_up_book_2'")
    own.refresh_from_db()
    assert own.source == SOURCE
    assert import_agent(bob, sample("single.af")).agent.tools[-1] == "look_up_book"
    over = import_agent(alice, sample("single.af"), overwrite_tools=True)
    assert over.agent.tools[-1] == "look_up_book"
    own.refresh_from_db()
    assert "second floor" in own.source


def test_a_tool_that_other_agents_use_is_never_changed(alice: User) -> None:
    own = Tool.from_source(alice, SOURCE)
    Agent.objects.create(owner=alice, name="Librarian", tools=["look_up_book"])

    over = import_agent(alice, sample("single.af"), overwrite_tools=True)

    own.refresh_from_db()
    assert own.source == SOURCE
    assert over.agent.tools[-1] == "look_up_book_2"
    assert noted(over.notes, "'look_up_book_2'", "other agents use a tool of that name", "left as")


def test_a_tool_without_docstring_is_taken_with_the_schema_that_came_along(alice: User) -> None:
    given = small_file()
    title = {"type": "string", "description": "Which"}
    given["tools"][0] |= {
        "name": "find",
        "tool_type": "custom",
        "source_type": "python",
        "source_code": "def find(title):\n    return title",
        "json_schema": {
            "name": "find",
            "description": "Finds books",
            "parameters": {"type": "object", "properties": {"title": title}, "required": ["title"]},
        },
    }

    imported = import_agent(alice, given)

    tool = Tool.objects.get(owner=alice, name="find")
    assert tool.description == "Finds books"
    assert tool.json_schema["parameters"]["properties"] == {"title": title}
    assert imported.agent.tools == ["find"]
    assert noted(imported.notes, "'find'", "the schema in the file is used")
    again = import_agent(alice, export_agent(imported.agent)).agent
    assert again.tools == ["find"]
    assert Tool.objects.filter(owner=alice).count() == 1


def test_a_tool_that_is_named_like_a_built_in_one_is_renamed(alice: User) -> None:
    file = sample("single.af")
    file["tools"][-1]["name"] = "send_message"
    file["tools"][-1]["source_code"] = SOURCE.replace("look_up_book", "send_message")
    imported = import_agent(alice, file)
    assert "send_message_2" in imported.agent.tools
    assert noted(imported.notes, "send_message_2")


def test_a_function_is_renamed_where_it_calls_itself_and_not_in_texts() -> None:
    changed = renamed(SOURCE.replace("Look a book up", "Call look_up_book"), "look_up_book", "find")
    assert "def find(title" in changed
    assert "else find(title[1:])" in changed
    assert "Call look_up_book" in changed


@pytest.mark.parametrize("kind", ["letta_core", "letta_memory_core", "letta_sleeptime_core"])
def test_a_tool_of_a_server_stays_built_in_though_its_source_is_in_the_file(
    kind: str, alice: User
) -> None:
    given = small_file()
    source = SOURCE.replace("look_up_book", "send_message")
    given["tools"][0] |= {"name": "send_message", "source_code": source, "tool_type": kind}
    assert import_agent(alice, given, overwrite_tools=True).agent.tools == ["send_message"]
    given["tools"][0] |= {"name": "teleport"}
    imported = import_agent(alice, given)
    assert imported.agent.tools == []
    assert noted(imported.notes, "teleport", "part of the server")
    assert not Tool.objects.exists()


def test_a_tool_of_letta_that_does_not_work_here_is_taken_and_named(alice: User) -> None:
    given = small_file()
    given["tools"][0] |= {
        "name": "open_files",
        "source_code": None,
        "tool_type": "letta_files_core",
    }
    imported = import_agent(alice, given)
    assert imported.agent.tools == ["open_files"]
    assert noted(imported.notes, "not set up on this server", "open_files")


def test_no_file_takes_the_approval_from_a_tool_that_needs_it(alice: User) -> None:
    Tool.from_source(alice, SOURCE, default_requires_approval=True)
    given = small_file()
    given["tools"][0] |= {
        "source_code": SOURCE.replace("Look a", "See a"),
        "default_requires_approval": False,
    }
    import_agent(alice, given, overwrite_tools=True)
    assert "See a" in Tool.objects.get().source
    assert Tool.objects.get().default_requires_approval
