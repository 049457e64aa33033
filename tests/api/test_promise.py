"""No field is dropped in silence: each that `letta-client` can send acts or is returned, or is
refused by name (422), or is named in the answer's header `Memoryweb-Notes`.

The fields are read off the types of the real client (`tests/support/letta_fields.py`). That a field
acts is said in `ACTS`, with the test that shows it.
"""

from __future__ import annotations

import importlib
import json
import re
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pydantic import BaseModel

from agents.api import ids
from agents.api.notes import HEADER, Refused, Unused
from agents.api.urls import api as document
from agents.models import Agent, Conversation, Run, Step
from agents.runs import engine
from tests.support.api_client import ADD, Api
from tests.support.letta_acting import ACTS
from tests.support.letta_document import between, table
from tests.support.letta_fields import FILE

CLIENT = json.loads(FILE.read_text())
TYPES = CLIENT["types"]
SAMPLES = {"text": "sample", "integer": 1001, "number": 0.5, "flag": True, "object": {"k": "v"}}
DEEPEST = 4
Operation = dict[str, Any]
Field = tuple[str, Any]  # its path, and the object or value that is sent for the first name of it


# -- what can be sent ------------------------------------------------------------------------------


def sample(shape: Any) -> Any:
    """A value of a shape; of an object, what it needs."""
    match shape:
        case {"one_of": values}:
            return values[-1]
        case {"any": shapes}:
            return sample(shapes[0])
        case {"list": each}:
            return [sample(each)]
        case str() if shape in SAMPLES:
            return SAMPLES[shape]
    kind = TYPES[shape]
    needed = {name: sample(kind["fields"][name]) for name in kind["needed"]}
    tag = kind["fields"].get("type") or kind["fields"].get("provider_type")
    named = "type" if "type" in kind["fields"] else "provider_type"
    return ({named: sample(tag)} if tag else {}) | needed


def fields(shape: Any, path: str, depth: int = 0) -> Iterator[Field]:
    """Each field of a shape, also those inside, with a value that has it."""
    match shape:
        case {"any": shapes}:
            for each in shapes:
                yield from fields(each, path, depth)
        case {"list": each}:
            for inner, value in fields(each, path, depth):
                yield inner, [value]
        case str() if shape in TYPES and depth < DEEPEST:
            whole = sample(shape)
            for name, inside in TYPES[shape]["fields"].items():
                for inner, value in fields(inside, f"{path}.{name}", depth + 1):
                    yield inner, whole | {name: value}
        case _:
            yield path, sample(shape)


def leaves(sent: dict[str, Any]) -> list[Field]:
    """Each field once, by its path."""
    found = [each for name, shape in sent.items() for each in fields(shape, name)]
    return list({path: (path, value) for path, value in reversed(found)}.values())


PATHS = document.get_openapi_schema(path_prefix="/v1/")["paths"]


def known(method: str, path: str) -> str:
    """The operation's address on this server, with its names for ids; "" where there is none."""
    for template, operations in PATHS.items():
        same = re.sub(r"\{\w+\}", "{id}", template.removeprefix("/v1")).rstrip("/")
        if same == path.rstrip("/") and method.lower() in operations:
            return str(template.removeprefix("/v1"))
    return ""


OPERATIONS = [each for each in CLIENT["operations"] if known(each["method"], each["path"])]


# -- who is there to ask ---------------------------------------------------------------------------


