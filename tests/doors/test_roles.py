"""Who may do what: every address, command and operation, as owner, in each role, and as nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from agents.models import Agent, AgentShare, Block, BlockShare, Role, Run
from agents.permissions import COMMANDS, PAGES, SCOPES, Who, role_for_operation, role_for_page
from tests.conftest import browser
from tests.support.addresses import addresses, ids_of, of_agents

pytestmark = pytest.mark.usefixtures("accounts")
LIBRARIES = ("account_", "social/", "admin:", "mfa_", "usersessions_", "socialaccount_", "openid_")
ROLES = (Role.VIEWER, Role.CHATTER, Role.EDITOR)


def names(resolver: Any, prefix: str = "") -> Iterator[str]:
    """The name of every address of the site; of one without a name, its pattern."""
    for each in resolver.url_patterns:
        if isinstance(each, URLResolver):
            if each.namespace != "api":
                inner = f"{prefix}{each.namespace}:" if each.namespace else prefix
                yield from names(each, inner)
        elif isinstance(each, URLPattern):
            yield prefix + (each.name or str(each.pattern))


def test_the_table_names_every_address_and_no_other() -> None:
    found = {name for name in names(get_resolver()) if not name.startswith(LIBRARIES)}
    found -= {"admin/password_change/"}  # leads on to the library's
    assert found == set(PAGES)


@contextmanager
def nothing_stays() -> Iterator[None]:
    """What happens within is undone."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def statuses(person: Client, address: str) -> tuple[int, int]:
    """What a GET and a POST answer."""
    with nothing_stays():
        got = person.get(address).status_code
    with nothing_stays():
        return got, person.post(address, {"sure": "", "text": ""}).status_code


@pytest.mark.parametrize("role", ROLES)
def test_a_role_opens_what_the_table_says_and_nothing_else(
    role: Role, agent: Agent, bob: User
) -> None:
    AgentShare.share(agent, bob, role)
    ids = ids_of(agent)
    bobs_web = browser(bob)
    for name, address in of_agents(ids).items():
        if name == "agent_restore":  # names a deleted agent, which only its owner still sees
            continue
        got, posted = statuses(bobs_web, address)
        if got != 405:
            assert (got == 403) == (role < role_for_page(name, writes=False)), ("GET", name, got)
        if posted != 405:
            assert (posted == 403) == (role < role_for_page(name, writes=True)), ("POST", name)


def test_strangers_find_nothing_and_nobody_gets_in_without_logging_in(
    agent: Agent, bob: User, alice: User
) -> None:
    ids = ids_of(agent)
    stranger, nobody, gone = browser(bob), Client(), browser(alice)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    for name, address in of_agents(ids).items():
        assert set(statuses(stranger, address)) <= {404, 405}, name
        for client in (nobody, gone):
            got, posted = statuses(client, address)
            assert got in (302, 405), name
            assert posted in (302, 405), name
    for name, needed in PAGES.items():
        if needed is Who.PERSON and name in addresses({}):
            assert Client().get(reverse(name)).status_code in (302, 405), name


@pytest.mark.parametrize("can_write", [False, True])
def test_a_shared_block_opens_what_the_table_says(can_write: bool, team: Block, bob: User) -> None:
    BlockShare.share(team, bob, can_write=can_write)
    role = Role.EDITOR if can_write else Role.VIEWER
    own_ids = {"block_id": team.pk, "version": 0}
    for name, address in addresses(own_ids).items():
        if str(team.pk) not in address or name == "block_configure":  # see test_blocks.py
            continue
        got, posted = statuses(browser(bob), address)
        if got != 405:
            assert (got == 403) == (role < role_for_page(name, writes=False)), ("GET", name)
        if posted != 405:
            assert (posted == 403) == (role < role_for_page(name, writes=True)), ("POST", name)


def test_a_group_is_shared_with_and_left(agent: Agent, bob: User) -> None:
    tutors = Group.objects.create(name="tutors")
    bob.groups.add(tutors)
    share = AgentShare.share(agent, tutors, Role.VIEWER)
    page = reverse("agent", args=[agent.pk])
    assert browser(bob).get(page).status_code == 200
    bob.groups.remove(tutors)
    assert browser(bob).get(page).status_code == 404
    tutors.user_set.add(bob)
    assert browser(bob).get(page).status_code == 200
    share.stop()
    assert browser(bob).get(page).status_code == 404
    agent.refresh_from_db()
    assert not agent.is_shared


def test_nobody_changes_what_somebody_else_says(agent: Agent, alice: User, bob: User) -> None:
    AgentShare.share(agent, bob, Role.CHATTER)
    waiting = {"agent": agent, "conversation_id": agent.pk, "text": "Hello"}
    alices, bobs = (Run.objects.create(**waiting, key=u.username, author=u) for u in (alice, bob))
    address = {run: reverse("run_queued", args=[agent.pk, run.pk]) for run in (alices, bobs)}
    assert browser(bob).post(address[alices], {"text": "Mine"}).status_code == 403
    assert browser(bob).post(address[alices], {"withdraw": "1"}).status_code == 403
    assert browser(bob).post(address[bobs], {"text": "Mine"}).status_code == 302
    assert browser(alice).post(address[bobs], {"text": "Hers"}).status_code == 403
    assert browser(alice).post(address[bobs], {"withdraw": "1"}).status_code == 302
    assert [(run.author, run.text) for run in Run.objects.queued()] == [(alice, "Hello")]


def test_the_highest_of_several_roles_counts(agent: Agent, bob: User) -> None:
    tutors = Group.objects.create(name="tutors")
    bob.groups.add(tutors)
    AgentShare.share(agent, bob, Role.VIEWER)
    AgentShare.share(agent, tutors, Role.EDITOR)
    found = Agent.find_visible_to(bob, agent.pk)
    assert found is not None
    assert found.role == Role.EDITOR
    assert agent in Agent.objects.visible_to(bob, Role.EDITOR)
    assert agent not in Agent.objects.visible_to(bob, Role.OWNER)


def test_every_command_and_scope_is_in_the_table() -> None:
    assert set(COMMANDS) == {"follow", "ack", "draft", "send", "stop"}
    assert role_for_operation("DELETE", "v1/agents/<agent_id>", "write") == Role.OWNER
    assert role_for_operation("GET", "v1/agents/<str:agent_id>/", "read") == Role.VIEWER
    assert list(SCOPES) == ["read", "chat", "write", "tools"]
