"""Identities by the API: made, changed, found again, and whose agents and blocks they are."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, Block, BlockShare, Identity
from tests.support.api_client import NOWHERE, Api

CAREN = {"identifier_key": "user-7", "name": "Caren", "identity_type": "user"}


def keys(listed: list[dict[str, Any]]) -> list[str]:
    return [identity["identifier_key"] for identity in listed]


def test_an_identity_is_made_with_its_agents_blocks_and_properties(api: Api) -> None:
    agent, block = api.post("/agents/", {})["id"], api.post("/blocks/", {"label": "human"})["id"]
    properties = [
        {"key": "plan", "value": "pro", "type": "string"},
        {"key": "age", "value": 41, "type": "number"},
        {"key": "vip", "value": True, "type": "boolean"},
        {"key": "more", "value": {"a": [1, None]}, "type": "json"},
    ]
    more = {"agent_ids": [agent], "block_ids": [block], "properties": properties}
    made = api.post("/identities/", CAREN | more | {"project_id": None})
    assert made == CAREN | more | {"id": made["id"], "project_id": None}
    assert made["id"].startswith("identity-")
    assert api.get(f"/identities/{made['id']}") == made
    assert api.get("/identities/count") == 1
    assert [each["id"] for each in api.get(f"/identities/{made['id']}/agents")] == [agent]
    assert [each["id"] for each in api.get(f"/identities/{made['id']}/blocks")] == [block]
    shown = api.get(f"/agents/{agent}")
    assert (shown["identities"], shown["identity_ids"]) == ([made], [made["id"]])
    assert api.get("/agents/")[0]["identities"] == [made]
    api.delete(f"/identities/{made['id']}")
    assert api.get(f"/agents/{agent}")["identities"] == []
    api.get(f"/identities/{made['id']}", expect=404)
    assert api.get(f"/blocks/{block}")["label"] == "human"


def test_a_key_names_one_identity_of_a_person(api: Api, bob: User) -> None:
    made = api.post("/identities/", CAREN)
    assert "user-7" in api.post("/identities/", CAREN, expect=409)["detail"]
    other = api.post("/identities/", CAREN | {"identifier_key": "user-8"})
    api.patch(f"/identities/{other['id']}", {"identifier_key": "user-7"}, expect=409)
    assert Api(bob).post("/identities/", CAREN)["id"] != made["id"]
    again = api.put("/identities/", CAREN | {"name": "Karen"})
    assert (again["id"], again["name"]) == (made["id"], "Karen")
    new = api.put("/identities/", CAREN | {"identifier_key": "user-9"})
    assert new["id"] not in (made["id"], other["id"])


def test_a_change_adds_and_an_upsert_replaces(api: Api) -> None:
    first, second = (api.post("/agents/", {})["id"] for _ in range(2))
    plan, age = ({"key": key, "value": key, "type": "string"} for key in ("plan", "age"))
    made = api.post("/identities/", CAREN | {"agent_ids": [first], "properties": [plan]})
    address = f"/identities/{made['id']}"
    free = plan | {"value": "free"}
    changed = api.patch(address, {"agent_ids": [second], "properties": [age, free], "name": "K"})
    assert changed["agent_ids"] == [first, second]
    assert changed["properties"] == [free, age]
    assert (changed["name"], changed["identity_type"]) == ("K", "user")
    replaced = api.put("/identities/", CAREN | {"agent_ids": [second]})
    assert (replaced["agent_ids"], replaced["properties"]) == ([second], [free, age])
    assert api.put(f"{address}/properties", [plan])["properties"] == [plan]
    assert api.put("/identities/", CAREN | {"agent_ids": []})["agent_ids"] == []


def test_identities_are_listed_by_what_they_are_and_page_by_page(api: Api) -> None:
    for number in range(5):
        kind = "org" if number % 2 else "other"
        given = {"identifier_key": f"key-{number}", "name": f"N {number}", "identity_type": kind}
        api.post("/identities/", given)
    newest = [f"key-{number}" for number in range(4, -1, -1)]
    assert keys(api.get("/identities/")) == newest
    assert keys(api.get("/identities/?order=asc")) == newest[::-1]
    assert keys(api.get("/identities/?identity_type=org")) == ["key-3", "key-1"]
    assert keys(api.get("/identities/?identifier_key=key-2")) == ["key-2"]
    assert keys(api.get("/identities/?name=n%203")) == ["key-3"]
    seen: list[dict[str, Any]] = []
    while part := api.get("/identities/?limit=2" + (f"&after={seen[-1]['id']}" if seen else "")):
        seen += part
    assert keys(seen) == newest


def test_agents_are_made_changed_and_found_by_their_identities(api: Api) -> None:
    caren = api.post("/identities/", CAREN)["id"]
    dan = api.post("/identities/", CAREN | {"identifier_key": "user-8"})["id"]
    both = api.post("/agents/", {"identity_ids": [caren, dan]})
    assert both["identity_ids"] == [caren, dan]
    one = api.post("/agents/", {"identity_ids": [dan]})["id"]
    api.post("/agents/", {})

    def found(query: str) -> list[str]:
        return [agent["id"] for agent in api.get(f"/agents/?{query}")]

    assert found(f"identity_id={caren}") == [both["id"]]
    assert found(f"identity_id={dan}") == [one, both["id"]]
    assert found("identifier_keys=user-7&identifier_keys=user-8") == [one, both["id"]]
    assert found("identifier_keys=user-7,nobody") == [both["id"]]
    assert found(f"identity_id={dan}&identifier_keys=user-7") == []
    assert found("identity_id=nobody") == found(f"identity_id=identity-{NOWHERE}") == []
    address = f"/agents/{both['id']}"
    assert api.patch(address, {"identity_ids": [dan]})["identity_ids"] == [dan]
    assert api.patch(address, {"name": "x"})["identity_ids"] == [dan]
    for _ in range(2):
        assert api.patch(f"{address}/identities/attach/{caren}")["identity_ids"] == [caren, dan]
    assert api.patch(f"{address}/identities/detach/{dan}")["identity_ids"] == [caren]
    assert api.patch(address, {"identity_ids": []})["identities"] == []
    api.delete(f"/agents/{one}")
    assert api.get(f"/identities/{dan}")["agent_ids"] == []


def test_blocks_are_found_by_their_identities(api: Api) -> None:
    block = api.post("/blocks/", {"label": "human"})["id"]
    api.post("/blocks/", {"label": "human"})
    caren = api.post("/identities/", CAREN | {"block_ids": [block]})["id"]
    for query in (f"identity_id={caren}", "identifier_keys=user-7"):
        assert [each["id"] for each in api.get(f"/blocks/?{query}")] == [block]
    assert api.get("/blocks/?identifier_keys=nobody") == []


def test_nobody_sees_or_uses_anothers_identities(api: Api, bob: User, alice: User) -> None:
    agent, block = api.post("/agents/", {})["id"], api.post("/blocks/", {"label": "b"})["id"]
    caren = api.post("/identities/", CAREN | {"agent_ids": [agent], "block_ids": [block]})["id"]
    other = Api(bob)
    assert other.get("/identities/") == []
    assert other.get("/identities/count") == 0
    for path in ("", "/agents", "/blocks"):
        other.get(f"/identities/{caren}{path}", expect=404)
    other.patch(f"/identities/{caren}", {"name": "x"}, expect=404)
    other.put(f"/identities/{caren}/properties", [], expect=404)
    other.delete(f"/identities/{caren}", expect=404)
    mine = other.post("/agents/", {})["id"]
    other.post("/agents/", {"identity_ids": [caren]}, expect=404)
    other.patch(f"/agents/{mine}", {"identity_ids": [caren]}, expect=404)
    other.patch(f"/agents/{mine}/identities/attach/{caren}", expect=404)
    assert other.get(f"/agents/?identity_id={caren}") == []
    for taken in ({"agent_ids": [agent]}, {"block_ids": [block]}):
        other.post("/identities/", CAREN | taken, expect=404)
    assert Agent.objects.filter(owner=bob).count() == 1
    assert not Identity.objects.filter(owner=bob).exists()
    read = Api(alice, ["read"])
    assert keys(read.get("/identities/")) == ["user-7"]
    read.post("/identities/", CAREN | {"identifier_key": "k"}, expect=403)
    read.delete(f"/identities/{caren}", expect=403)


def test_a_block_that_was_given_and_taken_back_is_not_shown(
    api: Api, alice: User, bob: User
) -> None:
    api.post("/blocks/", {"label": "team"})
    block = Block.objects.get()
    share = BlockShare.share(block, bob, can_write=False)
    other = Api(bob)
    made = other.post("/identities/", CAREN | {"block_ids": [f"block-{block.pk}"]})
    assert made["block_ids"] == [f"block-{block.pk}"]
    share.stop()
    assert other.get(f"/identities/{made['id']}")["block_ids"] == []
    assert other.get(f"/identities/{made['id']}/blocks") == []


@pytest.mark.parametrize(
    "given",
    [
        {"name": ""},
        {"identity_type": "robot"},
        {"identifier_key": "x" * 201},
        {"properties": [{"key": "a", "value": 1}]},
        {"properties": [{"key": "a", "value": None, "type": "string"}]},
        {"agent_ids": "x"},
    ],
)
def test_what_is_no_identity_is_refused_with_the_field_named(api: Api, given: Any) -> None:
    said = api.post("/identities/", CAREN | given, expect=422)["detail"]
    assert said[0]["loc"][:2] == ["body", next(iter(given))]
    assert not Identity.objects.exists()


def test_agents_with_identities_are_listed_with_as_many_queries(api: Api) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            api.get("/agents/")
        return len(captured)

    agents = [api.post("/agents/", {})["id"] for _ in range(6)]
    api.post("/identities/", CAREN | {"agent_ids": agents[:1]})
    few = queries()
    for number in range(5):
        api.post("/identities/", CAREN | {"identifier_key": str(number), "agent_ids": agents})
    assert queries() == few
