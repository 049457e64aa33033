"""The admin: everything opens, and memory is written there by the same verbs as elsewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import zip_longest
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from agents.memory import ChatMemory
from agents.models import (
    Agent,
    Approval,
    Block,
    BlockEdit,
    BlockShare,
    Compaction,
    Editor,
    Event,
    Identity,
    Message,
    Part,
    Passage,
    Run,
    Step,
    Tool,
)
from tests.conftest import Ask
from tests.fake_openai import FakeOpenAI, calls, reasoning, status, text


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create_superuser("olga")


@pytest.fixture
def desk(operator: User, settings: Any) -> Client:
    """The operator's browser, on a server with accounts."""
    settings.ACCOUNTS = True
    client = Client()
    client.force_login(operator)
    return client


@pytest.fixture
def human(agent: Agent) -> Block:
    block = agent.block("human")
    assert block is not None
    return block


@pytest.fixture
def shared(agent: Agent, human: Block, alice: User) -> Agent:
    """A second agent that holds the same block."""
    other = Agent.objects.create(owner=alice, name="Second")
    other.attach(human)
    return other


class FormOfPage(HTMLParser):
    """What a browser would send of a page's form."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.fields: dict[str, Any] = {}
        self.ticked: dict[str, list[str]] = {}
        self.area = self.select = ""
        self.feed(html)
        self.fields |= self.ticked

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")
        if tag == "textarea":
            self.area, self.fields[name] = name, ""
        elif tag == "select":
            self.select = name
        elif tag == "option" and self.select and "selected" in given:
            self.fields[self.select] = given["value"]
        elif tag == "input" and name and given.get("type") not in ("submit", "radio"):
            if given.get("type") != "checkbox":
                self.fields[name] = given.get("value", "")
            elif "checked" in given:
                self.ticked.setdefault(name, []).append(given.get("value", "on"))

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self.fields[self.area] = self.fields[self.area].removeprefix("\n")
            self.area = ""

    def handle_data(self, data: str) -> None:
        if self.area:
            self.fields[self.area] += data


def address(row: Any, page: str = "change") -> str:
    return reverse(f"admin:agents_{row._meta.model_name}_{page}", args=[row.pk])


def opened(desk: Client, row: Any) -> dict[str, Any]:
    """The form of a row, as it lies before the operator."""
    return FormOfPage(desk.get(address(row)).content.decode()).fields


def saved(desk: Client, row: Any, form: dict[str, Any], **changes: str) -> Any:
    response = desk.post(address(row), {**form, **changes})
    row.refresh_from_db()
    return response


def kinds(agent: Agent) -> list[str]:
    return list(agent.events.order_by("seq").values_list("kind", flat=True))


# -- blocks are written by their verbs -------------------------------------------------------------


def test_an_edit_has_a_ledger_row_with_the_editors_name(
    desk: Client, human: Block, operator: User
) -> None:
    response = saved(desk, human, opened(desk, human), value="Name: Sarah")
    assert response.status_code == 302
    edit = human.edits.get()
    assert (human.value, human.version) == ("Name: Sarah", 1)
    assert (edit.before, edit.after, edit.version) == ("Name: Bob", "Name: Sarah", 1)
    assert (edit.editor_name, edit.editor_kind, edit.user) == ("olga", Editor.ADMIN, operator)


def test_an_edit_is_in_the_log_of_every_agent_that_holds_the_block(
    desk: Client, human: Block, agent: Agent, shared: Agent
) -> None:
    saved(desk, human, opened(desk, human), value="Name: Sarah")
    for holder in (agent, shared):
        event = holder.events.latest("seq")
        assert event.kind == Event.Kind.BLOCK_EDITED
        assert event.data == {"block": str(human.pk), "edit": human.edits.get().pk}


def test_an_edit_over_the_limit_is_refused_in_the_blocks_own_words(
    desk: Client, human: Block, agent: Agent
) -> None:
    before = kinds(agent)
    response = saved(desk, human, opened(desk, human), value="x" * 2140)
    assert response.status_code == 200
    page = response.content.decode()
    assert "lock &#x27;human&#x27; would be 2,140 of 2,000 characters; shorten it by 140" in page
    assert (human.value, human.edits.count(), kinds(agent)) == ("Name: Bob", 0, before)


def test_value_and_limit_may_grow_and_shrink_together(desk: Client, human: Block) -> None:
    saved(desk, human, opened(desk, human), value="x" * 2140, limit="3000")
    assert (len(human.value), human.limit) == (2140, 3000)
    saved(desk, human, opened(desk, human), value="Short", limit="10")
    assert (human.value, human.limit, human.version) == ("Short", 10, 2)


def test_a_limit_below_what_is_there_is_refused(desk: Client, human: Block) -> None:
    response = saved(desk, human, opened(desk, human), limit="5")
    assert response.status_code == 200
    assert "would be 9 of 5 characters" in response.content.decode()
    assert human.limit == 2000


def test_a_stale_edit_is_refused_with_what_the_block_now_says(
    desk: Client, human: Block, alice: User
) -> None:
    form = opened(desk, human)
    human.append("Likes <b>pie</b>", by=Editor.person(alice))
    response = saved(desk, human, form, value="Name: Sarah")
    page = response.content.decode()
    assert response.status_code == 200
    assert "changed since you opened it" in page
    assert "<pre>Name: Bob\nLikes &lt;b&gt;pie&lt;/b&gt;</pre>" in page
    assert "alice (person)" in page
    assert "<ins><br>Likes &lt;b&gt;pie&lt;/b&gt;</ins>" in page
    assert human.value == "Name: Bob\nLikes <b>pie</b>"

    again = FormOfPage(page).fields
    assert again["value"] == "Name: Sarah"  # what was typed is not lost either
    saved(desk, human, again, value="Name: Sarah\nLikes pie")
    assert human.value == "Name: Sarah\nLikes pie"


def test_stale_settings_are_refused_as_well(desk: Client, human: Block) -> None:
    form = opened(desk, human)
    human.configure(limit=300)
    response = saved(desk, human, form, description="Who they are")
    assert "with a limit of 300" in response.content.decode()
    assert (human.limit, human.description) != (2000, "Who they are")


def test_a_form_without_its_mark_is_refused(desk: Client, human: Block) -> None:
    form = opened(desk, human)
    del form["seen"]
    assert saved(desk, human, form, value="Name: Sarah").status_code == 200
    assert human.value == "Name: Bob"


def test_settings_are_configured_and_told_without_a_ledger_row(
    desk: Client, human: Block, agent: Agent
) -> None:
    changes = {"label": "person", "description": "Who they are", "read_only": "on"}
    saved(desk, human, opened(desk, human), **changes)
    assert (human.label, human.description, human.read_only) == ("person", "Who they are", True)
    assert agent.block("person") == human
    assert human.edits.count() == 0
    assert kinds(agent)[-1] == Event.Kind.MEMORY_CHANGED


def test_a_label_that_an_agent_already_has_is_refused(desk: Client, human: Block) -> None:
    response = saved(desk, human, opened(desk, human), label="persona", value="Name: Sarah")
    assert "already has a block &#x27;persona&#x27;" in response.content.decode()
    assert (human.label, human.value) == ("human", "Name: Bob")


@pytest.mark.parametrize("value", ["Name: Bob\r\n\r\n  indented \r\n", "\r\nfirst line empty", ""])
def test_white_space_is_kept_and_saving_without_a_change_writes_nothing(
    value: str, desk: Client, human: Block, alice: User
) -> None:
    human.set_value(value.replace("\r\n", "\n"), by=Editor.person(alice))
    form = opened(desk, human)
    assert saved(desk, human, form, value=value).status_code == 302
    assert (human.value, human.version) == (value.replace("\r\n", "\n"), 1)


def test_the_ledger_is_below_the_block_with_what_changed(
    desk: Client, human: Block, alice: User
) -> None:
    human.replace("Bob", "<Sarah>", by=Editor.person(alice))
    page = desk.get(address(human)).content.decode()
    assert "<del>Bob</del><ins>&lt;Sarah&gt;</ins>" in page
    assert "alice (person)" in page


def test_a_long_ledger_is_cut_short(desk: Client, human: Block, alice: User) -> None:
    for number in range(60):
        human.set_value(f"Name: {number}", by=Editor.person(alice))
    form = opened(desk, human)
    assert form["edits-TOTAL_FORMS"] == "50"
    assert saved(desk, human, form, value="Name: Sarah").status_code == 302
    assert human.version == 61


def test_a_block_may_be_added(desk: Client, alice: User) -> None:
    page = FormOfPage(desk.get(reverse("admin:agents_block_add")).content.decode())
    given = {"owner": str(alice.pk), "label": "team", "value": "Ten people"}
    response = desk.post(reverse("admin:agents_block_add"), {**page.fields, **given})
    assert response.status_code == 302
    block = Block.objects.get(label="team")
    assert (block.owner, block.value, block.limit, block.version) == (alice, "Ten people", 2000, 0)


def test_a_block_too_long_is_not_added(desk: Client, alice: User) -> None:
    page = FormOfPage(desk.get(reverse("admin:agents_block_add")).content.decode())
    given = {"owner": str(alice.pk), "label": "team", "value": "Ten people", "limit": "5"}
    response = desk.post(reverse("admin:agents_block_add"), {**page.fields, **given})
    assert "would be 10 of 5 characters" in response.content.decode()
    assert not Block.objects.filter(label="team").exists()


def test_every_holder_of_a_deleted_block_is_told(
    desk: Client, human: Block, agent: Agent, shared: Agent
) -> None:
    desk.post(address(human, "delete"), {"post": "yes"})
    assert not Block.objects.filter(pk=human.pk).exists()
    assert kinds(agent)[-1] == kinds(shared)[-1] == Event.Kind.MEMORY_CHANGED
    assert [block.label for block in agent.core_memory()] == ["persona"]


def test_blocks_deleted_in_bulk_are_told_as_well(desk: Client, human: Block, agent: Agent) -> None:
    chosen = {"action": "delete_selected", "_selected_action": [human.pk], "post": "yes"}
    desk.post(reverse("admin:agents_block_changelist"), chosen)
    assert kinds(agent)[-1] == Event.Kind.MEMORY_CHANGED
    assert Block.objects.count() == 1


# -- typed blocks ----------------------------------------------------------------------------------


@pytest.fixture
def tasks(agent: Agent, alice: User) -> Block:
    """A JSON list of texts in Alice's agent."""
    schema = {"items": {"type": "string"}}
    block = Block.objects.create(
        owner=alice, label="tasks", value='["one"]', kind="list", schema=schema
    )
    agent.attach(block)
    return block


