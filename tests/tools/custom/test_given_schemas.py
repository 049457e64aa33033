"""Tools whose schema a script sent: sources without docstrings and types, objects as classes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from pydantic import BaseModel, Field

from agents.models import Agent, Tool
from agents.tools import ToolError
from agents.tools.custom import from_row


class Item(BaseModel):
    sku: str
    price: float = Field(description="In dollars", ge=0)


class Entry(BaseModel):
    item: Item
    places: list[str] = []
    spare: Item | None = None


class Inventory(BaseModel):
    data: Entry
    quantity_change: int = Field(1, description="How many more.")


BARE = """
def inventory(data, quantity_change=5):
    names = [data.item.sku, data.spare.sku if data.spare else "none", *data.places]
    return {"names": names, "change": quantity_change, "dump": data.item.model_dump()}
"""
OBJECT: dict[str, Any] = {"type": "object"}


def made(owner: User, source: str, schema: dict[str, Any], **more: Any) -> Tool:
    return Tool.from_source(owner, source, given_schema=schema, **more)


def returned(tool: Tool, agent: Agent, **arguments: Any) -> str:
    custom = from_row(tool)
    prepared = custom.prepare(agent, custom.parse(json.dumps(arguments)))
    assert not prepared.error
    return prepared.returned


def test_a_source_without_docstring_and_types_takes_both_from_the_schema(
    alice: User, agent: Agent
) -> None:
    tool = made(alice, BARE, Inventory.model_json_schema(), given_description="Count things")

    assert (tool.name, tool.description) == ("inventory", "Count things")
    assert tool.json_schema["parameters"]["properties"]["data"]["properties"]["item"] == {
        "type": "object",
        "properties": {
            "sku": {"type": "string"},
            "price": {"type": "number", "description": "In dollars", "minimum": 0},
        },
        "required": ["sku", "price"],
    }
    data = {"item": {"sku": "a1", "price": 2}, "places": ["left", "right"]}
    assert json.loads(returned(tool, agent, data=data, quantity_change=3)) == {
        "names": ["a1", "none", "left", "right"],
        "change": 3,
        "dump": {"sku": "a1", "price": 2},
    }


def test_what_the_model_leaves_out_is_the_functions_own_default(alice: User, agent: Agent) -> None:
    tool = made(alice, BARE, Inventory.model_json_schema())

    assert tool.description == "The inventory tool"
    data = {"item": {"sku": "a1", "price": 2}, "spare": {"sku": "b2", "price": 1}}
    ran = json.loads(returned(tool, agent, data=data))
    assert (ran["change"], ran["names"]) == (5, ["a1", "b2"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"data": {"item": {"sku": "a", "price": -1}}}, r"at \['data'\]\['item'\]\['price'\]"),
        ({"data": {"item": {"sku": 3, "price": 1}}}, "is not of type 'string'"),
        ({"data": {"item": {"price": 1}}}, "the argument 'data.item.sku' is missing"),
        ({"data": 3}, "the argument 'data'"),
        ({}, "the argument 'data' is missing"),
        ({"data": {"item": {"sku": "a", "price": 1}}, "x": 1}, "there is no argument 'x'"),
    ],
)
def test_arguments_have_to_fit_the_schema(
    arguments: dict[str, Any], sentence: str, alice: User
) -> None:
    custom = from_row(made(alice, BARE, Inventory.model_json_schema()))

    with pytest.raises(ToolError, match=f"inventory was not called: .*{sentence}"):
        custom.parse(json.dumps(arguments))


def test_a_class_of_the_source_stays_the_class_of_its_argument(alice: User, agent: Agent) -> None:
    source = """
from pydantic import BaseModel

class Item(BaseModel):
    sku: str
    price: float

def count(item: Item, items: "list[Item]"):
    return f"{isinstance(item, Item)} {item.sku} {items[0].price}"
"""
    item = Item.model_json_schema()
    schema = OBJECT | {
        "properties": {"item": item, "items": {"type": "array", "items": item}},
        "required": ["item", "items"],
    }

    tool = made(alice, source, schema)

    one = {"sku": "a", "price": 1.5}
    assert returned(tool, agent, item=one, items=[one]) == "True a 1.5"


def test_what_no_model_fills_in_is_not_in_the_schema(alice: User, agent: Agent) -> None:
    source = "def see(agent_state, label):\n    return agent_state.memory.get_block(label).value"
    text = {"type": "string"}
    schema = OBJECT | {
        "properties": {"label": text, "request_heartbeat": {"type": "boolean"}},
        "required": ["label", "request_heartbeat"],
    }

    tool = made(alice, source, schema)

    assert tool.json_schema["parameters"]["required"] == ["label"]
    assert list(tool.json_schema["parameters"]["properties"]) == ["label"]
    assert returned(tool, agent, label="human") == "Bob"


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        (OBJECT | {"properties": {}}, "does not have the argument 'data'"),
        (OBJECT | {"properties": {"data": {}, "y": {}}}, "the argument 'y', which inventory does"),
        (OBJECT | {"properties": {"data": {"$ref": "#/$defs/X"}}}, "refers to 'X'"),
        (OBJECT | {"properties": {"data": {}}, "required": ["z"]}, "requires 'z'"),
        ({"type": "array"}, "must be of the type object"),
        ({"type": 3}, "not a valid JSON Schema"),
        (
            OBJECT
            | {
                "properties": {"data": {"$ref": "#/$defs/A"}},
                "$defs": {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}},
            },
            "too many parts",
        ),
    ],
)
def test_a_schema_that_does_not_fit_its_function_is_refused_in_words(
    schema: dict[str, Any], sentence: str, alice: User
) -> None:
    with pytest.raises(ValidationError) as refused:
        made(alice, BARE, schema)

    assert sentence in " ".join(refused.value.message_dict["given_schema"])
    assert not Tool.objects.exists()
