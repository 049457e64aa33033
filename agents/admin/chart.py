"""A chart of days: a bar for each, in parts for those that had most; and the same as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from agents.text.numbers import whole

NAMED = 7  # that have a colour of their own
WIDTH, HEIGHT = 720, 160  # units of the picture; the text below it has its own
WIDEST = 48.0  # of a bar
# told apart on white and on black, also by who sees no red or green (after Okabe and Ito)
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#a89a00", "#888888")

Series = dict[str, Counter[date]]  # by name, how much on each day


class Measure(NamedTuple):
    """What is counted: how one writes so much of it, and the number of it alone."""

    words: Callable[[int], str]
    number: Callable[[int], str] = whole


class Part(NamedTuple):
    """A rectangle: what one name had on a day."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    title: str


class Tick(NamedTuple):
    """A day's name below the bars."""

    x: float
    text: str


@dataclass(frozen=True)
class Chart:
    """The parts, the names with their colours and sums, the days' names, the highest bar, and the
    table: of each day, the newest first, what each name had."""

    title: str
    parts: list[Part]
    names: list[tuple[str, str, str]]
    ticks: list[Tick]
    most: str
    table: list[tuple[date, list[str]]]
    width: int = WIDTH
    height: int = HEIGHT


def days_until(newest: date, count: int) -> list[date]:
    """So many days, the newest last."""
    return [newest - timedelta(days=ago) for ago in reversed(range(count))]


def most_first(series: Series) -> Series:
    """Those that had most, with a colour for each; the rest together."""
    ranked = sorted(series, key=lambda name: (-series[name].total(), name))
    shown = {name: series[name] for name in ranked[:NAMED]}
    if rest := ranked[NAMED:]:
        shown[_("others")] = sum((series[name] for name in rest), Counter())
    return shown


def draw(title: str, series: Series, days: Sequence[date], measure: Measure) -> Chart:
    """The chart of these names, at most eight, in this order; a name keeps its colour where
    another had nothing."""
    colours = dict(zip(series, COLOURS, strict=False))
    series = {name: each for name, each in series.items() if each.total()}
    most = max((sum(each[day] for each in series.values()) for day in days), default=0)
    place = WIDTH / len(days)
    every = -(-len(days) // 8)  # so many days to a name, so that names do not meet
    parts = [
        part
        for at, day in enumerate(days)
        for part in stacked(
            {name: (each[day], colours[name]) for name, each in series.items()},
            *(place * (at + 0.5), min(place * 0.8, WIDEST), max(most, 1)),
            *(date_format(day, "DATE_FORMAT"), measure),
        )
    ]
    return Chart(
        title,
        parts,
        [(name, colours[name], measure.number(each.total())) for name, each in series.items()],
        [
            Tick(round(place * (at + 0.5), 2), date_format(day, "DAY_FORMAT"))
            for at, day in enumerate(days)
            if at % every == 0
        ],
        measure.words(most),
        [(day, [measure.number(each[day]) for each in series.values()]) for day in reversed(days)],
    )


def stacked(
    counts: Mapping[str, tuple[int, str]],
    middle: float,
    width: float,
    most: int,
    day: str,
    measure: Measure,
) -> Iterator[Part]:
    """A day's bar, from the bottom: how much each name had, with its colour."""
    y = float(HEIGHT)
    for name, (count, colour) in counts.items():
        if count:
            height = HEIGHT * count / most
            y -= height
            title = f"{day}, {name}: {measure.words(count)}"
            place = (round(middle - width / 2, 2), round(y, 2), round(width, 2), round(height, 2))
            yield Part(*place, colour, title)
