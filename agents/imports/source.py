"""The file of an import: read from its parts, out of a zip, one conversation at a time.

Whatever it holds, no more of it is in memory than one part and one conversation of limited size.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import error as DeflateError

import ijson

from agents.models.history_import import HistoryImport
from agents.text.stored import stored as _

TOO_LARGE_ENTRY = _(
    "%(name)s in the zip would become %(size)s MB, which no export does. Upload the export of"
    " ChatGPT or Claude as you got it."
)
NAME = re.compile(r"(?:^|/)conversations(?:-\d+)?\.json$")
LARGEST_CONVERSATION = 64 * 1024 * 1024  # about as many bytes in memory
LARGEST_UNPACKED = 4 * 1024**3  # bytes
MOST_PACKED = 200  # times as long may a file in a zip be as it is there
LARGEST_DIRECTORY = 64 * 1024 * 1024  # bytes of a zip's list of files
LONGEST_TEXT = 32 * 1024 * 1024  # bytes without an end of a text
COST = 64  # bytes that a name, a number or a bracket takes, about
END = b"PK\x05\x06"
BEGINS, ENDS = ("start_map", "start_array"), ("end_map", "end_array")


class Unreadable(Exception):
    """The file is not what it should be; the message says why and what to do."""


class TooLarge:
    """Stands for a conversation that was too large to be read."""


Found = dict[str, Any] | type[TooLarge] | None  # None for what is no object


class Parts(io.RawIOBase):
    """The parts of a file as one that can be read from any place."""

    def __init__(self, of: HistoryImport) -> None:
        self.of, self.at = of, 0
        self.start, self.data = 0, b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self.at, io.SEEK_END: self.of.size}[whence]
        self.at = max(0, base + offset)
        return self.at

    def tell(self) -> int:
        return self.at

    def readinto(self, buffer: Any) -> int:
        if not self.start <= self.at < self.start + len(self.data):
            row = self.of.parts.filter(start__lte=self.at).order_by("-start").first()
            if row is None or self.at >= row.start + len(row.data):
                return 0
            self.start, self.data = row.start, bytes(row.data)
        some = self.data[self.at - self.start :][: len(buffer)]
        buffer[: len(some)] = some
        self.at += len(some)
        return len(some)


class Checked:
    """A stream of JSON in which no text may be endless."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.since, self.read_so_far = stream, 0, 0

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(size)
        quote = data.rfind(b'"')
        self.since = self.since + len(data) if quote < 0 else len(data) - quote
        self.read_so_far += len(data)
        if self.since > LONGEST_TEXT or self.read_so_far > LARGEST_UNPACKED:
            raise Unreadable(_("The file holds more than can be read here. Export less at a time."))
        return data


@contextmanager
def words_for_damage() -> Iterator[None]:
    """What goes wrong in reading, in words."""
    try:
        yield
    except (BadZipFile, DeflateError, EOFError, struct.error, NotImplementedError) as error:
        raise Unreadable(_("The zip is damaged. Download the export again.")) from error
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise Unreadable(
            _("The file is not complete JSON. Upload the zip as you got it, or conversations.json.")
        ) from error


def conversations_in(of: HistoryImport) -> Iterator[Found]:
    """The conversations of the file, in order.

    Unreadable where the file ends early or is of another kind.
    """
    with words_for_damage(), io.BufferedReader(Parts(of), 1024 * 1024) as file:
        if not file.peek(4).startswith(b"PK"):
            yield from objects_in(Checked(file))
            return
        check_directory(file, of.size)
        with ZipFile(file) as archive:
            found = sorted(
                (each for each in archive.infolist() if NAME.search(each.filename)),
                key=lambda each: each.filename,
            )
            if not found:
                raise Unreadable(
                    _(
                        "There is no conversations.json in the zip. Upload the export of ChatGPT or"
                        " Claude as you got it."
                    )
                )
            for entry in found:
                check_entry(entry)
                with archive.open(entry) as stream:
                    yield from objects_in(Checked(stream))


def check_directory(file: IO[bytes], size: int) -> None:
    """Unreadable where the list of a zip's files would take too much memory."""
    file.seek(max(0, size - 65_600))
    tail = file.read()
    at = tail.rfind(END)
    if at < 0 or len(tail) - at < 22:
        raise BadZipFile
    (length,) = struct.unpack_from("<I", tail, at + 12)
    if length > LARGEST_DIRECTORY:
        raise Unreadable(_("The zip has too many files. Upload its conversations.json alone."))
    file.seek(0)


def check_entry(entry: ZipInfo) -> None:
    """Unreadable where a file of a zip is locked, or would become too large."""
    if entry.flag_bits & 1:
        raise Unreadable(_("The zip has a password. Unpack it and upload conversations.json."))
    packed = entry.compress_type in (ZIP_STORED, ZIP_DEFLATED)
    most = MOST_PACKED * entry.compress_size + 1024 * 1024
    if not packed or entry.file_size > min(most, LARGEST_UNPACKED):
        size = f"{entry.file_size / 1024**2:,.0f}"
        raise Unreadable(TOO_LARGE_ENTRY % {"name": entry.filename, "size": size})


def objects_in(stream: Checked) -> Iterator[Found]:
    """The objects of a list in a stream of JSON, one at a time, or the one object that it is."""
    events = ijson.basic_parse(stream, use_float=True)
    first = next(events)[0]
    if first == "start_map":
        yield value_of(first, None, events)
    elif first == "start_array":
        for event, value in events:
            if event == "end_array":
                return
            yield value_of(event, value, events)
    else:
        raise Unreadable(_("The file holds no conversations. Upload an export as you got it."))


def value_of(event: str, value: Any, events: Iterator[tuple[str, Any]]) -> Found:
    """The value that begins with an event, read to its end also where it is not kept."""
    builder, cost, depth = ijson.ObjectBuilder(), 0, 0
    while True:
        if cost <= LARGEST_CONVERSATION:
            builder.event(event, value)
            cost += COST + (len(value) if isinstance(value, str) else 0)
        depth += (event in BEGINS) - (event in ENDS)
        if not depth:
            break
        event, value = next(events)
    if cost > LARGEST_CONVERSATION:
        return TooLarge
    return builder.value if isinstance(builder.value, dict) else None
