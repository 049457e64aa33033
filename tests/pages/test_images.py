"""Images in the page: taken by a form, served to their owner alone, drawn in message and queue."""

from __future__ import annotations

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from agents.models import Agent, Image, Message, Run
from agents.pages.images import HEADERS
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI
from tests.support.pictures import SVG, bomb, noise, picture


def upload(web: Client, agent: Agent, data: bytes, name: str = "pie.png") -> int:
    """Send a file; the status of the answer."""
    file = SimpleUploadedFile(name, data)
    return web.post(reverse("image_add", args=[agent.pk]), {"image": file}).status_code


def test_an_image_is_taken_shown_and_sent(
    agent: Agent, web: Client, model: FakeOpenAI, ask: Ask
) -> None:
    answer = web.post(
        reverse("image_add", args=[agent.pk]), {"image": SimpleUploadedFile("pie", picture())}
    )
    assert answer.status_code == 201
    shown = answer.json()
    image = Image.objects.get()
    assert (shown["sha256"], shown["width"], shown["height"]) == (image.sha256, 64, 48)
    for address in (reverse("image", args=[agent.pk, image.sha256]), shown["thumbnail"]):
        served = web.get(address)
        assert served.headers["Content-Type"] == "image/png"
        assert served.headers["Cache-Control"] == "private, max-age=31536000, immutable"
        assert served.headers["X-Content-Type-Options"] == "nosniff"
        assert served.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]
        assert served.content.startswith(b"\x89PNG")
    send = reverse("message_send", args=[agent.pk])
    sent = {"text": "", "key": "k", "images": [image.sha256]}
    assert web.post(send, sent, headers={"HX-Request": "true"}).status_code == 204
    assert Message.objects.get().images == [image.part()]
    page = web.get(reverse("agent", args=[agent.pk])).content.decode()
    assert f'src="{shown["thumbnail"]}"' in page
    assert 'alt="Image 1 of 1, 64 × 48 pixels"' in page


def test_nobody_else_sees_it_or_adds_one(agent: Agent, web: Client, bobs_web: Client) -> None:
    image = Image.add(agent, picture())
    place = [agent.pk, image.sha256]
    for address in (reverse("image", args=place), reverse("image_thumbnail", args=place)):
        assert web.get(address).status_code == 200
        assert bobs_web.get(address).status_code == 404
        assert Client().get(address).status_code == 302
    assert upload(bobs_web, agent, picture()) == 404
    assert web.get(reverse("image", args=[agent.pk, "a" * 64])).status_code == 404
    agent.trash()
    assert web.get(reverse("image", args=place)).status_code == 404


@pytest.mark.parametrize("data", [SVG, b"", bomb(), noise(90, 90)[:-900]])
def test_what_is_no_good_is_refused_in_words(agent: Agent, web: Client, data: bytes) -> None:
    address = reverse("image_add", args=[agent.pk])
    answer = web.post(address, {"image": SimpleUploadedFile("pie.png", data)})
    assert answer.status_code == 422
    assert re.search(r'class="refusal"[^>]*>\s*\S', answer.content.decode())
    assert web.post(address).status_code == 422
    assert not Image.objects.exists()


def test_looking_and_forging_change_nothing(agent: Agent, web: Client) -> None:
    address = reverse("image_add", args=[agent.pk])
    assert web.get(address).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(agent.owner)
    assert upload(strict, agent, picture()) == 403


def test_a_waiting_message_shows_its_images(agent: Agent, web: Client) -> None:
    image = Image.add(agent, picture())
    agent.first_conversation.send("First", "k1")
    agent.first_conversation.send("", "k2", [image.sha256])
    page = web.get(reverse("agent", args=[agent.pk])).content.decode()
    waiting = page[page.index('class="queue"') : page.index('id="composer"')]
    assert 'alt="Image 1, 64 × 48 pixels"' in waiting
    assert reverse("image_thumbnail", args=[agent.pk, image.sha256]) in waiting


def test_an_image_that_is_gone_is_not_sent(agent: Agent, web: Client) -> None:
    send = reverse("message_send", args=[agent.pk])
    answer = web.post(
        send, {"text": "See", "key": "k", "images": ["a" * 64]}, headers={"HX-Request": "true"}
    )
    assert answer.status_code == 422
    assert b"Attach it again" in answer.content
    assert not Run.objects.exists()


def test_the_past_shows_them_too(agent: Agent, web: Client, model: FakeOpenAI, ask: Ask) -> None:
    image = Image.add(agent, picture())
    ask("See", images=[image.sha256])
    page = web.get(reverse("past", args=[agent.pk, 1])).content.decode()
    assert reverse("image_thumbnail", args=[agent.pk, image.sha256]) in page
