"""Blocks and archival memory by the API: each operation, and each way to be refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from agents.api import ids
from agents.api.errors import Refused
from agents.models import Agent, Block, BlockEdit, BlockShare, Event, Passage
from tests.support.api_client import NOWHERE, Api

# -- ids -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [1, 7, 255, 2**31, ids.MOST])
@pytest.mark.parametrize("part", [0, 3, 40])
def test_an_id_leads_back_to_its_row(key: int, part: int) -> None:
    assert ids.part_of("message", ids.numbered("message", key, part)) == (key, part)


@pytest.mark.parametrize("text", ["", "7", "message-7", "message-x", NOWHERE[:-1], "run-\0"])
def test_what_is_no_id_is_not_found(text: str) -> None:
    for read in (ids.key_of, ids.uuid_of):
        with pytest.raises(Refused) as refusal:
            read("message", text)
        assert refusal.value.status == 404


# -- blocks ----------------------------------------------------------------------------------------


def test_a_block_is_made_looked_at_changed_and_deleted(api: Api) -> None:
    made = api.post("/blocks/", {"label": "human", "value": "Name: Bob", "tags": ["a"]})
    assert (made["label"], made["value"], made["limit"]) == ("human", "Name: Bob", 5000)
    address = f"/blocks/{made['id']}"
    assert api.get(address) == made
    change = {"value": "Name: Ann", "limit": 20, "description": "Who", "metadata": {"k": [1]}}
    changed = api.patch(address, change)
    assert {name: changed[name] for name in change} == change
    edit = BlockEdit.objects.get()
    assert (edit.editor_kind, edit.editor_name) == ("api", "alice")
    assert api.delete(address) == {"message": f"Block id={made['id']} successfully deleted"}
    api.get(address, expect=404)


REFUSED_BLOCKS = [
    ({}, "label"),
    ({"label": ""}, "label"),
    ({"label": "a\nb"}, "label"),
    ({"label": "x" * 51}, "label"),
    ({"label": 7}, "label"),
    ({"label": "a", "value": None}, "value"),
    ({"label": "a", "value": "12345", "limit": 4}, "value"),
    ({"label": "a", "limit": 0}, "limit"),
    ({"label": "a", "limit": 10**30}, "limit"),
    ({"label": "a", "tags": "x"}, "tags"),
    ({"label": "a", "metadata": []}, "metadata"),
    ({"label": "a", "description": "x" * 501}, "description"),
]


@pytest.mark.parametrize(("given", "field"), REFUSED_BLOCKS)
def test_a_block_that_cannot_be_is_refused_by_field(api: Api, given: Any, field: str) -> None:
    if given.get("limit") == 10**30:
        api.post("/blocks/", given, expect=400)  # no database holds it
    else:
        wrong = api.post("/blocks/", given, expect=422)["detail"]
        assert wrong[0]["loc"][:2] == ["body", field], wrong
        assert wrong[0]["msg"]
    assert not Block.objects.exists()


def test_a_value_over_the_limit_is_refused_and_nothing_changes(api: Api) -> None:
    made = api.post("/blocks/", {"label": "a", "value": "1234", "limit": 4})
    for change in ({"value": "12345"}, {"limit": 3}, {"value": "123456", "limit": 5}):
        assert api.patch(f"/blocks/{made['id']}", change, expect=422)["detail"]
    assert api.get(f"/blocks/{made['id']}") == made
    assert api.patch(f"/blocks/{made['id']}", {"value": "123456", "limit": 6})["limit"] == 6
    assert api.patch(f"/blocks/{made['id']}", {"value": "12", "limit": 2})["value"] == "12"


def test_a_long_value_without_a_limit_is_taken(api: Api) -> None:
    assert api.post("/blocks/", {"label": "a", "value": "x" * 9000})["limit"] == 18000


def test_blocks_are_listed_by_what_is_asked(api: Api, agent: Agent) -> None:
    api.post("/blocks/", {"label": "human", "value": "Ann", "name": "guest"})
    assert [b["value"] for b in api.get("/blocks/?label=human")] == ["Ann", "Name: Bob"]
    assert [b["value"] for b in api.get("/blocks/?name=guest")] == ["Ann"]
    assert [b["value"] for b in api.get("/blocks/?value_search=bob")] == ["Name: Bob"]
    assert [b["label"] for b in api.get("/blocks/?label_search=PERS")] == ["persona"]
    assert api.get("/blocks/?label=nothing") == []
    assert api.get("/blocks/count") == 3


def test_a_block_that_was_given_may_be_read_and_written_as_it_was_given(
    api: Api, alice: User, bob: User
) -> None:
    block = Block.objects.create(owner=bob, label="team", value="x")
    address = f"/blocks/block-{block.pk}"
    api.get(address, expect=404)
    BlockShare.share(block, alice, can_write=False)
    assert api.get(address)["value"] == "x"
    assert "read" in api.patch(address, {"value": "y"}, expect=422)["detail"][0]["msg"]
    BlockShare.share(block, alice, can_write=True)
    assert api.patch(address, {"value": "y"})["value"] == "y"
    api.patch(address, {"limit": 9}, expect=403)
    api.delete(address, expect=403)


def test_blocks_of_an_agent_by_label(api: Api, agent: Agent, agent_path: str) -> None:
    memory = f"{agent_path}/core-memory"
    assert [b["label"] for b in api.get(f"{memory}/blocks")] == ["persona", "human"]
    assert api.get(f"{memory}/blocks/human")["value"] == "Name: Bob"
    assert api.patch(f"{memory}/blocks/human", {"value": "Name: Eve"})["value"] == "Name: Eve"
    kept = api.get(memory)
    assert kept["blocks"][1]["value"] == "Name: Eve"
    assert "{{ block.value }}" in kept["prompt_template"]
    api.get(f"{memory}/blocks/nothing", expect=404)
    api.patch(f"{memory}/blocks/nothing", {"value": "x"}, expect=404)
    last = Event.objects.order_by("-seq").first()
    assert last is not None
    assert last.kind == Event.Kind.BLOCK_EDITED, "open pages are told"


def test_a_block_is_attached_and_detached(api: Api, agent: Agent, agent_path: str) -> None:
    made = api.post("/blocks/", {"label": "extra", "value": "x"})
    attach, detach = (
        f"{agent_path}/core-memory/blocks/{v}/{made['id']}" for v in ("attach", "detach")
    )
    for _ in range(2):
        held = [block["label"] for block in api.patch(attach)["blocks"]]
        assert held == ["persona", "human", "extra"]
    holders = api.get(f"/blocks/{made['id']}/agents")
    assert [each["id"] for each in holders] == [f"agent-{agent.pk}"]
    assert [b["label"] for b in api.patch(detach)["blocks"]] == ["persona", "human"]
    twin = api.post("/blocks/", {"label": "human"})
    refusal = api.patch(f"{agent_path}/core-memory/blocks/attach/{twin['id']}", expect=409)
    assert "already has a block 'human'" in refusal["detail"]


def test_a_deleted_block_leaves_the_agents_that_hold_it(api: Api, agent: Agent) -> None:
    block = agent.core_memory()[0]
    api.delete(f"/blocks/block-{block.pk}")
    assert [block.label for block in agent.core_memory()] == ["human"]


# -- archival memory -------------------------------------------------------------------------------


def test_passages_are_put_away_found_changed_and_deleted(api: Api, agent_path: str) -> None:
    memory = f"{agent_path}/archival-memory"
    (made,) = api.post(memory, {"text": "Bob loves boston terriers", "tags": ["dog"]})
    api.post(memory, {"text": "The key is under the mat", "created_at": "2020-01-01T00:00:00"})
    texts = [passage["text"] for passage in api.get(memory)]
    assert texts == ["The key is under the mat", "Bob loves boston terriers"]
    assert [p["text"] for p in api.get(f"{memory}?search=terriers")] == texts[1:]
    found = api.get(f"{memory}/search?query=terriers&tags=dog")
    assert (found["count"], found["results"][0]["content"]) == (1, texts[1])
    assert api.get(f"{memory}/search?query=terriers&tags=cat&tags=mouse")["count"] == 0
    until = "end_datetime=2021-01-01T00:00:00Z"
    assert api.get(f"{memory}/search?query=terriers%20key&{until}")["count"] == 1
    (changed,) = api.patch(f"{memory}/{made['id']}", {"text": "Bob loves cats", "tags": []})
    assert (changed["id"], changed["text"], changed["tags"]) == (made["id"], "Bob loves cats", [])
    assert Passage.objects.get(text="Bob loves cats").editor_kind == "api"
    api.delete(f"{memory}/{made['id']}")
    api.delete(f"{memory}/{made['id']}", expect=404)
    assert [passage["text"] for passage in api.get(memory)] == texts[:1]


@pytest.mark.parametrize(
    "given", [{}, {"text": ""}, {"text": " \n"}, {"text": 1}, {"text": "x", "tags": [""]},
              {"text": "x" * 100_001}, {"text": "x", "created_at": "yesterday"}]
)  # fmt: skip
def test_a_passage_that_cannot_be_is_refused(api: Api, agent_path: str, given: Any) -> None:
    assert api.post(f"{agent_path}/archival-memory", given, expect=422)["detail"]
    assert not Passage.objects.exists()
