"""The ledger looked at: restored, undone and redone, told line by line; the panel's tabs."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from agents import blame as blames
from agents.blame import blame
from agents.memory import ChatMemory
from agents.models import Agent, Block, BlockEdit, Editor, MemoryRefusal, Run, Step
from agents.models.block_edit import lines_differing, taken_back_by, terminated, undos_of
from agents.models.share import BlockShare
from agents.views import history, pages
from agents.views.history import EDITS_A_PAGE
from tests.conftest import made


@pytest.fixture
def human(agent: Agent) -> Block:
    block = agent.block("human")
    assert block is not None
    return block


@pytest.fixture
def by(alice: User) -> Editor:
    """Alice, by hand."""
    return Editor.person(alice)


@pytest.fixture
def as_alice(settings: Settings, alice: User) -> Client:
    settings.ACCOUNTS = True
    client = Client()
    client.force_login(alice)
    return client


def step_of(agent: Agent, number: int = 1) -> Step:
    """A step of a run of its own."""
    run = Run.objects.create(agent=agent, key=f"k{number}", text="Hello", status=Run.Status.DONE)
    return Step.objects.create(run=run, number=number, model="m", endpoint="e")


def written(block: Block, count: int, by: Editor) -> list[BlockEdit]:
    """So many edits, each of which says its number."""
    return [made(block.set_value(f"Count: {n}", by=by)) for n in range(1, count + 1)]


def shown(as_alice: Client, agent: Agent, name: str = "history", **query: Any) -> str:
    response = as_alice.get(reverse("panel_tab", args=[agent.pk, name]), query)
    assert response.status_code == 200
    return response.content.decode()


def edits_in(html: str) -> list[int]:
    return [int(pk) for pk in re.findall(r'<li class="edit [^>]*id="edit-(\d+)"', html)]


def entry_in(html: str, edit: BlockEdit) -> str:
    """One edit's entry, its tags taken off."""
    found = re.search(rf'<li [^>]*id="edit-{edit.pk}".*?</li>', html, re.DOTALL)
    assert found
    return " ".join(re.sub(r"<[^>]+>", "", found[0]).split())


# -- restore ---------------------------------------------------------------------------------------


def test_a_restore_makes_an_old_value_the_current_one_as_a_new_edit(
    human: Block, by: Editor
) -> None:
    written(human, 3, by)
    edit = made(human.restore(1, by=by))
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
    first = made(human.set_value("Name: Sarah", by=by))
    newest = first
    for turn in range(6):
        taken_back = taken_back_by(undos_of([human.pk]))
        assert (first.pk in taken_back) == (turn % 2 == 1)
        assert human.value == ("Name: Bob" if turn % 2 else "Name: Sarah")
        newest = made(human.undo(newest, by=by))


def test_undoing_what_stands_undone_changes_nothing_however_it_came_to_that(
    human: Block, by: Editor
) -> None:
    first = made(human.set_value("Name: Sarah", by=by))
    undo = made(human.undo(first, by=by))
    redo = made(human.undo(undo, by=by))
    human.undo(redo, by=by)
    human.append("Likes pie", by=by)
    assert human.undo(first, by=by) is None
    assert human.value == "Name: Bob\nLikes pie"


# -- blame -----------------------------------------------------------------------------------------


def told(block: Block) -> list[tuple[str, int]]:
    """Each line and the version that wrote it; 0 is the first value."""
    return [(line.text, line.edit.version if line.edit else 0) for line in blame(block).lines]


def test_each_line_tells_which_edit_wrote_it(human: Block, by: Editor) -> None:
    human.append("Likes pie", by=by)
    human.append("City: Riga", by=by)
    human.replace("pie", "cake", by=by)
    assert told(human) == [("Name: Bob", 0), ("Likes cake", 3), ("City: Riga", 2)]


def test_a_line_keeps_its_writer_when_others_come_and_go_around_it(
    human: Block, by: Editor
) -> None:
    human.append("Likes pie", by=by)
    human.set_value("Title: Dr\nName: Bob\nLikes pie", by=by)
    human.set_value("Likes pie\nAge: 40", by=by)
    assert told(human) == [("Likes pie", 1), ("Age: 40", 3)]