def test_a_value_that_breaks_its_kind_is_refused(desk: Client, tasks: Block) -> None:
    for value, reason in (("1. one", "it would no longer be JSON"), ("[1]", "is not of type")):
        response = saved(desk, tasks, opened(desk, tasks), value=value)
        assert reason in response.content.decode()
    assert (tasks.value, tasks.version) == ('["one"]', 0)


def test_value_and_kind_may_change_together(desk: Client, tasks: Block) -> None:
    saved(desk, tasks, opened(desk, tasks), value="one", kind="text", limit="3")
    assert (tasks.kind, tasks.value, tasks.schema, tasks.limit) == ("text", "one", None, 3)
    form = opened(desk, tasks)
    more = {"kind": "object", "limit": "300", "schema": '{"required": ["a"]}'}
    saved(desk, tasks, form, value='{"a": 1}', ask_before_write="on", **more)
    assert (tasks.kind, tasks.value, tasks.ask_before_write) == ("object", '{"a": 1}', True)
    assert tasks.schema == {"required": ["a"]}
    assert [edit.after for edit in tasks.edits.order_by("version")] == ["one", '{"a": 1}']


def test_an_empty_text_becomes_an_empty_list(desk: Client, human: Block, alice: User) -> None:
    human.set_value("", by=Editor.person(alice))
    saved(desk, human, opened(desk, human), kind="list")
    assert (human.kind, human.value) == ("list", "[]")


