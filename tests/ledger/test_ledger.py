"""The ledger: versions restored, undone and redone, told line by line."""

from __future__ import annotations

import random
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.ledger import blame as blames
from agents.ledger.blame import blame
from agents.models import Agent, Block, Editor, MemoryRefusal
from agents.models.block_edit import taken_back_by, undos_of
from agents.text.diff import changes, terminated
from tests.conftest import edit_of
from tests.support.ledger import lines_by_version, step_of, written

# -- restore ---------------------------------------------------------------------------------------


def test_a_restore_makes_an_old_value_the_current_one_as_a_new_edit(
    human: Block, by: Editor
) -> None:
    written(human, 3, by)
    edit = edit_of(human.restore(1, by=by))
    assert human.value == Block.objects.get(pk=human.pk).value == "Count: 1"
    assert (edit.version, edit.restores, edit.before) == (4, 1, "Count: 3")


def test_the_value_a_block_was_made_with_is_version_0(human: Block, by: Editor) -> None:
    written(human, 2, by)
    human.restore(0, by=by)
    assert human.value == "Name: Bob"


def test_restoring_what_the_block_says_already_writes_nothing(human: Block, by: Editor) -> None:
    written(human, 1, by)
    assert human.restore(1, by=by) is None
    assert human.version == 1


def test_a_version_over_the_limit_of_today_is_not_restored(human: Block, by: Editor) -> None:
    human.set_value("x" * 30, by=by)
    human.set_value("Short", by=by)
    human.configure(limit=20)
    with pytest.raises(
        MemoryRefusal, match=r"Version 1 of block 'human' has 30 characters and the"
    ):
        human.restore(1, by=by)
    assert human.version == 2


@pytest.mark.parametrize("version", [9, 2**31, 2**80])
def test_a_version_that_never_was_is_not_restored(version: int, human: Block, by: Editor) -> None:
    with pytest.raises(MemoryRefusal, match="has no version"):
        human.restore(version, by=by)


def test_people_restore_a_block_that_agents_may_only_read(
    human: Block, by: Editor, agent: Agent
) -> None:
    written(human, 2, by)
    human.configure(read_only=True)
    with pytest.raises(MemoryRefusal, match="read-only"):
        human.restore(1, by=Editor.agent(step_of(agent), "call-1"))
    human.restore(1, by=by)
    assert human.value == "Count: 1"


# -- undo of undo ----------------------------------------------------------------------------------


def test_an_undo_that_was_undone_counts_for_nothing(human: Block, by: Editor) -> None:
    """However often somebody goes to and fro."""
    first = edit_of(human.set_value("Name: Sarah", by=by))
    newest = first
    for turn in range(6):
        taken_back = taken_back_by(undos_of([human.pk]))
        assert (first.pk in taken_back) == (turn % 2 == 1)
        assert human.value == ("Name: Bob" if turn % 2 else "Name: Sarah")
        newest = edit_of(human.undo(newest, by=by))


def test_undoing_what_stands_undone_changes_nothing_however_it_came_to_that(
    human: Block, by: Editor
) -> None:
    first = edit_of(human.set_value("Name: Sarah", by=by))
    undo = edit_of(human.undo(first, by=by))
    redo = edit_of(human.undo(undo, by=by))
    human.undo(redo, by=by)
    human.append("Likes pie", by=by)
    assert human.undo(first, by=by) is None
    assert human.value == "Name: Bob\nLikes pie"


# -- blame -----------------------------------------------------------------------------------------


def test_each_line_tells_which_edit_wrote_it(human: Block, by: Editor) -> None:
    human.append("Likes pie", by=by)
    human.append("City: Riga", by=by)
    human.replace("pie", "cake", by=by)
    assert lines_by_version(human) == [("Name: Bob", 0), ("Likes cake", 3), ("City: Riga", 2)]


