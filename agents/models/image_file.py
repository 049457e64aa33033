"""Image files: checked, and made into PNG or JPEG, the two forms that every model server reads.

What is kept is written anew from the pixels, so it holds nothing else: no place where a photograph
was taken, no second image, no script.
"""

from __future__ import annotations

import threading
from io import BytesIO
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_noop
from PIL import Image, ImageOps, UnidentifiedImageError

from agents.text.numbers import decimal, whole

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
PHOTOS = ("JPEG", "MPO")  # MPO is a JPEG with further pictures behind it
MEGABYTE = 1024 * 1024
LARGEST_UPLOAD = 20 * MEGABYTE
MOST_PIXELS = 50_000_000  # of an upload: 150 MB while it is read
LONGEST_SIDE = 2048  # pixels of what is kept; larger ones are scaled down by the models themselves
LARGEST_KEPT = 3_500_000  # bytes: below 5 MB in base64, the most that Anthropic takes
QUALITIES = (90, 75, 50)  # of a JPEG, until it is small enough
THUMBNAIL = 320  # pixels
WHITE = (255, 255, 255)

_reading = threading.Lock()  # one at a time: a large one takes much memory


class ImageFile(NamedTuple):
    """An image as it is kept; `thumbnail` is a smaller one, of the same type or a JPEG."""

    media_type: str
    width: int
    height: int
    data: bytes
    thumbnail: bytes


def read_image(data: bytes) -> ImageFile:
    """The first picture in a PNG, JPEG, GIF or WebP, turned upright and at most 2,048 px a side.

    ValidationError for anything else, for more than 20 MB or 50 million pixels, and for a file that
    is damaged.
    """
    if len(data) > LARGEST_UPLOAD:
        raise ValidationError(
            gettext(
                "The image has %(size)s MB; at most %(most)s MB are allowed. Make it smaller and"
                " try again."
            )
            % {"size": decimal(len(data) / MEGABYTE), "most": whole(LARGEST_UPLOAD // MEGABYTE)}
        )
    with _reading:
        opened = _opened(data)
        picture = _upright(opened)
        kept, media_type = _encoded(picture, is_photo=opened.format in PHOTOS)
        small = picture.copy()
        small.thumbnail((THUMBNAIL, THUMBNAIL))
        thumbnail, _ = _encoded(small, is_photo=media_type == "image/jpeg")
    return ImageFile(media_type, picture.width, picture.height, kept, thumbnail)


def _opened(data: bytes) -> Image.Image:
    """The file's header, with its kind and its size checked."""
    try:
        picture = Image.open(BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError:
        words = gettext("This is no image; send a PNG, JPEG, GIF or WebP.")
        raise ValidationError(words) from None
    except Image.DecompressionBombError:
        words = gettext(
            "The image has too many pixels; at most %(most)s million are allowed. Make it smaller"
            " and try again."
        )
        raise ValidationError(words % {"most": MOST_PIXELS // 1_000_000}) from None
    except Exception:
        raise ValidationError(gettext(DAMAGED)) from None
    if picture.width * picture.height > MOST_PIXELS:
        raise ValidationError(
            gettext(
                "The image has %(width)s × %(height)s pixels; at most %(most)s million are"
                " allowed. Make it smaller and try again."
            )
            % {
                "width": whole(picture.width),
                "height": whole(picture.height),
                "most": MOST_PIXELS // 1_000_000,
            }
        )
    return picture


DAMAGED = gettext_noop(
    "The image is damaged or incomplete; open it in another program, save it and try again."
)


def _upright(picture: Image.Image) -> Image.Image:
    """Its pixels, in RGB, RGBA or grey, turned as its EXIF says and scaled down if it is large."""
    most = (LONGEST_SIDE, LONGEST_SIDE)
    try:
        if picture.format in PHOTOS:
            picture.draft(picture.mode, most)  # reads a large one at a half or a quarter at once
        picture.load()
        upright = ImageOps.exif_transpose(picture)
    except Exception:  # decoders meet bytes that nobody foresaw
        raise ValidationError(gettext(DAMAGED)) from None
    if upright.mode.startswith("I"):  # 16 bits of grey
        upright = upright.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    grey = upright.mode in ("1", "L")
    plain = upright.convert("RGBA" if upright.has_transparency_data else "L" if grey else "RGB")
    plain.thumbnail(most, Image.Resampling.LANCZOS)
    return plain


def _encoded(picture: Image.Image, *, is_photo: bool) -> tuple[bytes, str]:
    """Its bytes and their type: JPEG for a photograph and for what is large as PNG."""
    if not is_photo:
        if len(data := _saved(picture, "PNG")) <= LARGEST_KEPT:
            return data, "image/png"
        if picture.mode == "RGBA":
            background = Image.new("RGB", picture.size, WHITE)
            background.paste(picture, mask=picture.getchannel("A"))
            picture = background
    data = b""
    for quality in QUALITIES:
        data = _saved(picture, "JPEG", quality=quality)
        if len(data) <= LARGEST_KEPT:
            break
    return data, "image/jpeg"


def _saved(picture: Image.Image, form: str, **options: int) -> bytes:
    """The file, without what was beside the pixels."""
    bare = picture.copy()
    bare.info = {}
    bare.save(out := BytesIO(), form, **options)
    return out.getvalue()
