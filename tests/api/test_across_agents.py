"""Over all of a person's agents: messages listed and read, passages and messages searched."""

from __future__ import annotations

from django.contrib.auth.models import User

from tests.api.test_filters import LONG_AGO, SOME_DAY
from tests.support.api_client import NOWHERE, Api, chat, kinds, say
from tests.support.fake_openai import FakeOpenAI, text


def said(messages: list[dict[str, str]]) -> list[str]:
    return [each["content"] for each in messages if each["message_type"] == "user_message"]


def test_messages_of_all_agents_are_one_list_the_newest_first(
    api: Api, path: str, plain: str, model_at_once: FakeOpenAI, bob: User
) -> None:
    chat(api, path, model_at_once, 1)
    model_at_once.script(text("Plain."), say("Again."))
    api.post(f"{plain}/messages", {"input": "second"})
    api.post(f"{path}/messages", {"input": "third"})
    listed = api.get("/messages/")
    assert said(listed) == ["third", "second", "q0"]
    assert api.get("/messages/?order=asc") == listed[::-1]
    one = api.get("/messages/?include_return_message_types=user_message&limit=2")
    assert said(one) == ["third", "second"]
    assert Api(bob).get("/messages/") == []


def test_the_list_is_gone_through_to_its_end_both_ways(
    api: Api, path: str, plain: str, model_at_once: FakeOpenAI
) -> None:
    for agent in (path, plain, path):
        chat(api, agent, model_at_once, 1) if agent == path else None
        model_at_once.script(text("Plain."))
        api.post(f"{plain}/messages", {"input": "between"})
    everything = [each["id"] for each in api.get("/messages/")]
    for order, whole in (("desc", everything), ("asc", everything[::-1])):
        found: list[str] = []
        while page := api.get(
            f"/messages/?limit=2&order={order}" + (f"&after={found[-1]}" if found else "")
        ):
            assert len(page) <= 2
            found += [each["id"] for each in page]
        assert found == whole
        before = api.get(f"/messages/?limit=2&order={order}&before={whole[-1]}")
        assert [each["id"] for each in before] == whole[-3:-1]


def test_messages_of_one_conversation_are_listed_and_searched(
    api: Api, plain: str, model_at_once: FakeOpenAI, bob: User
) -> None:
    agent_id = plain.rpartition("/")[2]
    other = api.post(f"/conversations/?agent_id={agent_id}")["id"]
    model_at_once.script(text("A pear."), text("A plum."))
    api.post(f"{plain}/messages", {"input": "fruit one"})
    api.post(f"/conversations/{other}/messages", {"input": "fruit two", "streaming": False})
    assert said(api.get(f"/messages/?conversation_id={other}")) == ["fruit two"]
    search = {"query": "fruit", "conversation_id": other}
    for more in ({}, {"agent_id": agent_id}, {"search_mode": "fts"}, {"limit": 1}):
        (found,) = api.post("/messages/search", search | more)
        assert (found["content"], found["conversation_id"]) == ("fruit two", other)
    assert len(api.post("/messages/search", {"query": "fruit"})) == 2
    another = api.post("/agents/", {})["id"]
    api.post("/messages/search", search | {"agent_id": another}, expect=404)
    Api(bob).post("/messages/search", search, expect=404)
    (wrong,) = api.post("/messages/search", {"query": "x", "search_mode": "vector"}, expect=422)[
        "detail"
    ]
    assert wrong["loc"] == ["body", "search_mode"]


def test_a_message_is_read_by_its_id_with_what_was_stored_beside_it(
    api: Api, path: str, model_at_once: FakeOpenAI, bob: User
) -> None:
    listed = api.get(f"{path}/messages?limit=10")
    system = listed[0]
    chat(api, path, model_at_once, 1)
    *_, question, _, answer = api.get(f"{path}/messages?limit=10")
    assert api.get(f"/messages/{question['id']}") == [question]
    assert kinds(api.get(f"/messages/{answer['id']}")) == [
        "reasoning_message",
        "assistant_message",
    ]
    assert api.get(f"/messages/{system['id']}")[0]["message_type"] == "system_message"
    for found in (question, system):
        Api(bob).get(f"/messages/{found['id']}", expect=404)
    for nowhere in (f"message-{NOWHERE}", "message-00000000-0000-4000-8000-000000ffffff", "x"):
        api.get(f"/messages/{nowhere}", expect=404)


def test_passages_of_all_agents_are_searched_by_words_tags_and_time(
    api: Api, path: str, plain: str, bob: User
) -> None:
    for agent, content, tags in (
        (path, "red tea", ["a"]),
        (plain, "green tea", ["a", "b"]),
        (plain, "strong coffee", ["c"]),
    ):
        api.post(f"{agent}/archival-memory", {"text": content, "tags": tags})

    def found(**asked: object) -> list[str]:
        return sorted(each["passage"]["text"] for each in api.post("/passages/search", asked))

    assert found(query="tea") == ["green tea", "red tea"]
    agent_id = plain.rpartition("/")[2]
    archive = f"archive-{agent_id.removeprefix('agent-')}"
    assert found(query="tea", agent_id=agent_id) == ["green tea"]
    assert found(query="tea", archive_id=archive) == ["green tea"]
    assert found(query="tea", archive_id=archive, agent_id=path.rpartition("/")[2]) == []
    assert found(query="tea", tags=["a", "b"]) == ["green tea", "red tea"]
    assert found(query="tea", tags=["a", "b"], tag_match_mode="all") == ["green tea"]
    assert found(query="tea", start_date=SOME_DAY) == found(query="tea", end_date=LONG_AGO) == []
    assert found() == ["green tea", "red tea", "strong coffee"]
    (newest,) = api.post("/passages/search", {"limit": 1})
    assert newest["passage"]["text"] == "strong coffee"
    (best, _) = api.post("/passages/search", {"query": "green tea"})
    assert best["passage"]["archive_id"] == archive
    assert best["score"] > 0
    assert Api(bob).post("/passages/search", {"query": "tea"}) == []
    Api(bob).post("/passages/search", {"archive_id": archive}, expect=404)
    Api(bob).post("/passages/search", {"agent_id": agent_id}, expect=404)
