"""What a list is asked for narrows it, also where scripts ask for it seldom."""

from __future__ import annotations

from tests.support.api_client import ADD, PUSH, Api, chat
from tests.support.fake_openai import FakeOpenAI

LONG_AGO, SOME_DAY = "2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"


def test_runs_and_steps_are_found_by_agent_end_model_and_time(
    api: Api, path: str, model: FakeOpenAI
) -> None:
    other = api.post("/agents/", {})["id"]
    chat(api, path, model, 1)
    agent = path.removeprefix("/agents/")
    (run,) = api.get(f"/runs/?agent_ids={agent}&agent_ids={other}")
    (step,) = api.get(f"/steps/?agent_id={agent}")
    assert api.get(f"/runs/?agent_ids={other}") == api.get(f"/steps/?agent_id={other}") == []
    assert api.get("/runs/?stop_reason=end_turn") == [run]
    assert api.get("/runs/?stop_reason=error") == api.get("/runs/?active=true") == []
    assert api.get(f"/steps/?model={step['model']}") == [step]
    assert api.get("/steps/?model=another") == []
    assert api.get(f"/steps/?start_date={LONG_AGO}&end_date={SOME_DAY}") == [step]
    assert (
        api.get(f"/steps/?start_date={SOME_DAY}") == api.get(f"/steps/?end_date={LONG_AGO}") == []
    )
    assert [each["id"] for each in api.get("/agents/?last_stop_reason=end_turn")] == [agent]


def test_tools_are_found_by_id_kind_and_words(api: Api) -> None:
    add, push = (api.put("/tools/", {"source_code": source})["id"] for source in (ADD, PUSH))

    def found(query: str) -> list[str]:
        return [each["id"] for each in api.get(f"/tools/?limit=100&{query}")]

    assert found(f"tool_ids={add}") == [add]
    assert push in found("search=queue")
    assert add not in found("search=queue")
    all_of_them, own = found(""), found("tool_types=custom")
    assert set(own) == {add, push}
    assert set(found("exclude_tool_types=custom")) == set(all_of_them) - set(own)


def test_blocks_passages_and_messages_are_found_by_the_rest(
    api: Api, path: str, model: FakeOpenAI
) -> None:
    block = api.post("/blocks/", {"label": "team", "description": "Who is who"})
    assert api.get("/blocks/?description_search=who") == [block]
    assert api.get("/blocks/?templates_only=true") == []
    for text, tags in (("red tea", ["a"]), ("green tea", ["a", "b"])):
        api.post(f"{path}/archival-memory", {"text": text, "tags": tags})
    search = f"{path}/archival-memory/search?query=tea&tags=a&tags=b"
    assert [api.get(f"{search}&tag_match_mode={way}")["count"] for way in ("any", "all")] == [2, 1]
    assert api.get(f"{search}&top_k=1")["count"] == 1
    assert api.get(f"{search}&start_datetime={SOME_DAY}")["count"] == 0
    assert len(api.get(f"{path}/archival-memory?ascending=false")) == 2
    chat(api, path, model, 1)
    assert len(api.post("/messages/search", {"query": "q0", "limit": 1})) == 1
    assert api.post("/messages/search", {"query": "q0", "start_date": SOME_DAY}) == []
    assert api.post("/messages/search", {"query": "q0", "end_date": LONG_AGO}) == []
    assert api.get("/tags/?name=nothing") == []
