"""Images on the wire: sent as parts, proven by their SHA-256, counted, and left out where a model
does not read them; the run goes on either way."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.llm import dialects, facts, images, resolve, vision
from agents.llm.demo.rules import reply_to
from agents.llm.dialects import STRICTEST, Dialect
from agents.llm.rendering import Stored, rendered
from agents.memory import sent_requests
from agents.memory.compaction import transcript
from agents.memory.context import compile_context
from agents.models import Agent, EndpointFacts, Image, Message, Step
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, status, text
from tests.support.pictures import noise, picture

BLIND = "[Image, 64 × 48, not shown: this model does not read images]"


@pytest.fixture
def image(agent: Agent) -> Image:
    return Image.add(agent, picture(64, 48))


def last_content(model: FakeOpenAI) -> Any:
    """Of the newest message of the person in the newest request."""
    return [each for each in model.requests[-1]["messages"] if each["role"] == "user"][-1][
        "content"
    ]


def test_a_message_with_images_is_sent_in_parts_and_proven(
    agent: Agent, model: FakeOpenAI, ask: Ask, image: Image
) -> None:
    other = Image.add(agent, picture(9, 9, form="JPEG"))
    assert ask("See —", images=[image.sha256, other.sha256]).status == "done"
    said, first, second = last_content(model)
    assert said == {"type": "text", "text": "See —"}
    data = Image.objects.defer(None).get(pk=image.pk).data
    whole = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    assert first == {"type": "image_url", "image_url": {"url": whole}}
    assert second["image_url"]["url"].startswith("data:image/jpeg;base64,/9j/")
    ask("And now?")
    for step, raw in zip(Step.objects.order_by("pk"), model.raw_bodies, strict=True):
        request = sent_requests.sent(step)
        assert request
        assert request.proven
        assert request.body == raw
        assert len(request.outline) < len(raw)
    assert whole not in json.dumps([step.request for step in Step.objects.all()])


def test_only_an_image_is_a_message_too(
    agent: Agent, model: FakeOpenAI, ask: Ask, image: Image
) -> None:
    ask("", images=[image.sha256])
    assert [part["type"] for part in last_content(model)] == ["image_url"]


def test_a_message_without_images_costs_no_further_statement(
    agent: Agent, model: FakeOpenAI, ask: Ask, image: Image, django_assert_num_queries: Any
) -> None:
    ask("See", images=[image.sha256])
    context = compile_context(agent.first_conversation, dialect=Dialect(images=0))
    with django_assert_num_queries(0):
        context.body("m")
    context = compile_context(agent.first_conversation)
    with django_assert_num_queries(1):
        context.body("m")


def test_an_image_is_counted_by_its_pixels_and_not_by_its_bytes(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    large = Image.add(agent, noise(900, 800))
    assert large.size > 300_000
    agent.configure(bytes_per_token=4.0)
    context = compile_context(agent.first_conversation)
    before = context.tokens()
    ask("See", images=[large.sha256])
    agent.refresh_from_db()
    assert agent.bytes_per_token == 4.0  # a request with images says nothing of the texts
    step = Step.objects.get()
    assert 960 <= step.context_tokens - before < 1100
    assert step.context_bytes < 20_000
    assert [images.tokens_of({"width": w, "height": w}) for w in (10, 300, 2048)] == [1, 120, 1600]


def test_text_that_looks_like_a_slot_is_none() -> None:
    forged = f'";base64,\\u0000{"a" * 64}\\u0000"'
    (sent,) = rendered([Stored(1, "user", forged, [], "")], STRICTEST)
    assert images.filled(sent.json, {"a" * 64: "XXX"}) == sent.json


def part(width: int, size: int = 100) -> dict[str, Any]:
    key = f"{width:064x}"
    return {
        "sha256": key,
        "media_type": "image/png",
        "width": width,
        "height": 9,
        "size": size,
    }


def shown(*messages: list[dict[str, Any]], dialect: Dialect = STRICTEST) -> list[Any]:
    """What is sent of messages with these images, each answered: widths, or words."""
    history = []
    for number, its in enumerate(messages):
        history.append(Stored(2 * number, "user", "See", [], "", images=its))
        history.append(Stored(2 * number + 1, "assistant", "OK", [], ""))
    sent = [json.loads(each.json) for each in rendered(history, dialect)]
    said = [each["content"] for each in sent if each["role"] == "user"]
    return said[: len(messages)]


def test_only_so_many_images_are_sent_the_newest_ones() -> None:
    two = Dialect(images=2)
    old, middle, new = shown([part(1)], [part(2), part(3)], [part(4)], dialect=two)
    assert old == f"See\n\n[Image, 1 × 9, not shown: {images.NOT_NEW}]"
    assert middle[1]["text"] == f"[Image, 2 × 9, not shown: {images.NOT_NEW}]"
    assert [each["type"] for each in middle] == ["text", "text", "image_url"]
    assert [each["type"] for each in new] == ["text", "image_url"]
    heavy = part(5, size=9_000_000)
    assert [isinstance(each, str) for each in shown([heavy], [part(6)], [heavy])] == [
        *(True, False, False)
    ]


def test_neighbours_with_images_become_one_message_where_roles_must_alternate() -> None:
    stored = [
        Stored(1, "user", "One", [], "", images=[part(1)]),
        Stored(2, "user", "", [], "", images=[part(2)]),
        Stored(3, "user", "Three", [], ""),
    ]
    (sent,) = rendered(stored, STRICTEST)
    kinds = [each.get("text", each["type"]) for each in json.loads(sent.json)["content"]]
    assert kinds == ["One", "image_url", "image_url", "Three"]
    (blind,) = rendered(stored, Dialect(images=0))
    assert json.loads(blind.json)["content"].startswith("One\n\n[Image, 1 × 9, not shown:")


# -- models that do not read images ----------------------------------------------------------------

REFUSALS = [
    (400, "Invalid content type. image_url is only supported by certain models."),
    (400, "my-model is not a multimodal model"),
    (500, "image input is not supported - hint: if this is unexpected, provide the mmproj"),
    (500, 'Failed to parse messages: Unsupported content part type: "image_url"; messages = []'),
    (400, "this model does not support image input (ref: b8bd)"),
    (500, "Failed to process inputs: this model is missing data required for image input"),
    (404, "No endpoints found that support image input"),
    (400, "Failed to deserialize: messages[1]: unknown variant `image_url`, expected `text`"),
    (400, "Model does not support images. Please use a model that does."),
    (400, "messages[1].content must be a string"),
    (404, "Only 'text' content type is supported."),
]


@pytest.mark.parametrize(("code", "said"), REFUSALS, ids=[said[:20] for _, said in REFUSALS])
def test_what_real_servers_say_is_understood_and_kept(
    agent: Agent, model: FakeOpenAI, ask: Ask, image: Image, code: int, said: str
) -> None:
    model.script(status(code, said), text("I cannot see it."))
    run = ask("See", images=[image.sha256])
    assert (run.status, len(model.requests)) == ("done", 2), run.error
    assert last_content(model) == f"See\n\n{BLIND}"
    assert EndpointFacts.objects.get().dialect == {"images": 0}
    facts.forget()
    ask("Still?")
    assert len(model.requests) == 3
    step = Step.objects.order_by("pk").last()
    assert step
    assert (step.sent_images, step.hidden_images) == (0, 1)


def test_what_reads_fewer_images_is_sent_fewer(agent: Agent, model: FakeOpenAI, ask: Ask) -> None:
    keys = [Image.add(agent, picture(20 + n)).sha256 for n in range(3)]
    model.script(status(400, "At most 1 image(s) may be provided in one request."), text("One."))
    ask("See", images=keys)
    types = [each["type"] for each in last_content(model)]
    assert types == ["text", "text", "text", "image_url"]
    assert EndpointFacts.objects.get().dialect == {"images": 1}
    assert dialects.images_after("At most 1 image(s)", Dialect(images=1)) == {}
    assert dialects.images_after("Too many images. Max is 8", STRICTEST) == {"images": 8}


def test_a_refusal_that_names_nothing_is_got_round_and_not_kept(
    agent: Agent, model: FakeOpenAI, ask: Ask, image: Image
) -> None:
    model.script(status(400, "Bad request"), text("Well."))
    assert ask("See", images=[image.sha256]).status == "done"
    assert last_content(model) == f"See\n\n{BLIND}"
    assert not EndpointFacts.objects.exists()
    model.script(status(400, "Bad request"), status(400, "Bad request"))
    facts.forget()
    assert ask("Again").status == "failed"  # the images were not at fault
    assert facts.dialect_of(*resolve("", None)).images == 20


def test_without_images_nothing_is_learned_of_them(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.script(status(400, "image input is not supported"))
    assert ask("Hello").status == "failed"
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    "said",
    [
        {"architecture": {"input_modalities": ["text"]}},
        {"capabilities": {"vision": False}},
        {"supports_vision": False},
    ],
)
def test_what_a_list_of_models_says_is_known_in_advance(
    agent: Agent, model: FakeOpenAI, ask: Ask, image: Image, said: dict[str, Any]
) -> None:
    model.said_of_models = {"fake-model": said}
    ask("See", images=[image.sha256])
    assert len(model.requests) == 1
    assert last_content(model) == f"See\n\n{BLIND}"


def test_lists_that_say_nothing_or_yes_hide_nothing() -> None:
    sees = {"architecture": {"input_modalities": ["text", "image"]}}
    entries: list[dict[str, Any]] = [{}, sees, {"capabilities": {"vision": True}}]
    assert all(vision._listed(each) for each in entries)


def test_the_demo_model_says_that_it_cannot_look() -> None:
    request = {"messages": [{"role": "user", "content": f"My name is Sarah\n\n{BLIND}"}]}
    assert "an image of 64 × 48 pixels" in reply_to(request).text


def test_the_page_says_so_and_the_request_is_shown_without_megabytes(
    agent: Agent, model: FakeOpenAI, ask: Ask, image: Image, web: Client
) -> None:
    ask("See", images=[image.sha256])
    page = web.get(reverse("step_request", args=[agent.pk, Step.objects.get().pk])).content
    assert f"the image with the SHA-256 {image.sha256}".encode() in page
    assert b"base64,iVBOR" not in page
    assert b"Verified" in page
    EndpointFacts.objects.create(base_url=model.base_url, model="fake-model", dialect={"images": 0})
    facts.forget()
    ask("And now?")
    page = web.get(agent.first_conversation.get_absolute_url()).content
    assert b"fake-model does not read images, so none was sent" in page


def test_a_summary_is_told_that_there_was_an_image(
    agent: Agent, model: FakeOpenAI, ask: Ask, image: Image
) -> None:
    ask("My bicycle", images=[image.sha256])
    said = list(transcript(Message.objects.filter(role="user")))
    assert said == ["Person: My bicycle [image]"]
