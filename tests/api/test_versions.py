"""Blocks by the API: a script that began from a version somebody has written past is told so."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from agents.models import Agent, Block, BlockShare, Editor, VersionConflict
from tests.support.api_client import Api
from tests.support.threads import at_once


@pytest.fixture(params=["by itself", "of an agent"])
def address(request: pytest.FixtureRequest, agent: Agent, human: Block) -> str:
    """The same block, at both of its addresses."""
    if request.param == "by itself":
        return f"/blocks/block-{human.pk}"
    return f"/agents/agent-{agent.pk}/core-memory/blocks/human"


def test_a_block_that_is_as_it_was_is_not_sent_again(
    api: Api, address: str, human: Block, by: Editor
) -> None:
    first = api.get(address)
    tag = api.last["ETag"]
    assert first["version"] == 0
    for had in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        answer = api.client.get(f"/v1{address}", headers=api.headers | {"If-None-Match": had})
        assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", tag)
    for change in (
        lambda: human.append("Likes pie", by=by),
        lambda: human.configure(description="Who they are"),
        lambda: human.configure(metadata={"a": 1}),
    ):
        change()
        api.get(address, if_none_match=tag)
        assert api.last["ETag"] != tag
        tag = api.last["ETag"]
    assert api.get(address)["version"] == 1


def test_a_change_is_made_to_the_version_it_began_from(api: Api, address: str) -> None:
    api.get(address)
    api.patch(address, {"value": "Name: Ann"}, if_match=api.last["ETag"])
    changed = api.patch(address, {"value": "Name: Eve"}, if_match=api.last["ETag"])
    assert (changed["value"], changed["version"]) == ("Name: Eve", 2)
    changed = api.patch(address, {"value": "Name: Bea", "version": 2}, if_match="*")
    assert (changed["value"], changed["version"]) == ("Name: Bea", 3)
    assert api.patch(address, {"value": "Name: Zoe"})["version"] == 4, "nobody has to say it"


@pytest.mark.parametrize("said_by", ["version", "header"])
@pytest.mark.parametrize("change", [{"value": "Name: Ann"}, {"limit": 500}, {"value": "x"}])
def test_a_change_to_a_version_that_is_past_is_refused_with_the_current_one(
    said_by: str, change: dict[str, Any], api: Api, address: str, human: Block, by: Editor
) -> None:
    api.get(address)
    tag = api.last["ETag"]
    human.append("Likes pie", by=by)
    now = api.get(address)
    if said_by == "version":
        told = api.patch(address, change | {"version": 0}, expect=409)
        assert "it is at version 1, and the change was made to version 0" in told["detail"]
    else:
        told = api.patch(address, change, if_match=tag, expect=409)
        assert "has changed since" in told["detail"]
    assert told["current"] == now == api.get(address)
    current = api.last["ETag"]
    api.patch(address, change, if_match=current)


def test_a_change_of_settings_is_a_change_too(api: Api, address: str, human: Block) -> None:
    api.get(address)
    tag = api.last["ETag"]
    human.configure(description="Who they are")
    told = api.patch(address, {"value": "Name: Ann"}, if_match=tag, expect=409)
    assert told["current"]["description"] == "Who they are"
    assert api.patch(address, {"value": "Name: Ann", "version": 0})["version"] == 1


@pytest.mark.parametrize("version", [-1, "x", 1.5, 10**30])
def test_a_version_that_is_none_is_refused(version: Any, api: Api, address: str) -> None:
    expect = 400 if version == 10**30 else 422
    api.patch(address, {"value": "x", "version": version}, expect=expect)
    api.patch(address, {"value": "x", "version": None})


@pytest.mark.parametrize("tag", ["", "0", "abc", "None"])
def test_an_if_match_that_is_no_etag_is_refused(tag: str, api: Api, address: str) -> None:
    told = api.patch(address, {"value": "x"}, if_match=tag, expect=400)
    assert "in double quotes" in told["detail"]
    assert api.get(address)["version"] == 0


def test_who_may_not_write_is_told_that_first(
    team: Block, alice: User, bob: User, settings: Settings
) -> None:
    settings.ACCOUNTS = True
    BlockShare.share(team, bob, can_write=False)
    team.append("in Riga", by=Editor.person(alice))
    change = {"value": "Mine", "version": 0}
    told = Api(bob).patch(f"/blocks/block-{team.pk}", change, expect=422)
    assert "was shared to be read only" in str(told["detail"])
    with pytest.raises(VersionConflict):
        team.only_at(0, by=Editor.person(alice))


@pytest.mark.django_db(transaction=True)
def test_of_scripts_that_change_one_version_at_once_one_succeeds(
    settings: Settings, alice: User
) -> None:
    settings.ACCOUNTS = True
    block = Block.objects.create(owner=alice, label="team")
    scripts = [Api(alice) for _ in range(6)]

    def write(script: Api) -> int:
        answer = script.client.patch(
            f"/v1/blocks/block-{block.pk}",
            {"value": str(script.token.pk), "version": 0},
            content_type="application/json",
            headers=script.headers,
        )
        return answer.status_code

    assert sorted(at_once(write, scripts)) == [200, *[409] * 5]
    block.refresh_from_db()
    assert block.version == 1
