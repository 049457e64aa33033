"""What changed between two texts, in words and in lines.

difflib finds the differences that read best, but takes cubic time over texts that repeat
themselves. It is given so many steps; what it does not finish is compared by longest common
subsequence, in C++, and what is too large for that as well counts as changed from end to end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import NamedTuple

from django.utils.translation import ngettext
from rapidfuzz.distance import LCSseq

from .cache import cached_by_text
from .numbers import whole as whole_number

WORDS = re.compile(r"\w+|\s+|[^\w\s]")
MOST_STEPS = 200_000  # of difflib's, some 15 ms
MOST_TOKENS = 30_000  # lines or words of both texts; more are not compared at all
LONGEST = 400_000  # characters of both texts that are taken apart
SHORT = 20_000  # characters of both texts that are compared by words at once
LCS_STEP = 1000  # pairs that the subsequence compares in the time of one step
MOST_PAIRS = 50_000_000  # it compares at most; it keeps a bit of each
MOST_PIECES = 5000  # of a difference; with more, both texts are shown whole
LONGEST_LINE = 2000  # characters of a line that are shown
ROOM_SHOWN = 20_000  # characters for the lines that an edit added, and for those it removed
ROOM_OF_LINE = 200  # characters that a line takes beside its text
ALIKE = 0.4  # of the shorter text, or of the longer if it has more lines

Change = tuple[int, int, int, int]


class Piece(NamedTuple):
    """A stretch of text that is `same`, `added` or `removed`."""

    kind: str
    text: str


class Work:
    """How much may still be compared, in steps; several comparisons may share it."""

    def __init__(self, steps: int = MOST_STEPS) -> None:
        self.left = steps

    def take(self, steps: int) -> bool:
        """Whether so much is left; then it is used."""
        if steps > self.left:
            return False
        self.left -= steps
        return True


def changes(old: Sequence[str], new: Sequence[str], work: Work | None = None) -> list[Change]:
    """The stretches `old[a:b]` that became `new[c:d]`, in order; all else is the same."""
    least = min(len(old), len(new))
    head = next((i for i in range(least) if old[i] != new[i]), least)
    least -= head
    tail = next((i for i in range(least) if old[-1 - i] != new[-1 - i]), least)
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    if not old and not new:
        return []
    whole = [(0, len(old), 0, len(new))]
    found = _compared(old, new, work or Work()) if old and new else whole
    return [(head + a, head + b, head + c, head + d) for a, b, c, d in found]


def _compared(old: Sequence[str], new: Sequence[str], work: Work) -> list[Change]:
    if len(old) + len(new) > MOST_TOKENS or not work.take(len(old) + len(new)):
        return [(0, len(old), 0, len(new))]
    matcher = _Matcher(old, new, work)
    try:
        return [code[1:] for code in matcher.get_opcodes() if code[0] != "equal"]
    except _TooMuch:
        pairs = len(old) * len(new)
        if pairs > MOST_PAIRS or not work.take(pairs // LCS_STEP):
            return [(0, len(old), 0, len(new))]
    numbers: dict[str, str] = {}
    ours, theirs = (
        "".join(numbers.setdefault(each, chr(len(numbers))) for each in side) for side in (old, new)
    )
    found: list[Change] = []
    for code in LCSseq.opcodes(ours, theirs):
        if code.tag == "equal":
            continue
        a, c = code.src_start, code.dest_start
        if found and (found[-1][1], found[-1][3]) == (a, c):
            a, c = found.pop()[::2]
        found.append((a, code.src_end, c, code.dest_end))
    return found


class _TooMuch(Exception):
    """The comparison would take more steps than there are."""


class _Matcher(SequenceMatcher[str]):
    """difflib's, which counts what it does. At most half of the steps left are its."""

    def __init__(self, old: Sequence[str], new: Sequence[str], work: Work) -> None:
        super().__init__(None, old, new, autojunk=False)
        often = Counter(new)
        self._steps = [0, *accumulate(1 + often[each] for each in old)]
        self._work, self._least, self._end = work, work.left // 2, len(old)

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        end = self._end if ahi is None else ahi
        self._work.left -= self._steps[end] - self._steps[alo]
        if self._work.left < self._least:
            raise _TooMuch
        return super().find_longest_match(alo, ahi, blo, bhi)


# -- what both texts begin and end with ------------------------------------------------------------


def differing(before: str, after: str) -> tuple[int, int]:
    """Where two texts may differ: characters of whole lines that both begin with, and end with.

    What is between them is all that is taken apart, so a change of one line costs as much in a long
    text as in a short one. Both cuts are next to a line break with no other white space around it,
    where a word ends too.
    """
    a, b = len(before), len(after)
    head = most_alike(min(a, b), lambda i, j: before[i:j] == after[i:j])
    tail = most_alike(min(a, b) - head, lambda i, j: before[a - j : a - i] == after[b - j : b - i])
    start = next((i + 1 for i in breaks(before, head) if not before[i + 1].isspace()), 0)
    first = len(before) - tail + 1  # a break there follows a character that is the same
    end = before.find("\n", first)
    while end > 0 and before[end - 1].isspace():
        end = before.find("\n", end + 1)
    return start, len(before) - end if end > 0 else 0


def most_alike(end: int, alike: Callable[[int, int], bool]) -> int:
    """How many characters, at most `end`, are the same; `alike` says whether a stretch is."""
    start = 0
    while start < end:
        middle = (start + end + 1) // 2
        if alike(start, middle):
            start = middle
        else:
            end = middle - 1
    return start