class World:
    """One of each thing that an address can name."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.tool = api.put("/tools/", {"source_code": ADD})["id"]
        self.block = api.post("/blocks/", {"label": "spare"})["id"]
        self.agent = ""

    def names(self, method: str, template: str) -> dict[str, str]:
        if not self.agent or method == "PATCH":  # what was changed before may be in the way
            blocks = [{"label": "human", "value": "Bob"}]
            made = self.api.post("/agents/", {"memory_blocks": blocks, "tool_ids": [self.tool]})
            self.agent = made["id"]
        agent = Agent.objects.get(pk=self.agent.removeprefix("agent-"))
        run = agent.runs.first() or agent.send("Hi", "first")
        agent.runs.exclude(status=Run.Status.DONE).update(status=Run.Status.DONE)
        conversation = Conversation.create(agent)
        goes_on = Run.Status.RUNNING if template.endswith("/cancel") else Run.Status.DONE
        of = {"agent": agent, "conversation": conversation, "text": "Hi", "status": goes_on}
        Run.objects.create(**of, key=f"k-{conversation.pk}")
        step = run.steps.first() or Step.objects.create(run=run, number=1, model="m", endpoint="e")
        return {
            "agent_id": self.agent,
            "archive_id": f"archive-{agent.pk}",
            "conversation_id": f"conv-{conversation.pk}",
            "block_id": self.block,
            "block_label": "human",
            "tool_id": self.tool,
            "tool_name": "add",
            "run_id": ids.numbered("run", run.pk),
            "step_id": ids.numbered("step", step.pk),
        }


BODIES: dict[str, Any] = {
    "POST /blocks/": {"label": "b"},
    "PUT /tools/": {"source_code": ADD},
    "POST /agents/{id}/archival-memory": {"text": "x"},
    "POST /archives/{id}/passages": {"text": "x"},
    "POST /archives/{id}/passages/batch": {"passages": [{"text": "x"}]},
    "POST /agents/{id}/messages": {"input": "x"},
    "POST /agents/{id}/messages/stream": {"input": "x"},
    "POST /agents/{id}/messages/async": {"input": "x"},
    "POST /conversations/{id}/messages": {"input": "x"},
    "PATCH /agents/{id}/tools/approval/{id}": {"requires_approval": True},
    "POST /agents/{id}/schedule": {
        "messages": [{"role": "user", "content": "x"}],
        "schedule": {"type": "recurring", "cron_expression": "0 9 * * *"},
    },
}
QUERIES: dict[str, Any] = {"GET /agents/{id}/archival-memory/search": {"query": "x"}}


def name_of(operation: Operation) -> str:
    return f"{operation['method']} {operation['path']}"


# -- the promise -----------------------------------------------------------------------------------


@pytest.fixture
def world(api: Api, monkeypatch: pytest.MonkeyPatch) -> World:
    """Runs end as soon as they begin: what a request says is read by then."""
    monkeypatch.setattr(engine, "submit", lambda run: run.end(Run.Reason.ANSWERED))
    return World(api)


def silence(world: World, operation: Operation, part: str, field: Field) -> str:
    """What is wrong with the answer to a request with a field; "" where the promise is kept."""
    path, value = field
    top, name = path.split(".")[0], name_of(operation)
    template = known(operation["method"], operation["path"])
    address = template.format(**world.names(operation["method"], template))
    sent = dict(BODIES.get(name, {})) if part == "body" else dict(QUERIES.get(name, {}))
    if name == "POST /tools/":
        sent["source_code"] = ADD.replace("add", f"add_{secrets.token_hex(4)}")
    if top == "messages" or (top == "input" and "input" in sent):
        sent.pop("input", None)
    if path:
        sent[top] = value
    response = ask(world.api, operation["method"], address, part, sent)
    said = response.content if not response.streaming else b"".join(response)
    if response.status_code >= 500 or (response.status_code >= 400 and not path):
        return f"{name}: {path} → {response.status_code} {said[:200]!r}"
    if not path:
        return ""
    if response.status_code >= 400:  # of what is inside an object, nothing at all was taken
        refused = "." in path or any(each in said.decode() for each in (top, "sample", "source"))
        return "" if refused else f"{name}: {path} → {response.status_code} {said[:200]!r}"
    noted = re.split(r"[\s,]+", response.headers.get(HEADER, "").replace(". ", " ").rstrip("."))
    if any(path == each or path.startswith(f"{each}.") for each in noted):
        return ""
    if echoed(said, path, value) or acts(name, path):
        return ""
    return f"{name}: {path} = {json.dumps(value)[:80]}"


def ask(api: Api, method: str, address: str, part: str, sent: dict[str, Any]) -> Any:
    query = {}
    if (method, address) == ("POST", "/conversations/"):
        query = {"agent_id": [f"agent-{Agent.objects.latest('created_at').pk}"]}
    if part == "query":
        query |= {n: [str(v) for v in (e if isinstance(e, list) else [e])] for n, e in sent.items()}
    if method == "GET":
        return api.client.get(f"/v1{address}", query, headers=api.headers)
    return api.client.generic(
        method,
        f"/v1{address}",
        json.dumps(sent if part == "body" else {}),
        content_type="application/json",
        headers=api.headers,
        query_params=query,
    )


def echoed(said: bytes, path: str, value: Any) -> bool:
    """Whether the answer has the value where the request had it."""
    try:
        answer = json.loads(said)
    except ValueError:
        return False
    for name in path.split("."):
        while isinstance(answer, list) and answer:
            answer = answer[-1]
        while isinstance(value, list) and value and isinstance(value[0], dict):
            value = value[0]
        if not isinstance(answer, dict) or name not in answer:
            return False
        answer = answer[name]
        value = value[name] if isinstance(value, dict) and name in value else value
    return bool(answer == value)


def acts(operation: str, path: str) -> bool:
    """Whether a test is named that shows that the field acts."""
    return any(re.fullmatch(pattern, f"{operation} {path}") for pattern in ACTS)


@pytest.mark.parametrize("operation", OPERATIONS, ids=name_of)
def test_no_field_of_letta_is_dropped_in_silence(world: World, operation: Operation) -> None:
    if operation["path"] == "/agents/import":
        pytest.skip("a form; see test_an_unknown_field_of_a_form_is_named")
    part = "query" if operation["method"] == "GET" else "body"
    assert not silence(world, operation, part, ("", None)), "the request alone is answered"
    dropped = [
        wrong
        for part in ("body", "query")
        for field in leaves(operation.get(part, {}))
        if (wrong := silence(world, operation, part, field))
    ]
    assert not dropped, "\n".join(dropped)


def test_each_field_that_acts_names_a_test_that_there_is() -> None:
    for pattern, test in ACTS.items():
        module, _, function = test.partition("::")
        assert hasattr(importlib.import_module(module), function), (pattern, test)


# -- what is said of a field -----------------------------------------------------------------------


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