def test_a_line_keeps_its_writer_when_others_come_and_go_around_it(
    human: Block, by: Editor
) -> None:
    human.append("Likes pie", by=by)
    human.set_value("Title: Dr\nName: Bob\nLikes pie", by=by)
    human.set_value("Likes pie\nAge: 40", by=by)
    assert lines_by_version(human) == [("Likes pie", 1), ("Age: 40", 3)]


def test_a_line_brought_back_is_the_undos_or_the_restores(human: Block, by: Editor) -> None:
    edit = edit_of(human.append("Likes pie", by=by))
    undo = edit_of(human.undo(edit, by=by))
    redo = edit_of(human.undo(undo, by=by))
    assert lines_by_version(human) == [("Name: Bob", 0), ("Likes pie", redo.version)]
    human.set_value("", by=by)
    restore = edit_of(human.restore(1, by=by))
    assert lines_by_version(human) == [
        ("Name: Bob", restore.version),
        ("Likes pie", restore.version),
    ]


def test_an_empty_block_has_no_line_to_blame(human: Block, by: Editor) -> None:
    human.set_value("", by=by)
    assert lines_by_version(human) == []


def test_blame_agrees_with_the_ledger_read_forwards(human: Block, by: Editor) -> None:
    """Random edits: reading on from the first value, a line is whose version brought it."""
    rng = random.Random(3)
    human.configure(limit=100_000)
    for _ in range(150):
        lines = human.value.split("\n") if human.value else []
        for _ in range(rng.randint(1, 3)):
            place = rng.randint(0, len(lines))
            if lines and rng.random() < 0.4:
                del lines[min(place, len(lines) - 1)]
            else:
                lines.insert(place, rng.choice(["", "same", f"line {rng.randint(0, 9)}"]))
        human.set_value("\n".join(lines), by=by)
    writers = [0]
    for edit in human.edits.order_by("version"):
        old, new = terminated(edit.before), terminated(edit.after)
        after: list[int] = []
        end = 0
        for a, b, c, d in changes(old, new):
            after += writers[end:a] + [edit.version] * (d - c)
            end = b
        writers = after + writers[end:]
    assert [version for _, version in lines_by_version(human)] == writers
    assert "\n".join(line for line, _ in lines_by_version(human)) == human.value


def test_blame_reads_no_further_than_the_oldest_line(
    human: Block, by: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(human, 50, by)
    looked_at: list[int] = []
    real = blames.carried_back

    def noted(*args: Any) -> dict[int, int]:
        looked_at.append(args[-1])
        return real(*args)

    monkeypatch.setattr(blames, "carried_back", noted)
    assert lines_by_version(human) == [("Count: 50", 50)]
    assert blame(human).traced_to == 0
    assert looked_at == [50, 50]


def test_blame_says_where_it_gave_up(
    human: Block, by: Editor, agent: Agent, web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(10):
        human.append(f"Line {n}", by=by)
    monkeypatch.setattr(blames, "MOST_EDITS", 4)
    found = blame(human)
    assert found.traced_to == 6
    assert [line.edit.version if line.edit else None for line in found.lines] == [
        *[None] * 7, 7, 8, 9, 10,
    ]  # fmt: skip
    html = web.get(reverse("block_blame", args=[agent.pk, human.pk])).content.decode()
    assert "lines older than version 6 were not traced" in html


def test_blame_leads_to_the_edit_and_to_the_step(
    agent: Agent, human: Block, by: Editor, web: Client
) -> None:
    step = step_of(agent, 7)
    edit = edit_of(human.append("Likes <pie>", by=Editor.agent(step, "call-1")))
    html = web.get(reverse("block_blame", args=[agent.pk, human.pk])).content.decode()
    assert f"?panel=history&amp;edit={edit.pk}" in html
    assert f"?step={step.pk}#step-{step.pk}" in html
    assert "Likes &lt;pie&gt;" in html
    assert "since the block was created" in html