def breaks(text: str, end: int) -> Iterator[int]:
    """The line breaks before `end` that are followed by a character before it, the last first."""
    place = text.rfind("\n", 0, max(0, end - 1))
    while place >= 0:
        yield place
        place = text.rfind("\n", 0, place)


# -- words -----------------------------------------------------------------------------------------


def size_of(pieces: Sequence[Piece]) -> int:
    """Characters that pieces take, roughly."""
    return sum(100 + len(piece.text) for piece in pieces)


@cached_by_text(size_of)
def words_changed(before: str, after: str) -> list[Piece]:
    """The difference of two texts as pieces; joining all but `removed` gives `after`.

    Of long texts the lines are compared first, then the words of those that changed.
    """
    if len(before) + len(after) > LONGEST:
        return whole(before, after)
    head, tail = differing(before, after)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    ends = Piece("same", after[:head]), Piece("same", after[len(after) - tail :])
    return readable([ends[0], *middle_changed(old, new), ends[1]], before, after)


def middle_changed(before: str, after: str) -> list[Piece]:
    work = Work()
    if len(before) + len(after) <= SHORT:
        return words_compared(before, after, work)
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    pieces: list[Piece] = []
    end = 0
    for a, b, c, d in changes(old, new, work):
        pieces.append(Piece("same", "".join(new[end:c])))
        pieces += words_compared("".join(old[a:b]), "".join(new[c:d]), work)
        end = d
    return readable([*pieces, Piece("same", "".join(new[end:]))], before, after)


def words_compared(before: str, after: str, work: Work) -> list[Piece]:
    """The same word by word, with what is left of the work."""
    old, new = WORDS.findall(before), WORDS.findall(after)
    pieces: list[Piece] = []
    end = 0
    for a, b, c, d in changes(old, new, work):
        pieces += [
            Piece("same", "".join(new[end:c])),
            Piece("removed", "".join(old[a:b])),
            Piece("added", "".join(new[c:d])),
        ]
        end = d
    return readable([*pieces, Piece("same", "".join(new[end:]))], before, after)


def readable(pieces: list[Piece], before: str, after: str) -> list[Piece]:
    """Pieces without empty ones; both texts whole, where there are more than anybody reads."""
    found: list[Piece] = []
    for piece in pieces:
        if found and piece.kind == "same" == found[-1].kind:
            found[-1] = Piece("same", found[-1].text + piece.text)
        elif piece.text:
            found.append(piece)
    return found if len(found) <= MOST_PIECES else whole(before, after)


def whole(before: str, after: str) -> list[Piece]:
    """One text gone, the other come."""
    pieces = [Piece("removed", before), Piece("added", after)]
    return [piece for piece in pieces if piece.text]


def rewritten(before: str, after: str, work: Work) -> list[Piece]:
    """What became of some lines: word by word, or whole where they have too little in common."""
    if not before or not after:
        return whole(before, after)
    pieces = words_compared(before, after, work)
    kept = sum(len(piece.text.strip()) for piece in pieces if piece.kind == "same")
    as_many = before.count("\n") == after.count("\n")
    if kept > ALIKE * (min if as_many else max)(len(before), len(after)):
        return pieces
    return [Piece("removed", before), Piece("same", "\n"), Piece("added", after)]


# -- lines -----------------------------------------------------------------------------------------


class Lines(NamedTuple):
    """The lines that changed: how many, and the first of them to be shown."""

    added: int
    removed: int
    shown: list[Piece]

    @property
    def left_out(self) -> int:
        return self.added + self.removed - len(self.shown)


@cached_by_text(lambda lines: size_of(lines.shown), has_words=True)
def lines_changed(before: str, after: str) -> Lines:
    """The difference of two texts line by line, unchanged and empty lines left out."""
    head, tail = differing(before, after)
    old = before[head : len(before) - tail].split("\n")
    new = after[head : len(after) - tail].split("\n")
    count, shown = Counter[str](), Counter[str]()
    pieces: list[Piece] = []
    for a, b, c, d in changes(old, new):
        for kind, lines in (("removed", old[a:b]), ("added", new[c:d])):
            there = [line for line in lines if line]
            count[kind] += len(there)
            for line in there:
                piece = Piece(kind, cut(line))
                shown[kind] += len(piece.text) + ROOM_OF_LINE
                if shown[kind] > ROOM_SHOWN:
                    break
                pieces.append(piece)
    return Lines(count["added"], count["removed"], pieces)


def cut(line: str) -> str:
    """A line, or its beginning and how much follows."""
    more = len(line) - LONGEST_LINE
    return line if more <= 0 else with_rest(line[:LONGEST_LINE], more)


def with_rest(beginning: str, more: int) -> str:
    """The beginning of a text, and how many characters follow."""
    rest = ngettext("… and %(count)s more character", "… and %(count)s more characters", more)
    return f"{beginning} {rest % {'count': whole_number(more)}}"


@cached_by_text(lambda hunks: sum(map(size_of, hunks)))
def hunks_changed(before: str, after: str) -> list[list[Piece]]:
    """The lines that changed, each stretch of them word by word."""
    if len(before) + len(after) > LONGEST:
        return [whole(before, after)]
    work = Work()
    head, tail = differing(before, after)
    old = terminated(before[head : len(before) - tail])
    new = terminated(after[head : len(after) - tail])
    return [
        rewritten("".join(old[a:b]).removesuffix("\n"), "".join(new[c:d]).removesuffix("\n"), work)
        for a, b, c, d in changes(old, new, work)
    ]


def terminated(text: str) -> list[str]:
    """A text's lines, each with its end, also the last one; no line where there is no text."""
    return [f"{line}\n" for line in text.split("\n")] if text else []
