"""Images through the API: sent as base64, by an address or again; listed, and refused in words."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from agents.models import Agent, Image, Message, Run
from agents.models.image import MOST_IMAGES
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI, status, text
from tests.support.pictures import SVG, picture
from tests.support.web_servers import says, web_server


def inline(data: bytes, **more: Any) -> dict[str, Any]:
    encoded = base64.b64encode(data).decode()
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": encoded, **more},
    }


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def message(*parts: dict[str, Any], role: str = "user") -> dict[str, Any]:
    return {"messages": [{"role": role, "content": list(parts)}]}


def sources(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [part["source"] for part in content if part["type"] == "image"]


def test_an_image_is_sent_and_listed_as_lettas_clients_have_it(
    api: Api, plain: str, model: FakeOpenAI
) -> None:
    api.post(f"{plain}/messages", message(words("See"), inline(picture(), detail="low")))
    assert api.last.headers["Memoryweb-Notes"] == "No effect: messages.content.source.detail."
    sent = model.requests[-1]["messages"][-1]["content"]
    assert [part["type"] for part in sent] == ["text", "image_url"]
    listed = api.get(f"{plain}/messages")[1]
    image = Image.objects.get()
    source = {"type": "letta", "file_id": f"image-{image.sha256}", "media_type": "image/png"}
    assert listed["content"] == [words("See"), {"type": "image", "source": source}]
    (whole,) = api.get(f"/messages/{listed['id']}")
    kept = bytes(Image.objects.defer(None).get().data)
    assert base64.b64decode(sources(whole["content"])[0]["data"]) == kept
    overview = api.get(f"{plain}/context")
    assert overview["messages"][1]["content"] == listed["content"]
    found = api.post("/messages/search", {"query": "image"})
    assert found[0]["content"] == listed["content"]


def test_only_an_image_as_input_and_without_a_type(api: Api, plain: str, model: FakeOpenAI) -> None:
    part = inline(picture())
    del part["source"]["type"]
    api.post(f"{plain}/messages", {"input": [part]})
    assert "Memoryweb-Notes" not in api.last.headers
    assert len(model.requests[-1]["messages"][-1]["content"]) == 1


def test_an_image_that_was_sent_before_is_named_by_its_id(
    api: Api, plain: str, agent: Agent
) -> None:
    mine = Image.add(agent, picture())  # another agent of Alice's
    source = {"type": "letta", "file_id": f"image-{mine.sha256}"}
    again = {"type": "image", "source": source}
    api.post(f"{plain}/messages", message(again, again))
    assert Image.objects.filter(sha256=mine.sha256).count() == 2
    assert [len(row.images) for row in Message.objects.filter(role="user")] == [2]


def test_nobody_names_an_image_of_somebody_else(api: Api, plain: str, bob: User) -> None:
    theirs = Image.add(Agent.objects.create(owner=bob, name="Other"), picture())
    source = {"type": "letta", "file_id": f"image-{theirs.sha256}"}
    again = message({"type": "image", "source": source})
    refusal = api.post(f"{plain}/messages", again, expect=422)
    assert f"There is no image 'image-{theirs.sha256}'" in refusal["detail"][0]["msg"]


def test_an_image_at_an_address_is_fetched(
    api: Api, plain: str, model: FakeOpenAI, settings: Settings
) -> None:
    def by_address(url: str) -> dict[str, Any]:
        return message({"type": "image", "source": {"type": "url", "url": url}})

    answers = {"/pie.png": says(picture(), "image/png"), "/no": says(SVG)}
    gone = says("", status=404)
    with web_server(lambda request: answers.get(request.path, gone)(request)) as at:
        url = f"http://127.0.0.1:{at.port}"
        refusal = api.post(f"{plain}/messages", by_address(f"{url}/pie.png"), expect=422)
        assert "127.0.0.1" in refusal["detail"][0]["msg"]
        settings.OUTGOING_ALLOW = ["127.0.0.0/8"]
        api.post(f"{plain}/messages", by_address(f"{url}/pie.png"))
        assert Image.objects.get().width == 64
        for path, said in {"/no": "This is no image", "/gone": "answered 404"}.items():
            refusal = api.post(f"{plain}/messages", by_address(url + path), expect=422)
            assert said in refusal["detail"][0]["msg"]


BAD = [
    (message(inline(SVG)), "This is no image; send a PNG, JPEG, GIF or WebP."),
    (message(inline(b"")), "This is no image"),
    (message({"type": "image", "source": {"type": "base64", "data": "é"}}), "is not base64"),
    (message({"type": "image", "source": {"type": "file"}}), "is of type 'base64', 'url' or"),
    (message({"type": "image", "source": {}}), "is of type 'base64', 'url' or 'letta'"),
    (message({"type": "image"}), "each with its 'source', are supported"),
    (message(inline(picture()), role="system"), "Only a message of role 'user' may have images."),
    (message(*[inline(picture())] * (MOST_IMAGES + 1)), "The request has 11 images; at most 10"),
]


@pytest.mark.parametrize(("given", "said"), BAD)
def test_what_is_no_good_is_refused_in_words(api: Api, plain: str, given: Any, said: str) -> None:
    assert said in api.post(f"{plain}/messages", given, expect=422)["detail"][0]["msg"]
    assert not Run.objects.exists()


def test_where_there_is_no_place_for_images_they_are_refused(api: Api, plain: str) -> None:
    parts = [inline(picture())]
    first = {"initial_message_sequence": [{"role": "user", "content": parts}]}
    refused = [api.post("/agents/", first, expect=422)]
    at = {"type": "one-time", "scheduled_at": 4_000_000_000_000}
    later = {"messages": [{"role": "user", "content": parts}], "schedule": at}
    refused.append(api.post(f"{plain}/schedule", later, expect=422))
    api.post(f"{plain}/messages", {"input": "Hi"})
    listed = api.get(f"{plain}/messages")[1]
    change = {"message_type": "user_message", "content": parts}
    refused.append(api.patch(f"{plain}/messages/{listed['id']}", change, expect=422))
    for refusal in refused:
        assert "Images are taken in messages to an agent, not here" in refusal["detail"][0]["msg"]


def test_the_text_of_a_message_changes_and_its_images_stay(api: Api, plain: str) -> None:
    api.post(f"{plain}/messages", message(words("See"), inline(picture())))
    listed = api.get(f"{plain}/messages")[1]
    change = {"message_type": "user_message", "content": "Look"}
    changed = api.patch(f"{plain}/messages/{listed['id']}", change)
    assert changed["content"] == [words("Look"), *listed["content"][1:]]


def test_the_same_request_again_is_the_same_run(api: Api, plain: str) -> None:
    given = message(inline(picture()))
    for _ in range(2):
        api.ask("POST", f"{plain}/messages", given, Idempotency_Key="a")
    assert Run.objects.count() == 1
    other = message(inline(picture(9, 9)))
    api.ask("POST", f"{plain}/messages", other, expect=409, Idempotency_Key="a")


def test_a_model_that_sees_nothing_answers_all_the_same(
    api: Api, plain: str, model: FakeOpenAI
) -> None:
    model.script(status(400, "fake-model is not a multimodal model"), text("I cannot see it."))
    answer = api.post(f"{plain}/messages", message(inline(picture())))
    assert answer["messages"][-1]["content"] == "I cannot see it."


def test_messages_ahead_have_images_too(api: Api, plain: str, model: FakeOpenAI) -> None:
    first, second = (
        {"role": "user", "content": [words(said), inline(picture(width))]}
        for said, width in (("One", 9), ("Two", 10))
    )
    api.post(f"{plain}/messages", {"messages": [first, second]})
    rows = Message.objects.filter(role="user").order_by("number")
    assert [(row.content, row.images[0]["width"]) for row in rows] == [("One", 9), ("Two", 10)]