def test_saving_a_typed_block_without_a_change_writes_nothing(
    desk: Client, tasks: Block, agent: Agent
) -> None:
    before = kinds(agent)
    assert saved(desk, tasks, opened(desk, tasks)).status_code == 302
    assert (kinds(agent), tasks.version) == (before, 0)


# -- archival memory -------------------------------------------------------------------------------


@pytest.fixture
def passage(agent: Agent, alice: User) -> Passage:
    return Passage.insert(agent, "Sarah likes pie", ["food"], by=Editor.person(alice))


def test_a_passage_is_changed_by_its_verb(
    desk: Client, passage: Passage, agent: Agent, operator: User
) -> None:
    form = opened(desk, passage)
    given = {"text": "Sarah likes cake\r\nand pie", "tags": '["food", " sweet "]'}
    assert saved(desk, passage, form, **given).status_code == 302
    assert (passage.text, passage.tags) == ("Sarah likes cake\nand pie", ["food", "sweet"])
    assert (passage.editor_kind, passage.user) == (Editor.ADMIN, operator)
    assert kinds(agent)[-1] == Event.Kind.ARCHIVAL_CHANGED


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"text": " "}, "The passage is empty"),
        ({"text": "x" * 100_001}, "100,000 is the most"),
        ({"tags": '{"a": 1}'}, "Tags are a list of strings"),
        ({"tags": '[""]'}, "One of the tags is empty"),
    ],
)
def test_a_passage_that_cannot_be_is_refused_in_its_own_words(
    changes: dict[str, str], words: str, desk: Client, passage: Passage
) -> None:
    response = saved(desk, passage, opened(desk, passage), **changes)
    assert words in response.content.decode()
    assert (passage.text, passage.tags) == ("Sarah likes pie", ["food"])


