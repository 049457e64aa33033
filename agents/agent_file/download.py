"""An agent as a file that is downloaded."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from agents.models import Agent, AuditEntry, Conversation
from agents.models.event import snapshot

from .exporting import file_name, written

IN_MEMORY = 1024 * 1024  # bytes of a download; what is larger waits on disk
CHUNK = 64 * 1024  # bytes sent at once


def download(
    request: HttpRequest,
    agent: Agent,
    conversation: Conversation | None = None,
    *,
    with_messages: bool = True,
) -> StreamingHttpResponse:
    """An agent as a file, of one moment; written to the end before it is sent.

    `conversation` is the one of the agent's whose messages the file has; else it has all.
    """
    file: IO[bytes] = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115, closed once sent
    with snapshot():
        now = Agent.objects.get(pk=agent.pk)
        if conversation is not None:
            conversation = Conversation.of(now, conversation.pk)
        for piece in written(now, conversation, with_messages=with_messages):
            file.write(piece.encode())
    AuditEntry.record(AuditEntry.Action.EXPORTED, agent)
    return sent(request, file, file_name(agent), "application/json")


def download_all(request: HttpRequest, agents: Iterable[Agent], name: str) -> StreamingHttpResponse:
    """Agents as a zip of agent files, all of one moment; written to the end before it is sent."""
    file: IO[bytes] = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115, closed once sent
    with snapshot(), ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for agent in agents:
            with archive.open(f"{agent.pk}-{file_name(agent)}", "w", force_zip64=True) as entry:
                for piece in written(agent):
                    entry.write(piece.encode())
    file.seek(0, os.SEEK_END)
    return sent(request, file, name, "application/zip")


def sent(
    request: HttpRequest, file: IO[bytes], name: str, content_type: str
) -> StreamingHttpResponse:
    """A file that stands at its end."""
    size = file.tell()
    file.seek(0)
    content = async_chunks(file) if isinstance(request, ASGIRequest) else chunks(file)
    response = StreamingHttpResponse(content, content_type=content_type)
    response["Content-Length"] = str(size)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK):
            yield chunk


async def async_chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    """The same where the server is asynchronous."""
    with file:
        while chunk := await asyncio.to_thread(file.read, CHUNK):
            yield chunk