def test_a_line_brought_back_is_the_undos_or_the_restores(human: Block, by: Editor) -> None:
    edit = made(human.append("Likes pie", by=by))
    undo = made(human.undo(edit, by=by))
    redo = made(human.undo(undo, by=by))
    assert told(human) == [("Name: Bob", 0), ("Likes pie", redo.version)]
    human.set_value("", by=by)
    restore = made(human.restore(1, by=by))
    assert told(human) == [("Name: Bob", restore.version), ("Likes pie", restore.version)]


def test_an_empty_block_has_no_line_to_blame(human: Block, by: Editor) -> None:
    human.set_value("", by=by)
    assert told(human) == []


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
        for a, b, c, d in lines_differing(old, new):
            after += writers[end:a] + [edit.version] * (d - c)
            end = b
        writers = after + writers[end:]
    assert [version for _, version in told(human)] == writers
    assert "\n".join(line for line, _ in told(human)) == human.value


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
    assert told(human) == [("Count: 50", 50)]
    assert blame(human).traced_to == 0
    assert looked_at == [50, 50]


def test_blame_says_where_it_gave_up(
    human: Block, by: Editor, agent: Agent, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(10):
        human.append(f"Line {n}", by=by)
    monkeypatch.setattr(blames, "MOST_EDITS", 4)
    found = blame(human)
    assert found.traced_to == 6
    assert [line.edit.version if line.edit else None for line in found.lines] == [
        *[None] * 7, 7, 8, 9, 10,
    ]  # fmt: skip
    html = as_alice.get(reverse("block_blame", args=[agent.pk, human.pk])).content.decode()
    assert "lines older than version 6 were not traced" in html


def test_blame_leads_to_the_edit_and_to_the_step(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    step = step_of(agent, 7)
    edit = made(human.append("Likes <pie>", by=Editor.agent(step, "call-1")))
    html = as_alice.get(reverse("block_blame", args=[agent.pk, human.pk])).content.decode()
    assert f"?panel=history&amp;edit={edit.pk}" in html
    assert f"?step={step.pk}#step-{step.pk}" in html
    assert "Likes &lt;pie&gt;" in html
    assert "since the block was made" in html


# -- the list of edits -----------------------------------------------------------------------------


def test_all_edits_of_the_agents_blocks_newest_first(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    persona = agent.block("persona")
    assert persona
    first = made(human.append("Likes pie", by=by))
    step = step_of(agent, 3)
    second = made(persona.append("Be kind.", by=Editor.agent(step, "call-1")))
    html = shown(as_alice, agent)
    assert edits_in(html) == [second.pk, first.pk]
    assert "human version 1 current" in entry_in(html, first)
    assert "by alice" in entry_in(html, first)
    assert "9 → 19 of 2,000" in entry_in(html, first)
    assert "by Tutor, step 3" in entry_in(html, second)
    assert f"?step={step.pk}#step-{step.pk}" in html


def test_the_edits_of_one_block(agent: Agent, human: Block, by: Editor, as_alice: Client) -> None:
    persona = agent.block("persona")
    assert persona
    persona.append("Be kind.", by=by)
    edit = made(human.append("Likes pie", by=by))
    assert edits_in(shown(as_alice, agent, block=human.pk)) == [edit.pk]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Editor.ADMIN, "by alice (admin)"),
        (Editor.API, "by alice (API)"),
        (Editor.IMPORT, "by alice (import)"),
    ],
)
def test_who_wrote_and_from_where(
    kind: str, words: str, agent: Agent, human: Block, alice: User, as_alice: Client
) -> None:
    edit = made(human.append("Likes pie", by=Editor.person(alice, kind)))
    assert words in entry_in(shown(as_alice, agent), edit)


@pytest.mark.parametrize("whose", ["alice", "bob"])
def test_a_step_of_another_agent_is_led_to_where_it_may_be_seen(
    whose: str, agent: Agent, human: Block, alice: User, bob: User, as_alice: Client
) -> None:
    planner = Agent.objects.create(owner=alice if whose == "alice" else bob, name="Planner")
    if whose == "bob":
        BlockShare.give(human, bob, can_write=True)
    planner.attach(human)
    step = step_of(planner, 4)
    edit = made(human.append("Likes pie", by=Editor.agent(step, "call-1")))
    html = shown(as_alice, agent)
    assert "by Planner, step 4" in entry_in(html, edit)
    address = f"{reverse('agent', args=[planner.pk])}?step={step.pk}#step-{step.pk}"
    assert (address in html) == (whose == "alice")
    if whose == "alice":
        planner.trash()
        assert address not in shown(as_alice, agent)


