"""Agent files by the API: exported, imported with all their options, and refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings

from agents.api.notes import HEADER
from agents.memory.classes import BasicBlockMemory
from agents.models import Agent, Conversation, Editor, Passage, Tool
from agents.models.secrets import decrypted
from tests.conftest import Ask
from tests.support.addresses import everything
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI, calls, text

FILES = Path(__file__).parents[1] / "support" / "agent_files"
LOOK_UP = '''def look_up_book(title: str) -> str:
    """Another one.

    Args:
        title: The title.
    """
    return title
'''


def upload(
    api: Api, raw: bytes | str | None = None, *, expect: int = 200, query: str = "", **more: Any
) -> Any:
    """Import a file, as the SDKs send it: a form with the file and the options."""
    raw = (FILES / "single.af").read_bytes() if raw is None else raw
    content = raw.encode() if isinstance(raw, str) else raw
    response = api.client.post(
        f"/v1/agents/import{query}",
        {"file": SimpleUploadedFile("agent.af", content)} | more,
        headers=api.headers,
    )
    assert response.status_code == expect, response.content[:2000]
    return response.json()


def wrong(api: Api, raw: bytes | str | None = None, **more: Any) -> str:
    """Why an import is refused; nothing may have been stored."""
    before = everything()
    said = upload(api, raw, expect=422, **more)["detail"]
    after = everything()
    for tokens in (before, after):  # its last use
        del tokens["agents.Token"]
    assert after == before
    assert said[0]["loc"][0] == "body"
    return f"{said[0]['loc'][-1]}: {said[0]['msg']}"


# -- imported --------------------------------------------------------------------------------------


def test_an_import_answers_with_ids_the_first_agent_and_notes(api: Api, alice: User) -> None:
    made = upload(api)
    assert made["agent_ids"] == [made["id"]]
    assert made["name"] == "librarian_copy"
    assert [tool["name"] for tool in made["tools"]][-1] == "look_up_book"
    assert [block["label"] for block in made["memory"]["blocks"]] == ["human", "persona"]
    assert any("CATALOGUE_KEY" in note for note in made["notes"])
    again = api.get(f"/agents/{made['id']}")
    assert again == {name: value for name, value in made.items() if name in again}
    agent = Agent.objects.get()
    assert (agent.owner, agent.messages.count()) == (alice, 10)


def test_each_option_of_an_import_has_its_effect(api: Api, model: FakeOpenAI) -> None:
    model.models.append("gpt-5")
    made = upload(
        api,
        name="Branch library",
        strip_messages="true",
        model="openai/gpt-5",
        embedding="openai/text-embedding-3-large",
        secrets='{"KEY": "x"}',
        project_id="p-1",
    )
    assert (made["name"], made["model"]) == ("Branch library", "openai/gpt-5")
    assert made["embedding"] == "openai/text-embedding-3-large"
    assert not Agent.objects.get().messages.exists()
    assert any(note.startswith("The project was not imported") for note in made["notes"])
    assert [each["key"] for each in made["secrets"]] == ["CATALOGUE_KEY", "KEY"]


@pytest.mark.parametrize("field", ["secrets", "env_vars_json"])
def test_the_values_of_a_files_variables_come_with_the_import(api: Api, field: str) -> None:
    values: Any = {field: '{"CATALOGUE_KEY": "swordfish", "OTHER": "o"}'}
    made = upload(api, **values)
    assert [each["key"] for each in made["secrets"]] == ["CATALOGUE_KEY", "OTHER"]
    assert not any("CATALOGUE_KEY" in note for note in made["notes"])
    assert "swordfish" not in json.dumps(made)
    stored = Agent.objects.get().secrets
    assert decrypted(stored) == {"CATALOGUE_KEY": "swordfish", "OTHER": "o"}
    again = upload(api, json.dumps(api.get(f"/agents/{made['id']}/export")))
    assert again["secrets"] == []
    assert any("'CATALOGUE_KEY', 'OTHER'" in note for note in again["notes"])


@pytest.mark.parametrize(
    "sent", ["x", "[]", '{"A": 1}', '{"A B": "swordfish"}', '{"A": "\\ud800"}']
)
def test_values_that_cannot_be_are_refused_without_being_repeated(api: Api, sent: str) -> None:
    assert "swordfish" not in wrong(api, secrets=sent)


def test_older_names_of_the_options_mean_the_same(api: Api, model: FakeOpenAI) -> None:
    model.models.append("gpt-5")
    older = upload(
        api,
        override_name="Older",
        override_model_handle="openai/gpt-5",
        override_embedding_handle="openai/small",
    )
    assert (older["name"], older["model"], older["embedding"]) == (
        "Older",
        "openai/gpt-5",
        "openai/small",
    )
    api.headers["x-override-embedding-model"] = "openai/large"
    query = "?append_copy_suffix=false&strip_messages=true"
    oldest = upload(api, query=query)
    assert (oldest["name"], oldest["embedding"]) == ("librarian", "openai/large")
    assert not Agent.objects.get(name="librarian").messages.exists()
    assert upload(api, query=query, append_copy_suffix="true")["name"] == "librarian_copy"


def test_a_tool_that_is_there_gets_the_files_source_or_stays(api: Api, alice: User) -> None:
    own = Tool.from_source(alice, LOOK_UP)
    beside = upload(api, override_existing_tools="false")
    assert [tool["name"] for tool in beside["tools"]][-1] == "look_up_book_2"
    own.refresh_from_db()
    assert own.source == LOOK_UP
    over = upload(api)
    assert over["tools"][-1]["id"] == f"tool-{own.pk}"
    assert any("now has the source from the file" in note for note in over["notes"])
    own.refresh_from_db()
    assert own.source != LOOK_UP


def test_several_agents_of_one_file_are_all_told_of(api: Api) -> None:
    file = json.loads((FILES / "lists.af").read_text())
    file["agents"].append(file["agents"][0] | {"id": "agent-9", "name": "second"})
    upload(api, json.dumps(file))
    assert Agent.objects.filter(name="second_copy").exists()
    Agent.objects.all().delete()
    made = upload(api, json.dumps(file), name="All")
    assert len(made["agent_ids"]) == Agent.objects.count() == 3
    assert api.get(f"/agents/{made['agent_ids'][2]}")["name"] == "second"
    assert any("name was not used" in note for note in made["notes"])


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("no json", "file: This is not an agent file: it is not JSON"),
        ("", "file: This is not an agent file"),
        ("[1]", "file: The file should be an object"),
        (b"\xff\xfe", "file: This is not an agent file: it is not text"),
        ('{"agents": []}', "file: The file has 0 agents"),
    ],
)
def test_what_is_no_agent_file_is_refused(api: Api, raw: bytes | str, said: str) -> None:
    assert wrong(api, raw).startswith(said)


def test_what_is_no_such_form_is_refused(api: Api) -> None:
    assert wrong(api, name="x" * 101).startswith("name: ")
    assert wrong(api, strip_messages="perhaps").startswith("strip_messages: ")
    api.post("/agents/import", {"file": "x"}, expect=415)

    def posted(body: bytes, boundary: str) -> Any:
        kind = f"multipart/form-data{boundary}"
        address = "/v1/agents/import"
        return api.client.post(address, body, content_type=kind, headers=api.headers)

    missing = posted(b"--x--\r\n", "; boundary=x")
    assert (missing.status_code, missing.json()["detail"][0]["loc"]) == (422, ["body", "file"])
    assert posted(b"x", "").status_code == 400


def test_a_page_from_elsewhere_cannot_upload(api: Api, settings: Settings) -> None:
    settings.ACCOUNTS = False
    api.headers = {"origin": "https://evil.example"}
    assert "Pages of other sites" in upload(api, expect=403)["detail"]
    assert not Agent.objects.exists()


def test_an_import_needs_the_scope_for_what_it_brings(api: Api, alice: User) -> None:
    assert "'write'" in upload(Api(alice, ["read", "tools"]), expect=403)["detail"]
    writes = Api(alice, ["write"])
    assert "'tools'" in upload(writes, expect=403)["detail"]
    assert not Agent.objects.exists()
    assert not Tool.objects.exists()
    upload(api)
    assert upload(writes)["name"] == "librarian_copy"  # its tool is there, as it is


# -- exported --------------------------------------------------------------------------------------


def test_what_is_exported_is_imported_again(
    api: Api, agent: Agent, ask: Ask, model: FakeOpenAI
) -> None:
    append = ("core_memory_append", {"label": "human", "content": "Likes pie"})
    model.script(calls(append), text("I made a note"))
    ask("I like pie")
    Passage.insert(agent, "Pies are round", by=Editor.person(agent.owner))
    address = f"/agents/agent-{agent.pk}"
    file = api.get(f"{address}/export")
    assert set(file) >= {"agents", "blocks", "tools", "memoryweb"}
    assert api.last.headers["Content-Disposition"] == 'attachment; filename="tutor.af"'
    made = upload(api, json.dumps(file), append_copy_suffix="false")
    again = f"/agents/{made['id']}"
    assert made["notes"] == []
    assert made["system"] == api.get(address)["system"]
    for part in ("core-memory", "messages", "archival-memory"):
        first, second = (texts(api.get(f"{each}/{part}")) for each in (address, again))
        assert first == second
        assert first
    twice = upload(api, json.dumps(json.dumps(file)))  # as 1.x gives it: a text, dumped again
    assert twice["name"] == "Tutor_copy"


def texts(found: Any) -> list[Any]:
    rows = found["blocks"] if isinstance(found, dict) else found
    return [row.get("value") or row.get("text") or row.get("content") for row in rows]


def test_an_export_can_leave_out_all_that_was_said(
    api: Api, agent: Agent, ask: Ask, model: FakeOpenAI
) -> None:
    model.script(text("A riddle of mine"))
    ask("A riddle of yours")
    run = agent.first_conversation.last_run()
    assert run
    agent.first_conversation.compactions.create(
        run=run, first=1, last=1, tokens_before=9, tokens_after=3, summary="A riddle told before"
    )
    agent.conversations.update(context_from=2)
    address = f"/agents/agent-{agent.pk}/export"
    assert json.dumps(api.get(address)).count("riddle") > 2
    file = api.get(f"{address}?scrub_messages=true")
    assert "riddle" not in json.dumps(file)
    assert file["agents"][0]["in_context_message_ids"] == ["message-0"]
    made = upload(api, json.dumps(file))
    assert made["notes"] == []
    assert made["memory"]["blocks"][0]["value"] == agent.core_memory()[0].value


def test_one_conversation_is_exported_and_of_several_it_is_said(
    api: Api, agent: Agent, ask: Ask
) -> None:
    ask("In the first")
    second = Conversation.create(agent)
    second.post_first_messages([("user", "In the second")])
    address = f"/agents/agent-{agent.pk}/export"
    both = json.dumps(api.get(address))
    assert "Give conversation_id" in api.last.headers[HEADER]
    one = json.dumps(api.get(f"{address}?conversation_id=conv-{second.pk}"))
    assert HEADER not in api.last.headers
    assert ["In the first" in each for each in (both, one)] == [True, False]
    assert "In the second" in one
    first = json.dumps(api.get(f"{address}?conversation_id=default"))
    assert "In the second" not in first
    assert "In the first" in first


def test_what_cannot_be_exported_so_is_refused(api: Api, agent: Agent, bob: User) -> None:
    address = f"/agents/agent-{agent.pk}/export"
    said = api.get(f"{address}?use_legacy_format=true", expect=422)["detail"][0]
    assert said["loc"] == ["body", "use_legacy_format"]
    other = Agent.create(agent.owner, "Other", BasicBlockMemory())
    api.get(f"{address}?conversation_id=conv-{other.pk}", expect=404)
    assert api.get(f"{address}?max_steps=3&use_legacy_format=false")["agents"]
    Api(bob).get(address, expect=404)
    Api(agent.owner, ["write"]).get(address, expect=403)
    Api(agent.owner, ["read"]).get(address)
