"""Reads the text of one file: a program of its own, as files come from anywhere.

    python -I reader.py KIND MEMORY SECONDS OUTPUT < file

It knows nothing of the application, and limits its memory and its output, in bytes, and its time by
itself. It writes JSON: `{"parts": [[page, text]], "empty": [pages without text]}`, where `page` is
null in what has no pages; or `{"refused": why}`, a key of `REFUSALS` in `reading.py`.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
import resource
import sys
import unicodedata
from contextlib import suppress
from typing import Any

Parts = list[tuple[int | None, str]]
OLE = b"\xd0\xcf\x11\xe0"  # begins a Word file that has a password, or is of before 2007
CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?([\w.:-]{2,40})", re.IGNORECASE)
LIGATURES = re.compile("[\ufb00-\ufb06]")
HYPHENATED = re.compile(r"(?<=[^\W\d_])-\n(?=[a-zß-öø-ÿ])")
NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Refused(Exception):
    """Why nothing is read, in one word."""


def limit(memory: int, seconds: int, output: int) -> None:
    """Take no more than this, and leave the machine to others."""
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, output),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # macOS has no limit of memory
            resource.setrlimit(what, (most, most))
    with suppress(OSError, AttributeError):
        os.nice(10)
        os.sched_setaffinity(0, range(os.cpu_count() or 1))  # the server keeps to one core


def read_text(data: bytes) -> Parts:
    return [(None, decoded(data))]


def read_html(data: bytes) -> Parts:
    named = CHARSET.search(data[:2048])
    with suppress(LookupError, UnicodeDecodeError):
        if named:
            return [(None, as_markdown(data.decode(named[1].decode())))]
    return [(None, as_markdown(decoded(data)))]


def read_docx(data: bytes) -> Parts:
    import mammoth  # noqa: PLC0415

    if data.startswith(OLE):
        raise Refused("old")
    no_images = mammoth.images.img_element(lambda image: {"src": ""})
    made = mammoth.convert_to_html(io.BytesIO(data), convert_image=no_images)
    return [(None, as_markdown(made.value))]


def read_pdf(data: bytes) -> Parts:
    import pypdf  # noqa: PLC0415

    logging.disable()  # it warns of much that does no harm
    file = pypdf.PdfReader(io.BytesIO(data))
    if file.is_encrypted and not file.decrypt(""):
        raise Refused("encrypted")
    pages: Parts = []
    for number, page in enumerate(file.pages, 1):
        text = text_of(page).replace("\uf0b7", "•")  # as it is in the font Symbol
        text = LIGATURES.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
        pages.append((number, HYPHENATED.sub("", text)))
    return pages


def text_of(page: Any) -> str:
    """A page's text; none where it cannot be read."""
    try:
        return str(page.extract_text())
    except MemoryError:
        raise
    except Exception:  # one page of many: it is named among those without text
        return ""


def as_markdown(html: str) -> str:
    """The text of a page, without what is around it and without pictures."""
    from html_to_markdown import (  # noqa: PLC0415
        ConversionOptions,
        PreprocessingOptions,
        convert,
    )

    clean = PreprocessingOptions(enabled=True, preset="standard")
    options = ConversionOptions(extract_metadata=False, skip_images=True, preprocessing=clean)
    return convert(html.encode("utf-8", "replace").decode(), options).content or ""


def decoded(data: bytes) -> str:
    """Text in UTF-8, in UTF-16 that says so, or else as old Windows programs write it."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    if b"\0" in data:
        raise Refused("damaged")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


READERS = {"text": read_text, "html": read_html, "docx": read_docx, "pdf": read_pdf}


def answer(kind: str, data: bytes) -> dict[str, Any]:
    """What is in a file, or why not."""
    try:
        parts = [
            (page, NO_TEXT.sub("", text.replace("\r\n", "\n")).strip())
            for page, text in READERS[kind](data)
        ]
    except Refused as why:
        return {"refused": str(why)}
    except (MemoryError, RecursionError):
        return {"refused": "limits"}
    except Exception:  # decoders meet bytes that nobody foresaw
        return {"refused": "damaged"}
    full = [part for part in parts if part[1]]
    if not full:
        return {"refused": "scanned" if kind == "pdf" else "empty"}
    return {"parts": full, "empty": [page for page, text in parts if not text]}


def main() -> None:
    kind, *limits = sys.argv[1:]
    data = sys.stdin.buffer.read()
    limit(*map(int, limits))
    json.dump(answer(kind, data), sys.stdout)


if __name__ == "__main__":
    main()