def test_an_entry_shows_the_changed_lines_word_by_word(human: Block, by: Editor) -> None:
    human.set_value("Name: Bob\nCity: Riga\nLikes: pie", by=by)
    edit = made(human.set_value("Name: Bob\nCity: Oslo\nLikes: pie\nAge: 40", by=by))
    said = [[tuple(piece) for piece in pieces] for pieces in edit.hunks()]
    assert said == [
        [("same", "City: "), ("removed", "Riga"), ("added", "Oslo")],
        [("added", "Age: 40")],
    ]


@pytest.mark.parametrize(
    ("before", "after"), [("Likes tea", "Has a dog named Rex"), ("Bob", "a\nb\nc")]
)
def test_lines_with_little_in_common_are_shown_whole(
    before: str, after: str, human: Block, by: Editor
) -> None:
    human.set_value(f"Name: Bob\n{before}", by=by)
    edit = made(human.set_value(f"Name: Bob\n{after}", by=by))
    (pieces,) = edit.hunks()
    said = [tuple(piece) for piece in pieces if piece.kind != "same"]
    assert said == [("removed", before), ("added", after)]


def test_what_undid_and_redid_what_is_said_and_the_buttons_follow(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    edit = made(human.append("Likes pie", by=by))
    assert "Undo" in entry_in(shown(as_alice, agent), edit)
    undo = made(human.undo(edit, by=by))
    html = shown(as_alice, agent)
    assert "taken back by version 2" in entry_in(html, edit)
    assert "Redo" in entry_in(html, edit)
    assert "undoes version 1" in entry_in(html, undo)
    assert "Redo" in entry_in(html, undo)
    redo = made(human.undo(undo, by=by))
    html = shown(as_alice, agent)
    assert "redoes version 1" in entry_in(html, redo)
    assert "Undo" in entry_in(html, redo)
    assert "taken back by version 3" in entry_in(html, undo)
    assert "Undo" in entry_in(html, undo)
    assert "taken back" not in entry_in(html, edit)


def test_pressing_redo_on_an_edit_that_was_undone_brings_it_back(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    edit = made(human.append("Likes pie", by=by))
    human.undo(edit, by=by)
    html = shown(as_alice, agent)
    button = re.search(rf'id="undo-{edit.pk}" hx-post="([^"]+)"', html)
    assert button
    assert as_alice.post(button[1]).status_code == 204
    assert Block.objects.get(pk=human.pk).value == "Name: Bob\nLikes pie"


def test_restoring_by_the_page(agent: Agent, human: Block, by: Editor, as_alice: Client) -> None:
    edits = written(human, 3, by)
    button = re.search(
        rf'id="restore-{edits[0].pk}"[^>]* hx-post="([^"]+)"', shown(as_alice, agent)
    )
    assert button
    assert as_alice.post(button[1]).status_code == 204
    html = shown(as_alice, agent)
    newest = human.edits.first()
    assert newest
    assert "restores version 1" in entry_in(html, newest)
    assert newest.user
    assert newest.editor_name == "alice"
    assert "Restore" not in entry_in(html, newest)


def test_what_cannot_be_restored_is_said_in_a_sentence(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    human.set_value("x" * 30, by=by)
    human.set_value("Short", by=by)
    human.configure(limit=20)
    answer = as_alice.post(reverse("block_restore", args=[agent.pk, human.pk, 1]))
    assert answer.status_code == 409
    assert "30 characters and the limit is now 20; raise the limit" in answer.content.decode()


def test_the_first_value_stands_at_the_end_and_can_be_restored(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    written(human, 1, by)
    html = shown(as_alice, agent, block=human.pk)
    origin = html.partition(f'id="origin-{human.pk}"')[2]
    assert "Name: Bob" in origin
    assert reverse("block_restore", args=[agent.pk, human.pk, 0]) in origin


def test_a_ledger_whose_beginning_is_missing_has_no_first_value(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    written(human, 3, by)
    human.edits.filter(version__lte=2).delete()
    assert f"origin-{human.pk}" not in shown(as_alice, agent)


def test_older_edits_come_page_by_page_each_once(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    edits = written(human, 2 * EDITS_A_PAGE + 5, by)
    html = shown(as_alice, agent)
    found = edits_in(html)
    pages = 1
    while following := re.search(r'class="older" hx-get="([^"]+)"', html):
        assert "origin-" not in html
        html = as_alice.get(following[1].replace("&amp;", "&")).content.decode()
        found += edits_in(html)
        pages += 1
    assert pages == 3
    assert found == [edit.pk for edit in reversed(edits)]
    assert f"origin-{human.pk}" in html


@pytest.mark.parametrize("place", [0, 40, 99])
def test_an_edit_is_shown_on_the_page_that_holds_it(
    place: int, agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    edits = written(human, 100, by)
    html = shown(as_alice, agent, edit=edits[place].pk)
    assert edits[place].pk in edits_in(html)
    assert len(edits_in(html)) <= EDITS_A_PAGE
    assert re.findall(r'id="edit-(\d+)"[^>]* aria-current="true"', html) == [str(edits[place].pk)]
    assert ("These are older edits" in html) == (place != 99)


@pytest.mark.parametrize("edit", ["0", "x", "999999", "9" * 40, "-1"])
def test_an_edit_that_is_not_there_shows_the_newest(
    edit: str, agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    edits = written(human, 2, by)
    assert edits_in(shown(as_alice, agent, edit=edit)) == [edits[1].pk, edits[0].pk]


def test_blocks_of_others_and_blocks_let_go_are_not_in_it(
    agent: Agent, human: Block, by: Editor, as_alice: Client, alice: User
) -> None:
    stray = Block.objects.create(owner=alice, label="stray")
    edit = made(stray.append("Hello", by=by))
    human.append("Likes pie", by=by)
    agent.detach(human)
    assert edits_in(shown(as_alice, agent)) == []
    assert edits_in(shown(as_alice, agent, block=stray.pk, edit=edit.pk)) == []
    answer = as_alice.post(reverse("block_restore", args=[agent.pk, human.pk, 0]))
    assert answer.status_code == 404


def test_an_agent_without_blocks_has_no_history(agent: Agent, as_alice: Client) -> None:
    for block in agent.core_memory():
        agent.detach(block)
    assert "nothing that could have a history" in shown(as_alice, agent)


# -- what an open list is told ---------------------------------------------------------------------


def since(as_alice: Client, agent: Agent, **query: Any) -> Any:
    return as_alice.get(reverse("newer_edits", args=[agent.pk]), query)


def test_nothing_new_is_said_without_a_word(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    edit = written(human, 1, by)[0]
    assert since(as_alice, agent, after=edit.pk).status_code == 204


def test_new_edits_come_with_those_they_changed(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    edits = written(human, 5, by)
    undo = made(human.undo(edits[4], by=by))
    restore = made(human.restore(2, by=by))
    html = since(as_alice, agent, after=edits[4].pk).content.decode()
    parts = re.findall(r'<hx-partial hx-target="([^"]+)"', html)
    assert parts == ["#edits", f"#edit-{edits[4].pk}", f"#edit-{edits[1].pk}", "#newer-edits"]
    assert edits_in(html)[:2] == [restore.pk, undo.pk]
    assert "taken back by version 6" in entry_in(html, edits[4])
    assert f"after={restore.pk}" in html


def test_a_list_of_the_past_is_told_only_what_became_of_its_own(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    edits = written(human, 3, by)
    undo = made(human.undo(edits[2], by=by))
    html = since(as_alice, agent, after=edits[2].pk, past=1).content.decode()
    assert undo.pk not in edits_in(html)
    assert edits[2].pk in edits_in(html)


def test_after_very_many_new_edits_the_list_begins_anew(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    edits = written(human, EDITS_A_PAGE + 3, by)
    html = since(as_alice, agent, after=edits[0].pk).content.decode()
    assert 'hx-target="#panel-history"' in html
    assert edits_in(html) == [edit.pk for edit in reversed(edits)][:EDITS_A_PAGE]


def test_the_first_edit_makes_the_first_value_restorable(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    assert "Restore" not in shown(as_alice, agent)
    written(human, 1, by)
    html = since(as_alice, agent, after=0).content.decode()
    assert f'<hx-partial hx-target="#origin-{human.pk}"' in html
    assert reverse("block_restore", args=[agent.pk, human.pk, 0]) in html


# -- a long ledger ---------------------------------------------------------------------------------


@pytest.fixture
def long_ledger(human: Block) -> Block:
    """5,000 edits, every tenth of them undone."""
    rows = [
        BlockEdit(
            block=human,
            version=n,
            before=f"Count: {n - 1}",
            after=f"Count: {n}",
            editor_kind="person",
            editor_name="alice",
        )
        for n in range(1, 5001)
    ]
    BlockEdit.objects.bulk_create(rows)
    undos = list(human.edits.filter(version__in=range(10, 5001, 10)).order_by("pk"))
    for undo, before in zip(undos, [None, *undos], strict=False):
        undo.undoes = before
    BlockEdit.objects.bulk_update(undos, ["undoes"])
    Block.objects.filter(pk=human.pk).update(value="Count: 5000", version=5000)
    human.refresh_from_db()
    return human


def test_a_page_of_a_long_ledger_takes_as_many_queries_as_one_of_a_short(
    agent: Agent, human: Block, by: Editor, as_alice: Client, request: pytest.FixtureRequest
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            shown(as_alice, agent)
        return len(captured)

    written(human, 40, by)
    human.undo(made(human.edits.first()), by=by)
    few = queries()
    human.edits.all().delete()
    request.getfixturevalue("long_ledger")
    assert queries() <= few


def test_the_history_is_read_by_its_indexes(
    agent: Agent, long_ledger: Block, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No scan of the ledger and no sorting of its texts."""
    with CaptureQueriesContext(connection) as captured:
        shown(as_alice, agent)
        shown(as_alice, agent, edit=made(long_ledger.edits.get(version=10)).pk)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE agents_blockedit")
        for query in captured:
            if "agents_blockedit" not in query["sql"]:
                continue
            explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
            cursor.execute(f"{explain} {query['sql']}")
            plan = "\n".join(str(row) for row in cursor.fetchall())
            assert "SCAN agents_blockedit" not in plan, query["sql"]
            assert "Seq Scan on agents_blockedit" not in plan, query["sql"]


def test_blame_of_a_long_ledger_looks_at_as_much_as_it_must(long_ledger: Block) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert told(long_ledger) == [("Count: 5000", 5000)]
    assert len(captured) <= 2


# -- tabs ------------------------------------------------------------------------------------------


def test_the_page_opens_with_the_tab_its_address_names(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    edit = written(human, 1, by)[0]
    address = reverse("agent", args=[agent.pk])
    html = as_alice.get(address, {"panel": "history", "block": str(human.pk)}).content.decode()
    assert edits_in(html) == [edit.pk]
    selected = re.findall(r'id="(tab-\w+)"[^>]*aria-selected="true"', html)
    assert selected == ["tab-history"]
    assert f"/panel/history/?block={human.pk}" in html


@pytest.mark.parametrize("query", [{}, {"panel": "memory"}, {"panel": "nonsense"}])
def test_what_is_not_open_is_not_drawn(
    query: dict[str, str], agent: Agent, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any) -> None:
        raise AssertionError("This tab is not open.")

    monkeypatch.setattr(history.Ledger, "asked_for", refuse)
    html = as_alice.get(reverse("agent", args=[agent.pk]), query).content.decode()
    assert re.findall(r'id="(tab-\w+)"[^>]*aria-selected="true"', html) == ["tab-memory"]


def test_a_tab_that_is_not_there_is_not_found(agent: Agent, as_alice: Client) -> None:
    assert as_alice.get(reverse("panel_tab", args=[agent.pk, "nonsense"])).status_code == 404


def test_the_tools_as_the_model_is_told_of_them(agent: Agent, as_alice: Client) -> None:
    html = shown(as_alice, agent, "tools")
    for name in agent.tools:
        assert f"<h3>{name}</h3>" in html
    assert "<code>label</code>" in html
    assert '<span class="type">string</span>' in html
    agent.configure(tools=[])
    assert "it can only talk" in shown(as_alice, agent, "tools")


def test_a_strangers_page_reaches_nothing_of_it(
    agent: Agent, human: Block, by: Editor, bob: User, settings: Settings
) -> None:
    settings.ACCOUNTS = True
    written(human, 2, by)
    stranger = Client()
    stranger.force_login(bob)
    for name in ("older_edits", "newer_edits"):
        assert stranger.get(reverse(name, args=[agent.pk])).status_code == 404
    for tab in ("history", "tools"):
        assert stranger.get(reverse("panel_tab", args=[agent.pk, tab])).status_code == 404
    assert stranger.get(reverse("block_blame", args=[agent.pk, human.pk])).status_code == 404
    restore = reverse("block_restore", args=[agent.pk, human.pk, 1])
    assert stranger.post(restore).status_code == 404
    own = Agent.create(bob, "Bob's", ChatMemory())
    for name, more in (("block_restore", [1]), ("block_blame", [])):
        address = reverse(name, args=[own.pk, human.pk, *more])
        for method in (stranger.get, stranger.post):
            assert method(address).status_code in (404, 405)
    assert (
        edits_in(
            stranger.get(
                reverse("panel_tab", args=[own.pk, "history"]), {"block": str(human.pk)}
            ).content.decode()
        )
        == []
    )
    assert Block.objects.get(pk=human.pk).version == 2


def test_restoring_is_not_for_looking(
    agent: Agent, human: Block, by: Editor, as_alice: Client
) -> None:
    written(human, 2, by)
    assert as_alice.get(reverse("block_restore", args=[agent.pk, human.pk, 1])).status_code == 405


# -- a step that is long ago -----------------------------------------------------------------------


@pytest.fixture
def long_ago(agent: Agent) -> list[Step]:
    """A step in each of 60 runs."""
    return [step_of(agent, number) for number in range(1, 61)]


def runs_in(html: str) -> list[int]:
    return [int(pk) for pk in re.findall(r'id="run-(\d+)"', html)]


def chat(as_alice: Client, agent: Agent, **query: Any) -> str:
    return as_alice.get(reverse("agent", args=[agent.pk]), query).content.decode()


def test_a_step_long_ago_is_on_the_page_with_all_that_followed(
    agent: Agent, long_ago: list[Step], as_alice: Client
) -> None:
    html = chat(as_alice, agent, step=long_ago[15].pk)
    assert f'id="step-{long_ago[15].pk}"' in html
    assert runs_in(html) == [step.run_id for step in long_ago[5:]]
    assert "To the newest" not in html


def test_where_too_much_followed_the_page_is_about_the_step(
    agent: Agent, long_ago: list[Step], as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_RUNS", 40)
    html = chat(as_alice, agent, step=long_ago[15].pk)
    assert runs_in(html) == [step.run_id for step in long_ago[5:25]]
    assert "35 newer messages of yours are not shown here" in html
    assert "To the newest" in html
    older = as_alice.get(
        reverse("older_runs", args=[agent.pk, long_ago[5].run_id])
    ).content.decode()
    assert runs_in(older) == [step.run_id for step in long_ago[:5]]


def test_a_step_among_the_newest_changes_nothing(
    agent: Agent, long_ago: list[Step], as_alice: Client
) -> None:
    assert runs_in(chat(as_alice, agent, step=long_ago[55].pk)) == runs_in(chat(as_alice, agent))


@pytest.mark.parametrize("step", ["x", "0", "9" * 40, "-1", "another's"])
def test_a_step_that_is_not_the_agents_shows_the_newest(
    step: str, agent: Agent, alice: User, long_ago: list[Step], as_alice: Client
) -> None:
    if step == "another's":
        step = str(step_of(Agent.objects.create(owner=alice, name="Planner")).pk)
    assert runs_in(chat(as_alice, agent, step=step)) == [step.run_id for step in long_ago[-20:]]
