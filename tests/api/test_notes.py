"""What an answer says of fields that did nothing, in the header `Memoryweb-Notes` and the docs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module

from django.core.files.uploadedfile import SimpleUploadedFile
from pydantic import BaseModel

from agents.api.notes import HEADER, Refused, Unused
from tests.support.api_client import Api
from tests.support.letta_document import between, table


def notes(api: Api) -> str:
    return str(api.last.headers.get(HEADER, ""))


def test_fields_without_effect_and_unknown_ones_are_named_apart(api: Api) -> None:
    blocks = [{"label": "human", "hiden": True}]
    given = {
        "max_files_open": 3,
        "project_id": "p",
        "a_field_of_tomorrow": 1,
        "memory_blocks": blocks,
    }
    api.post("/agents/", given)
    assert notes(api) == (
        "No effect: max_files_open, project_id. Unknown: a_field_of_tomorrow, memory_blocks.hiden."
    )
    api.post("/agents/", {"name": "Sam", "max_files_open": None, "project_id": None})
    assert notes(api) == "", "nothing was asked for"


def test_a_field_that_would_change_something_is_refused_by_name(api: Api) -> None:
    for field in ("from_template", "folder_ids", "include_default_source"):
        (wrong,) = api.post("/agents/", {field: ["x"]}, expect=422)["detail"]
        assert wrong["loc"] == ["body", field]
        assert "here" in wrong["msg"]
        api.post("/agents/", {field: None})


def test_unknown_fields_of_a_query_a_form_and_a_request_without_body_are_named(api: Api) -> None:
    api.get("/agents/?limit=1&tags[]=a&colour=blue")
    assert notes(api) == "Unknown: colour."
    agent = api.post("/agents/", {})["id"]
    api.patch(f"/agents/{agent}/reset-messages", {"add_default_initial_messages": True})
    assert notes(api) == "No effect: add_default_initial_messages."
    file = json.dumps(api.get(f"/agents/{agent}/export")).encode()
    form = {"file": SimpleUploadedFile("agent.af", file), "colour": "blue"}
    answer = api.client.post("/v1/agents/import", form, headers=api.headers)
    assert answer.status_code == 200, answer.content
    assert answer.headers[HEADER] == "Unknown: colour."
    api.post("/tools/add-base-tools", {"colour": "blue"})
    assert notes(api) == "Unknown: colour."


def test_a_strange_name_cannot_break_the_header(api: Api) -> None:
    api.post("/agents/", {"a\r\nSet-Cookie: x": 1, "ü" * 500: 1} | {f"x{n}": 1 for n in range(99)})
    assert "\\r\\nSet-Cookie" in notes(api)
    assert notes(api).endswith("and 71 more.")
    assert len(notes(api)) < 1000


def test_from_letta_lists_the_fields_that_do_nothing_here() -> None:
    import_module("agents.api.urls")  # whose operations define the shapes
    kinds = {Unused: "taken, without effect", Refused: "refused (422), unless null or empty"}
    why: dict[tuple[str, str], set[str]] = {}
    for shape in shapes(BaseModel):
        for name, field in shape.model_fields.items():
            for mark in field.metadata:
                if isinstance(mark, Unused | Refused):
                    why.setdefault((kinds[type(mark)], mark.why), set()).add(f"`{name}`")
    rows = [(", ".join(sorted(why[each])), *each) for each in sorted(why)]
    wanted = table(("fields", "here", "because"), rows)
    assert between("fields", wanted) == wanted, "make from-letta writes it"


def shapes(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The shapes of the API."""
    for shape in base.__subclasses__():
        if shape.__module__.startswith("agents.api"):
            yield shape
        yield from shapes(shape)


def test_the_document_says_which_fields_have_no_effect_or_are_refused(api: Api) -> None:
    shown = api.get("/openapi.json")["components"]["schemas"]["NewAgent"]["properties"]
    assert "Has no effect: agents open no files." in shown["max_files_open"]["description"]
    assert "Is refused: there are no templates here." in shown["from_template"]["description"]