def test_a_passage_is_put_away_and_deleted(desk: Client, agent: Agent) -> None:
    page = FormOfPage(desk.get(reverse("admin:agents_passage_add")).content.decode())
    given = {"agent": str(agent.pk), "text": "Riga is in Latvia", "tags": "[]"}
    response = desk.post(reverse("admin:agents_passage_add"), {**page.fields, **given})
    assert response.status_code == 302
    passage = agent.passages.get()
    assert (passage.text, passage.editor_name) == ("Riga is in Latvia", "olga")
    desk.post(address(passage, "delete"), {"post": "yes"})
    assert not agent.passages.exists()
    assert kinds(agent)[-2:] == [Event.Kind.ARCHIVAL_CHANGED] * 2
    agent.refresh_from_db()
    assert agent.passage_count == 0


# -- custom tools ----------------------------------------------------------------------------------


def test_a_tool_is_read_off_its_source(desk: Client, alice: User) -> None:
    add = reverse("admin:agents_tool_add")
    page = FormOfPage(desk.get(add).content.decode())
    given = {**page.fields, "owner": str(alice.pk)}
    wrong = desk.post(add, {**given, "source": "def dice(sides: int):\n    return 4"})
    assert wrong.status_code == 200
    assert "docstring" in wrong.content.decode()
    assert not Tool.objects.exists()
    assert desk.post(add, {**given, "source": SOURCE.replace("\n", "\r\n")}).status_code == 302
    tool = Tool.objects.get()
    assert (tool.name, tool.owner, tool.tags) == ("roll_dice", alice, [])
    assert tool.json_schema["parameters"]["required"] == ["sides"]
    renamed = SOURCE.replace("roll_dice", "throw_dice")
    saved(desk, tool, opened(desk, tool), source=renamed, name="")
    assert tool.name == "throw_dice"


# -- what a step sent ------------------------------------------------------------------------------


def test_a_step_says_whether_its_request_is_proven(
    desk: Client, ask: Ask, model: FakeOpenAI
) -> None:
    model.script(text("Hello."))
    step = ask().steps.get()
    assert "byte for byte" in desk.get(address(step)).content.decode()
    Part.objects.update(text="Tampered with")
    assert "It is not what was sent" in desk.get(address(step)).content.decode()
    Step.objects.update(request={})
    assert "Nothing was kept of it." in desk.get(address(step)).content.decode()


def test_an_agents_new_settings_are_in_the_admin(desk: Client, agent: Agent) -> None:
    agent.configure(tool_rules=[{"tool_name": "core_memory_append", "type": "run_first"}])
    form = opened(desk, agent)
    saved(desk, agent, form, reflect_every="5", context_window="9000", name="Coach")
    assert (agent.reflect_every, agent.context_window, agent.name) == (5, 9000, "Coach")


# -- agents ----------------------------------------------------------------------------------------


def test_an_agent_is_configured_and_its_pages_are_told(desk: Client, agent: Agent) -> None:
    agent.configure(prompt_template="Mine: {{ values|json }}")
    form = opened(desk, agent)
    saved(desk, agent, form, name="Coach", system_prompt="You are a coach.\r\nBe brief.")
    assert (agent.name, agent.system_prompt) == ("Coach", "You are a coach.\nBe brief.")
    assert agent.prompt_template == "Mine: {{ values|json }}"
    assert kinds(agent)[-2:] == [Event.Kind.AGENT_CHANGED, Event.Kind.MEMORY_CHANGED]


def test_saving_an_agent_without_a_change_tells_nobody(desk: Client, agent: Agent) -> None:
    before = kinds(agent)
    assert saved(desk, agent, opened(desk, agent)).status_code == 302
    assert kinds(agent) == before


def chosen(desk: Client, action: str, *agents: Agent) -> Any:
    picked = {"action": action, "_selected_action": [agent.pk for agent in agents], "post": "yes"}
    return desk.post(reverse("admin:agents_agent_changelist"), picked, follow=True)


