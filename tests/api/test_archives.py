"""Archives by the API: each agent's archival memory is one."""

from __future__ import annotations

from django.contrib.auth.models import User

from tests.support.api_client import Api


def test_an_agents_archival_memory_is_an_archive(api: Api, path: str, bob: User) -> None:
    agent_id = path.rpartition("/")[2]
    api.post("/agents/", {"name": "Other"})
    (archive,) = api.get(f"/archives/?agent_id={agent_id}")
    assert api.get("/archives/?name=Sam") == [archive]
    assert archive["name"] == "Sam"
    assert len(api.get("/archives/")) == 2
    assert api.get(f"/archives/?after={api.get('/archives/')[-1]['id']}") == []
    place = f"/archives/{archive['id']}"
    assert api.get(place) == archive
    made = api.post(f"{place}/passages", {"text": "Bees", "tags": ["a"]})
    assert (made["archive_id"], made["tags"]) == (archive["id"], ["a"])
    more = api.post(f"{place}/passages/batch", {"passages": [{"text": "One"}, {"text": "Two"}]})
    assert [each["text"] for each in more] == ["One", "Two"]
    assert api.delete(f"{place}/passages/{made['id']}") is None
    assert [each["text"] for each in api.get(f"{path}/archival-memory")] == ["One", "Two"]
    bobs = Api(bob)
    for ask in (bobs.get, bobs.patch, bobs.delete):
        ask(place, expect=404 if ask == bobs.get else 501)
    bobs.post(f"{place}/passages", {"text": "x"}, expect=404)
    bobs.delete(f"{place}/passages/{more[0]['id']}", expect=404)
    assert bobs.get("/archives/") == []


def test_of_several_passages_all_are_stored_or_none(api: Api, path: str) -> None:
    place = f"/archives/{path.rpartition('/')[2].replace('agent', 'archive')}/passages/batch"
    api.post(place, {"passages": [{"text": "One"}, {"text": " "}]}, expect=422)
    (wrong,) = api.post(place, {"passages": [{"text": "x", "metadata": {"a": 1}}]}, expect=422)[
        "detail"
    ]
    assert wrong["loc"][-1] == "metadata"
    assert api.get(f"{path}/archival-memory") == []
