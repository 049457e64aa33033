"""Images: what is taken, what is kept of it, and for how long."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from io import BytesIO

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone
from PIL import Image as Pillow
from pytest_django import Settings

from agents.ledger.fork import fork
from agents.ledger.fork_conversation import fork as fork_conversation
from agents.ledger.time_travel import step_at
from agents.memory import sent_requests
from agents.models import Agent, Image, LimitReached, Message, Run
from agents.models.image import MOST_IMAGES
from agents.models.image_file import LARGEST_KEPT, LARGEST_UPLOAD, read_image
from agents.search.hybrid import search
from agents.search.scope import Messages
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI
from tests.support.pictures import SVG, bomb, noise, photograph, picture


def opened(data: bytes) -> Pillow.Image:
    return Pillow.open(BytesIO(data))


@pytest.mark.parametrize(
    ("form", "kept"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/png"), ("WEBP", "image/png")],
)
def test_four_kinds_of_files_are_taken_and_two_are_kept(form: str, kept: str) -> None:
    file = read_image(picture(64, 48, form=form))
    assert (file.media_type, file.width, file.height) == (kept, 64, 48)
    assert Pillow.MIME[opened(file.data).format or ""] == kept


def test_a_photograph_is_turned_upright_and_says_no_more_where_it_was_taken() -> None:
    file = read_image(photograph(64, 48))
    assert (file.width, file.height) == (48, 64)
    assert not opened(file.data).getexif()
    assert b"Secret camera" not in file.data + file.thumbnail


def test_of_a_moving_picture_the_first_is_kept() -> None:
    frames = [Pillow.new("RGB", (20, 10), colour) for colour in ("red", "blue")]
    frames[0].save(out := BytesIO(), "GIF", save_all=True, append_images=frames[1:])
    kept = opened(read_image(out.getvalue()).data)
    assert kept.convert("RGB").getpixel((3, 3)) == (255, 0, 0)
    assert getattr(kept, "n_frames", 1) == 1


def test_a_large_picture_is_scaled_down_and_never_grows_beyond_what_servers_take() -> None:
    file = read_image(picture(4096, 1024, form="JPEG"))
    assert (file.width, file.height) == (2048, 512)
    assert max(opened(file.thumbnail).size) == 320
    heavy = read_image(noise(1500, 1400))
    assert (heavy.media_type, heavy.width) == ("image/jpeg", 1500)
    assert len(heavy.data) <= LARGEST_KEPT


def test_what_is_see_through_stays_so() -> None:
    kept = opened(read_image(picture(9, 9, "#00800080")).data)
    assert kept.mode == "RGBA"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (SVG, "This is no image; send a PNG, JPEG, GIF or WebP."),
        (b"", "This is no image"),
        (b"GIF89a", "damaged|no image"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 99, "damaged|no image"),
        (picture(form="BMP"), "This is no image"),
        (noise(90, 90)[:-900], "The image is damaged or incomplete"),
        (picture(form="JPEG")[:-200], "The image is damaged or incomplete"),
        (bomb(), "too many pixels|60,000 × 60,000 pixels"),
        (bomb(9000, 9000), "The image has 9,000 × 9,000 pixels; at most 50 million"),
        (b"\0" * (LARGEST_UPLOAD + 1), "The image has 20.0 MB; at most 20 MB are allowed"),
    ],
    ids=["svg", "empty", "gif", "png", "bmp", "cut", "cut_jpeg", "bomb", "pixels", "large"],
)
def test_what_is_no_good_image_is_refused_in_words(data: bytes, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        read_image(data)


def test_the_same_pixels_are_kept_once_an_agent(agent: Agent, bob: User) -> None:
    first, second = Image.add(agent, picture()), Image.add(agent, picture())
    other = Agent.objects.create(owner=bob, name="Other")
    third = Image.add(other, picture())
    assert first.pk == second.pk != third.pk
    assert first.sha256 == third.sha256 == hashlib.sha256(read_image(picture()).data).hexdigest()


def test_a_person_has_room_for_so_many(agent: Agent, accounts: None, settings: Settings) -> None:
    settings.IMAGES_LIMIT = 0
    with pytest.raises(LimitReached, match="one person’s may take at most 0 MB"):
        Image.add(agent, picture())


def test_a_message_may_have_images_and_no_text(agent: Agent) -> None:
    keys = [Image.add(agent, picture(9 + n)).sha256 for n in range(MOST_IMAGES + 1)]
    run = agent.first_conversation.send("", "k1", keys[:2])
    assert agent.first_conversation.send("", "k1", keys[:2]).pk == run.pk
    message = Message.objects.get(run=run)
    assert [part["sha256"] for part in message.images] == keys[:2]
    assert (message.content, message.words) == ("", "[image] [image]")
    assert agent.first_conversation.title == "[image] [image]"
    with pytest.raises(ValidationError, match="has 11 images; at most 10 are allowed"):
        agent.first_conversation.send("See", "k2", keys)
    with pytest.raises(ValidationError, match="is empty"):
        agent.first_conversation.send("", "k3")


def test_nobody_names_an_image_of_another_agent(agent: Agent, bob: User) -> None:
    other = Agent.objects.create(owner=bob, name="Other")
    theirs = Image.add(other, picture())
    with pytest.raises(ValidationError, match="is no longer there"):
        agent.first_conversation.send("See", "k1", [theirs.sha256])
    assert not Run.objects.filter(agent=agent).exists()


def test_what_is_not_sent_within_a_day_is_deleted(agent: Agent) -> None:
    sent, unsent, fresh = (Image.add(agent, picture(9 + n)) for n in range(3))
    agent.first_conversation.send("See", "k1", [sent.sha256])
    yesterday = timezone.now() - timedelta(hours=25)
    Image.objects.exclude(pk=fresh.pk).update(created_at=yesterday)
    assert Image.objects.all().delete_unsent() == 1
    assert not Image.objects.filter(pk=unsent.pk).exists()
    Image.objects.update(created_at=yesterday)
    Image.add(agent, picture(11))  # again, so it has another day
    assert Image.objects.all().delete_unsent() == 0


def test_what_is_forgotten_takes_its_images_along(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    first, second = Image.add(agent, picture(9)), Image.add(agent, picture(10))
    ask("See", images=[first.sha256])
    waiting = agent.first_conversation.send("And", "k2", [second.sha256])
    behind = agent.first_conversation.send("", "k3", [second.sha256])
    assert behind.status == Run.Status.QUEUED
    behind.withdraw()
    assert Image.objects.count() == 2
    Run.objects.filter(pk=waiting.pk).update(status="done")
    assert agent.first_conversation.reset()
    assert not Image.objects.exists()


def test_a_waiting_message_keeps_its_images_and_may_lose_its_text(agent: Agent) -> None:
    image = Image.add(agent, picture())
    agent.first_conversation.send("First", "k1")
    waits = agent.first_conversation.send("See", "k2", [image.sha256])
    assert waits.rewrite("")
    Run.objects.filter(status="running").update(status="done")
    agent.first_conversation.begin_next()
    message = Message.objects.get(run=waits)
    assert (message.content, [each["sha256"] for each in message.images]) == ("", [image.sha256])


def test_forks_have_the_images_and_prove_the_requests(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    image = Image.add(agent, picture())
    Image.add(agent, picture(99))
    ask("See", images=[image.sha256])
    step = step_at(agent, 1)
    assert step
    made = fork(step, "Fork", agent.owner)
    assert [each.sha256 for each in made.images.all()] == [image.sha256]
    copied = step_at(made, 1)
    request = sent_requests.sent(copied) if copied else None
    assert request
    assert request.proven
    branch = fork_conversation(agent.first_conversation)
    assert [part["sha256"] for part in branch.messages.get(role="user").images] == [image.sha256]
    agent.first_conversation.reset()
    assert Image.objects.filter(agent=agent, sha256=image.sha256).exists()  # the branch has it
    agent.purge()
    assert [each.agent_id for each in Image.objects.all()] == [made.pk]


def test_a_message_with_images_is_found_by_that_word(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    image = Image.add(agent, picture())
    ask("My bicycle", images=[image.sha256])
    found = search(Messages(agent, roles=("user",)), "image", 5)
    assert [Messages.text(message) for message, _ in found.rows] == ["My bicycle [image]"]
