"""Two people's changes of one text are merged line by line."""

from __future__ import annotations

import random

import pytest

from agents.text.merge import merged

THREE_LINES = "Name: Bob\nCity: Riga\nLikes: pie"


@pytest.mark.parametrize(
    ("mine", "theirs", "merge"),
    [
        (THREE_LINES, THREE_LINES, THREE_LINES),
        ("Name: Sarah\nCity: Riga\nLikes: pie", THREE_LINES, "Name: Sarah\nCity: Riga\nLikes: pie"),
        (THREE_LINES, "Name: Bob\nCity: Riga", "Name: Bob\nCity: Riga"),
        (
            "Name: Sarah\nCity: Riga\nLikes: pie",
            "Name: Bob\nCity: Riga\nLikes: cake",
            "Name: Sarah\nCity: Riga\nLikes: cake",
        ),
        (
            "Name: Sarah\nCity: Riga\nLikes: pie",
            "Name: Bob\nCity: Riga\nLikes: pie\nHas a dog",
            "Name: Sarah\nCity: Riga\nLikes: pie\nHas a dog",
        ),
        (THREE_LINES + "\nSame", THREE_LINES + "\nSame", THREE_LINES + "\nSame"),
    ],
)
def test_changes_of_different_lines_are_merged(mine: str, theirs: str, merge: str) -> None:
    assert merged(THREE_LINES, mine, theirs) == (merge, False)


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "merge"),
    [
        ("Bob", "Sarah", "Sara", "Sarah\nSara"),
        (THREE_LINES, f"{THREE_LINES}\nMine", f"{THREE_LINES}\nTheirs", None),
        ("", "Mine", "Theirs", "Mine\nTheirs"),
        ("Bob\n", "Sarah\n", "Sara\n", "Sarah\nSara\n"),
    ],
)
def test_changes_of_the_same_lines_are_both_kept_to_choose_from(
    base: str, mine: str, theirs: str, merge: str | None
) -> None:
    assert merged(base, mine, theirs) == (merge or f"{THREE_LINES}\nMine\nTheirs", True)


def test_a_merge_loses_no_line_that_somebody_added() -> None:
    chance = random.Random(1)
    for _ in range(300):
        base = [f"line {n}" for n in range(chance.randrange(6))]
        mine, theirs = with_changes(chance, base, "mine"), with_changes(chance, base, "theirs")
        merge, _overlaps = merged("\n".join(base), "\n".join(mine), "\n".join(theirs))
        added = {line for line in mine + theirs if line not in base}
        assert added <= set(merge.split("\n")), (base, mine, theirs)


def test_a_merge_with_nobody_is_what_one_did() -> None:
    chance = random.Random(2)
    for _ in range(100):
        base = [f"line {n}" for n in range(chance.randrange(1, 6))]
        mine = "\n".join(with_changes(chance, base, "mine"))
        unchanged = "\n".join(base)
        assert merged(unchanged, mine, unchanged) == (mine, False)
        assert merged(unchanged, unchanged, mine) == (mine, False)


def with_changes(chance: random.Random, lines: list[str], who: str) -> list[str]:
    changed: list[str] = []
    for line in lines:
        action = chance.choice(["keep", "keep", "keep", "change", "drop", "insert"])
        if action == "change":
            line = f"{line} by {who}"
        if action != "drop":
            changed.append(line)
        if action == "insert":
            changed.append(f"new by {who}")
    return changed