def test_an_agent_is_deleted_recoverably_and_restored(
    desk: Client, agent: Agent, alice: User
) -> None:
    chosen(desk, "trash", agent)
    assert not Agent.objects.visible_to(alice).exists()
    assert Agent.objects.trashed_by(alice).get() == agent
    response = chosen(desk, "restore", agent)
    assert "1 restored." in response.content.decode()
    assert Agent.objects.visible_to(alice).get() == agent


def test_what_waits_for_a_deleted_agent_waits_until_it_is_restored(
    desk: Client, agent: Agent
) -> None:
    running, waiting = agent.send("Hello", "1"), agent.send("Still there?", "2")
    chosen(desk, "trash", agent)
    running = Run.objects.get(pk=running.pk)
    assert running.stop_requested
    running.end(Run.Reason.CANCELLED)
    waiting.refresh_from_db()
    assert waiting.status == Run.Status.QUEUED
    chosen(desk, "restore", agent)
    waiting.refresh_from_db()
    assert waiting.status == Run.Status.RUNNING


def test_an_agent_deleted_for_good_leaves_only_what_others_hold(
    desk: Client, ask: Ask, model: FakeOpenAI, agent: Agent, shared: Agent, human: Block
) -> None:
    model.script(text("Hello."))
    ask()
    page = desk.get(address(agent, "delete")).content.decode()
    assert "Messages: 2" in page
    desk.post(address(agent, "delete"), {"post": "yes"})
    assert list(Agent.objects.all()) == [shared]
    assert list(Block.objects.all()) == [human]
    assert not Message.objects.exists()


def test_agents_are_deleted_for_good_in_bulk(desk: Client, agent: Agent, shared: Agent) -> None:
    chosen(desk, "delete_selected", agent, shared)
    assert not Agent.objects.exists()
    assert not Block.objects.exists()


def test_a_person_with_agents_can_be_deleted(desk: Client, agent: Agent, alice: User) -> None:
    where = reverse("admin:auth_user_delete", args=[alice.pk])
    page = desk.get(where).content.decode()
    assert "Agents: 1" in page
    assert desk.post(where, {"post": "yes"}).status_code == 302
    assert not Agent.objects.exists()


# -- every page ------------------------------------------------------------------------------------


@pytest.fixture
def history(ask: Ask, model: FakeOpenAI, agent: Agent, human: Block, alice: User) -> None:
    """Data of every kind: thoughts, tool calls, edits by all sorts of editors, a failed run."""
    append = ("core_memory_append", {"label": "human", "content": "Likes <i>pie</i>"})
    model.script(
        reasoning("Hm, <script>.", then=calls(append, ("no_such_tool", "not JSON"))),
        text("**Noted** <img src=x onerror=alert(1)>."),
        status(401),
    )
    ask("Hello <script>alert(1)</script>")
    ask("And now?")
    agent.send("Waits", "waiting")
    edit = human.append("By hand", by=Editor.person(alice))
    assert edit is not None
    human.undo(edit, by=Editor.person(alice, Editor.API))
    Event.objects.create(agent=agent, seq=agent.last_seq + 100, kind=Event.Kind.TEXT)
    step = Step.objects.all()[0]
    Approval.objects.create(
        step=step, tool_call_id="call", why=NASTY, reason=NASTY, expires_at=step.started_at
    )
    Compaction.objects.create(
        agent=agent,
        run=step.run,
        first=1,
        last=2,
        tokens_before=100,
        tokens_after=10,
        summary=NASTY,
        written_by=Compaction.Author.MODEL,
    )
    BlockShare.give(human, User.objects.create_user("carol"), can_write=True)
    Passage.insert(agent, NASTY, ["<i>travel</i>"], by=Editor.person(alice))
    Tool.from_source(alice, SOURCE)
    known = Identity.objects.create(
        owner=alice, identifier_key=NASTY, name=NASTY, identity_type="user", properties=[NASTY]
    )
    known.agents.add(agent)


NASTY = "Hello <script>alert(1)</script>"
SOURCE = '''
def roll_dice(sides: int) -> str:
    """Roll dice <script>alert(1)</script>.

    Args:
        sides (int): How many sides they have.
    """
    return "4"
'''
LOOKED_AT: list[Any] = [BlockEdit, Event, Message, Run, Step]
LOOKED_AT += [Approval, BlockShare, Compaction, Identity, Part]
KINDS: list[Any] = [Agent, Block, Passage, Tool, *LOOKED_AT]


