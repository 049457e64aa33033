"""Pictures for tests, made on the spot."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO

from PIL import Image

ORIENTATION, MAKE = 0x0112, 0x010F


def picture(
    width: int = 64, height: int = 48, colour: str = "teal", form: str = "PNG", **options: object
) -> bytes:
    """An image file in one colour."""
    mode = "RGBA" if form in ("PNG", "WEBP") and colour.startswith("#") else "RGB"
    Image.new(mode, (width, height), colour).save(out := BytesIO(), form, **options)
    return out.getvalue()


def photograph(width: int = 64, height: int = 48) -> bytes:
    """A JPEG that lies on its side, and says where it was taken."""
    exif = Image.Exif()
    exif[ORIENTATION], exif[MAKE] = 6, "Secret camera"
    return picture(width, height, form="JPEG", exif=exif.tobytes())


def noise(width: int, height: int) -> bytes:
    """A PNG that no encoder makes small."""
    Image.effect_noise((width, height), 99).convert("RGB").save(out := BytesIO(), "PNG")
    return out.getvalue()


def bomb(width: int = 60_000, height: int = 60_000) -> bytes:
    """A PNG of a few bytes that says it has this size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 99))


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>1</script></svg>'
