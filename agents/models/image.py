"""Image: a picture in a message of a person, kept once an agent and named by its SHA-256."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from agents.text.numbers import whole

from .image_file import read_image
from .limits import check_images
from .role import visible
from .stored_bytes import check_storage

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from .agent import Agent

MOST_IMAGES = 10  # of one message
UNSENT = timedelta(days=1)  # after which an image that no message names is deleted
MARK = "[image]"  # what stands for an image where there is only text

# An image as a message names it: its SHA-256 in hexadecimal, "media_type", "width" and "height" in
# pixels, "size" in bytes.
ImagePart = dict[str, Any]


class ImageQuerySet(models.QuerySet["Image"]):
    def visible_to(self, user: User | AnonymousUser) -> ImageQuerySet:
        """The images of the agents a person may see; see `AgentQuerySet.visible_to`."""
        return self.filter(visible(user))

    def delete_unsent(self) -> int:
        """Delete what was uploaded over a day ago and never sent; how many that were."""
        late = self.filter(is_named=False, created_at__lt=timezone.now() - UNSENT)
        return late.delete()[0] if late.exists() else 0


class ImageManager(models.Manager["Image"]):
    def get_queryset(self) -> ImageQuerySet:
        """Rows without their bytes, which are read one by one."""
        return ImageQuerySet(self.model, using=self._db).defer("data", "thumbnail")


class Image(models.Model):
    """An image that was uploaded for an agent. Its bytes never change."""

    # the index of the constraint below begins with the agent: it needs none of its own
    agent = models.ForeignKey("Agent", models.CASCADE, related_name="images", db_index=False)
    sha256 = models.CharField(max_length=64)
    media_type = models.CharField(max_length=20)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    size = models.PositiveIntegerField(help_text="Bytes.")
    data = models.BinaryField()
    thumbnail = models.BinaryField()
    is_named = models.BooleanField(default=False, help_text="A message has it.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ImageManager.from_queryset(ImageQuerySet)()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "sha256"], name="image_is_kept_once"),
        ]
        indexes = [
            models.Index(
                fields=["created_at"], condition=models.Q(is_named=False), name="image_unsent"
            )
        ]

    def __str__(self) -> str:
        return f"{self.width} × {self.height}"

    @classmethod
    def add(cls, agent: Agent, data: bytes) -> Image:
        """Keep an image for messages to an agent; the same pixels are kept once.

        ValidationError as in `read_image`; LimitReached where the owner has too many. Not within a
        transaction: reading a large image takes a second.
        """
        return cls.read(data).keep(agent)

    @classmethod
    def read(cls, data: bytes) -> Image:
        """An image that is not stored yet, and no agent's; ValidationError as in `read_image`."""
        file = read_image(data)
        key = hashlib.sha256(file.data).hexdigest()
        return cls(sha256=key, size=len(file.data), **file._asdict())

    def keep(self, agent: Agent) -> Image:
        """Store it for an agent, unless it is there already."""
        self.check_room(agent.owner_id, self.size)
        names = ("media_type", "width", "height", "size", "data", "thumbnail", "is_named")
        fields = {name: getattr(self, name) for name in names}
        image, made = Image.objects.get_or_create(agent=agent, sha256=self.sha256, defaults=fields)
        if not made:  # uploaded again: it has a day again to be sent
            Image.objects.filter(pk=image.pk).update(created_at=timezone.now())
        return image

    @classmethod
    def check_room(cls, owner_id: int, size: int) -> None:
        """LimitReached where so many more bytes are too many for a person."""
        check_images(cls.objects.filter(agent__owner=owner_id), size)
        check_storage(owner_id, size)

    def part(self) -> ImagePart:
        """As a message names it."""
        fields = ("sha256", "media_type", "width", "height", "size")
        return {name: getattr(self, name) for name in fields}

    @classmethod
    def name(cls, agent: Agent, keys: Sequence[str]) -> list[ImagePart]:
        """The agent's images with these SHA-256s, in order, for a message that is being stored.

        ValidationError where they are too many, or one is not there.
        """
        if not keys:
            return []
        if len(keys) > MOST_IMAGES:
            raise ValidationError(
                ngettext(
                    "The message has %(count)s image; at most %(most)s are allowed. Send the"
                    " others in another message.",
                    "The message has %(count)s images; at most %(most)s are allowed. Send the"
                    " others in another message.",
                    len(keys),
                )
                % {"count": whole(len(keys)), "most": whole(MOST_IMAGES)}
            )
        rows = cls.objects.filter(agent=agent, sha256__in=keys)
        rows.update(is_named=True)
        parts = {row.sha256: row.part() for row in rows}
        if not parts.keys() >= set(keys):
            raise ValidationError(
                gettext(
                    "An image of this message is no longer there: what is not sent within a day is"
                    " deleted. Attach it again."
                )
            )
        return [parts[key] for key in keys]

    @classmethod
    def in_base64(cls, agent_id: UUID | None, keys: Collection[str]) -> dict[str, str]:
        """The bytes of an agent's images by their SHA-256s."""
        rows = cls.objects.filter(agent=agent_id, sha256__in=keys).values_list("sha256", "data")
        return {sha256: base64.b64encode(data).decode() for sha256, data in rows}

    @classmethod
    def delete_unnamed(cls, agent: Agent) -> None:
        """Delete those that messages had which are gone by now; with the agent's row held."""
        images = cls.objects.filter(agent=agent, is_named=True)
        if images.exists():
            gone = set(images.values_list("sha256", flat=True)) - named_by(agent)
            images.filter(sha256__in=gone).delete()

    @classmethod
    def copy(cls, first: Agent, agent: Agent) -> None:
        """Give an agent those of another that its own messages name."""
        for row in cls.objects.filter(agent=first, sha256__in=named_by(agent)).defer(None):
            row.keep(agent)


def named_by(agent: Agent) -> set[str]:
    """The SHA-256s of the images that an agent's messages have, and those that wait."""
    parts = [
        part
        for rows in (agent.messages, agent.runs)
        for parts in rows.exclude(images=[]).values_list("images", flat=True)
        for part in parts
    ]
    for before in agent.runs.filter(status="queued").values_list("before", flat=True):
        parts += [part for message in before for part in message.get("images", ())]
    return {part["sha256"] for part in parts}


def with_marks(text: str, images: Iterable[object]) -> str:
    """A text with a mark behind it for each of its images."""
    return " ".join([*filter(None, [text]), *(MARK for _ in images)])