def listed(kind: Any) -> str:
    return reverse(f"admin:agents_{kind._meta.model_name}_changelist")


@pytest.mark.slow
def test_every_list_opens_also_searched_sorted_and_paged(desk: Client, history: None) -> None:
    for kind in KINDS:
        assert kind.objects.exists()
        for query in ("", "?q=tutor", "?q=00", "?q=%00", "?p=1", "?all=", "?o=1.2"):
            response = desk.get(listed(kind) + query, follow=True)
            assert response.status_code == 200, (kind, query)


@pytest.mark.slow
def test_every_row_opens_and_what_the_model_said_is_no_markup(desk: Client, history: None) -> None:
    for kind in KINDS:
        for row in kind.objects.all():
            page = desk.get(address(row))
            assert page.status_code == 200, row
            assert "<script>alert(1)" not in page.content.decode()
            assert "<img src=x" not in page.content.decode()
            assert desk.get(address(row, "history")).status_code == 200


@pytest.mark.slow
def test_every_filter_of_a_list_opens(desk: Client, history: None) -> None:
    for kind in KINDS:
        rows = desk.get(listed(kind)).context["cl"]
        assert rows.filter_specs or kind is Part  # texts and their SHA-256, nothing to filter by
        # A choice of each filter at a time, until each has had all its choices.
        for chosen in zip_longest(*(spec.choices(rows) for spec in rows.filter_specs)):
            query = "&".join(choice["query_string"][1:] for choice in chosen if choice)
            assert desk.get(f"{listed(kind)}?{query}").status_code == 200, (kind, query)


def test_what_was_said_and_done_is_only_looked_at(desk: Client, history: None) -> None:
    for kind in LOOKED_AT:
        row = kind.objects.all()[0]
        add = reverse(f"admin:agents_{kind._meta.model_name}_add")
        assert desk.get(add).status_code == 403
        assert desk.post(address(row), {}).status_code == 403
        assert desk.post(address(row, "delete"), {"post": "yes"}).status_code == 403
        assert "delete_selected" not in desk.get(listed(kind)).content.decode()
    assert desk.get(reverse("admin:agents_agent_add")).status_code == 403


def test_rows_are_found_by_the_id_in_an_agents_address(desk: Client, history: None) -> None:
    agent = Agent.objects.get()
    of_agents: list[Any] = [Agent, Approval, Compaction, Event, Message, Part, Passage, Run, Step]
    for kind in of_agents:
        found = desk.get(listed(kind), {"q": str(agent.pk)}).context["cl"]
        assert found.result_count == kind.objects.count() > 0


def test_lists_ask_the_same_number_of_queries_however_long_they_are(
    desk: Client, alice: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        Agent.create(alice, f"Agent {number}", ChatMemory())
    for kind in KINDS:
        with django_assert_max_num_queries(12):
            desk.get(listed(kind))


# -- who may come in -------------------------------------------------------------------------------


def test_a_person_who_is_no_staff_gets_no_admin(client: Client, alice: User, settings: Any) -> None:
    settings.ACCOUNTS = True
    client.force_login(alice)
    for page in (reverse("admin:index"), *map(listed, KINDS)):
        response = client.get(page, follow=True)
        assert response.status_code == 403
        assert "Site administration" not in response.content.decode()


def test_a_stranger_is_sent_to_the_one_log_in(client: Client, db: None, settings: Any) -> None:
    settings.ACCOUNTS = True
    response = client.get(reverse("admin:agents_block_changelist"), follow=True)
    assert response.redirect_chain[-1][0].startswith(reverse("account_login"))


def test_staff_sees_what_they_were_given_and_changes_nothing_else(
    client: Client, alice: User, human: Block, settings: Any
) -> None:
    settings.ACCOUNTS = True
    alice.is_staff = True
    alice.save()
    alice.user_permissions.add(Permission.objects.get(codename="view_block"))
    client.force_login(alice)
    page = client.get(address(human))
    assert page.status_code == 200
    assert "Name: Bob" in page.content.decode()
    assert client.post(address(human), {"value": "Mine"}).status_code == 403
    assert client.get(reverse("admin:agents_agent_changelist")).status_code == 403


def test_the_one_owner_of_a_single_user_server_has_the_admin(client: Client, db: None) -> None:
    assert client.get(reverse("admin:index")).status_code == 200


def test_every_noun_is_registered() -> None:
    assert all(admin.site.is_registered(kind) for kind in KINDS)
