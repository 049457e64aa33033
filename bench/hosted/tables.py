"""A table, for the terminal and for a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass
class Table:
    """Rows of cells; the first column is of words, the others of figures."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        self.rows.append(cells)

    def text(self) -> str:
        every = [self.columns, *self.rows]
        widths = [max(map(len, column)) for column in zip(*every, strict=True)]
        lines = [aligned(row, widths).rstrip() for row in every]
        return "\n".join([self.title, "", lines[0], "-" * max(map(len, lines)), *lines[1:]])

    def markdown(self) -> str:
        ruler = ["---", *("---:" for _ in self.columns[1:])]
        lines = [f"| {' | '.join(row)} |" for row in [self.columns, ruler, *self.rows]]
        return "\n".join([f"**{self.title}**", "", *lines])


def aligned(row: Sequence[str], widths: Iterable[int]) -> str:
    cells = zip(row, widths, strict=True)
    return "  ".join(
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(cells)
    )


def judged(value: float, aim: float) -> str:
    """An aim, and whether a value meets it."""
    return f"≤ {aim:g} {'✓' if value <= aim else '✗'}"


def milliseconds(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
