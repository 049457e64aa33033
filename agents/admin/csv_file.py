"""Rows as CSV, for spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from django.http import HttpRequest, StreamingHttpResponse
from django.utils import translation

from agents.agent_file.download import IN_MEMORY, sent

FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets would compute


def csv_file(
    request: HttpRequest, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> StreamingHttpResponse:
    """A download of rows, in English and written to the end before it is sent."""
    file: IO[bytes] = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115, closed once sent
    text = TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    with translation.override("en"):
        writer.writerow(columns)
        writer.writerows([safe(cell) for cell in row] for row in rows)
    text.detach()
    return sent(request, file, name, "text/csv; charset=utf-8")


def safe(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell
