"""An agent's context by the API: the system message, its parts, compaction; a run's trace."""

from __future__ import annotations

from django.contrib.auth.models import User

from tests.support.api_client import Api, chat, say
from tests.support.fake_openai import FakeOpenAI, calls, text


def test_the_system_message_is_compiled_on_request(api: Api, path: str, bob: User) -> None:
    compiled = api.post(f"{path}/recompile")
    assert "Name: Bob" in compiled
    api.patch(f"{path}/core-memory/blocks/human", {"value": "Name: Ada"})
    assert "Name: Ada" in api.post(f"{path}/recompile?dry_run=true&update_timestamp=true")
    assert api.last.headers["Memoryweb-Notes"] == "No effect: dry_run, update_timestamp."
    Api(bob).post(f"{path}/recompile", expect=404)


def test_an_agent_or_one_of_its_conversations_is_compacted(
    api: Api, path: str, model_at_once: FakeOpenAI
) -> None:
    chat(api, path, model_at_once, 3)
    model_at_once.script(text("They counted."))
    done = api.post(f"{path}/summarize")
    assert done["summary"] == "They counted."
    assert done["num_messages_after"] < done["num_messages_before"]
    assert api.get(f"{path}/context")["summary_memory"] == "They counted."
    (run, *_) = api.get("/runs/?stop_reason=end_turn")
    assert (run["stop_reason"], run["status"]) == ("end_turn", "completed"), "in Letta's words"
    agent_id = path.rpartition("/")[2]
    other = api.post(f"/conversations/?agent_id={agent_id}")["id"]
    asked = {"conversation_id": other}
    assert api.post(f"{path}/summarize", asked)["num_messages_before"] == 0
    another = api.post("/agents/", {})["id"]
    api.post(f"/agents/{another}/summarize", asked, expect=404)
    settings = {"compaction_settings": {"mode": "all"}}
    api.post(f"{path}/summarize", settings, expect=422)


def test_the_context_is_told_part_by_part(api: Api, path: str, model: FakeOpenAI) -> None:
    chat(api, path, model, 1)
    api.post(f"{path}/archival-memory", {"text": "Bees"})
    found = api.get(f"{path}/context")
    assert "Name: Bob" in found["core_memory"]
    assert (found["num_archival_memory"], found["num_recall_memory"]) == (1, 3)
    assert found["num_messages"] == len(found["messages"]) == 4
    assert [each["role"] for each in found["messages"]] == ["system", "user", "assistant", "tool"]
    assert "send_message" in [each["function"]["name"] for each in found["functions_definitions"]]
    parts = ("system", "core_memory", "external_memory_summary", "functions_definitions")
    sizes = [found[f"num_tokens_{part}"] for part in (*parts, "messages", "summary_memory")]
    assert abs(sum(sizes) - found["context_window_size_current"]) < 5
    assert found["context_window_size_current"] < found["context_window_size_max"]


def test_a_run_is_told_as_spans(api: Api, path: str, model_at_once: FakeOpenAI, bob: User) -> None:
    model_at_once.script(
        calls(
            ("core_memory_append", {"label": "human", "content": "x", "request_heartbeat": True})
        ),
        say("Done."),
    )
    run_id = api.post(f"{path}/messages", {"input": "Hi"})["run_id"]
    spans = api.get(f"/runs/{run_id}/trace")
    assert [each["SpanName"] for each in spans] == [
        "run",
        "agent_step",
        "core_memory_append._execute_tool",
        "agent_step",
        "send_message._execute_tool",
    ]
    assert {each["TraceId"] for each in spans} == {run_id}
    assert spans[2]["ParentSpanId"] == spans[1]["SpanId"]
    assert all(each["Duration"] >= 0 and each["StatusCode"] == "Ok" for each in spans)
    assert api.get(f"/runs/{run_id}/trace?limit=2") == spans[:2]
    Api(bob).get(f"/runs/{run_id}/trace", expect=404)
