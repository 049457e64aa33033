"""A custom tool as it is stored: what its source says of it."""

from __future__ import annotations

import keyword
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from agents import tools
from agents.models import Tool
from agents.models.tool import LONGEST_NAME

from .annotations import SourceError
from .schemas import SchemaError
from .source import read_tool


def read_off(tool: Tool, **_: Any) -> None:
    """Take a tool's name, description and schema from its source.

    ValidationError, by field, where the source is no tool's or the name cannot be used.
    """
    try:
        read = read_tool(tool)
    except SchemaError as error:
        raise ValidationError({"given_schema": str(error)}) from None
    except SourceError as error:
        raise ValidationError({"source": str(error)}) from None
    if problem := name_problem(read.name):
        raise ValidationError({"name": problem})
    tool.name, tool.description, tool.json_schema = read.name, read.description, read.schema


def name_problem(name: str) -> str:
    """Why a tool cannot have this name; "" where it can."""
    if len(name) > LONGEST_NAME:
        words = gettext("'%(name)s' has %(count)s characters; at most %(most)s are allowed.")
        return words % {"name": name, "count": len(name), "most": LONGEST_NAME}
    if not name.isascii() or keyword.iskeyword(name):
        words = gettext("'%(name)s' is not a valid tool name: use letters a to z, digits and '_'.")
        return words % {"name": name}
    if name in tools.reserved():
        words = gettext("'%(name)s' is a built-in tool; give the function another name.")
        return words % {"name": name}
    return ""
