"""The door: who is let in from where, by pages and by sockets."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from agents.accounts import owner
from agents.management.commands.serve import check_address
from agents.models import Agent, Run
from memoryweb.asgi import application
from memoryweb.middleware import same_origin
from tests.support.addresses import addresses, everything, ids_of
from tests.support.sockets import heard, socket

# -- one person, on this machine -------------------------------------------------------------------


def test_without_accounts_nobody_logs_in(client: Client, own: Agent) -> None:
    assert client.get(reverse("home")).headers["Location"] == reverse("agent", args=[own.pk])
    assert client.get(reverse("agent", args=[own.pk])).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8283", "8.8.8.8", ""]
)
def test_a_foreign_host_is_refused(host: str, client: Client, own: Agent) -> None:
    for address in (reverse("agent", args=[own.pk]), reverse("admin:index"), "/nowhere/"):
        assert client.get(address, headers={"host": host}).status_code == 400


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8283", "[::1]:8283"])
def test_this_machines_names_are_answered(host: str, client: Client, own: Agent) -> None:
    page = client.get(reverse("agent", args=[own.pk]), headers={"host": host})
    assert page.status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"x-forwarded-for": "8.8.8.8"},
        {"x-forwarded-host": "localhost"},
        {"x-forwarded-proto": "https"},
        {"x-real-ip": "127.0.0.1"},
        {"x-forwarded-port": "443"},
        {"x-forwarded-anything": "x"},
        {"forwarded": "for=8.8.8.8"},
        {"via": "1.1 proxy"},
        {"cdn-loop": "cloudflare"},
    ],
)
def test_what_came_through_a_proxy_is_refused(
    headers: dict[str, str], client: Client, own: Agent
) -> None:
    response = client.get(reverse("agent", args=[own.pk]), headers=headers)
    assert response.status_code == 403
    for words in ("came through a proxy", *headers, "MEMORYWEB_ACCOUNTS=1"):
        assert words in response.content.decode()
    told = client.get("/v1/agents/", headers=headers)
    assert told.status_code == 403
    assert "came through a proxy" in told.json()["detail"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("http_version", "status"), [("1.0", 403), ("1.1", 200), ("2", 200)])
async def test_what_no_browser_and_no_sdk_speaks_came_through_a_proxy(
    http_version: str, status: int
) -> None:
    for path in ("/agents/new/", "/v1/agents/"):
        scope = {
            "type": "http",
            "http_version": http_version,
            "method": "GET",
            "path": path,
            "query_string": b"",
            "headers": [(b"host", b"testserver")],
        }
        asked = ApplicationCommunicator(application, scope)
        await asked.send_input({"type": "http.request", "body": b""})
        assert (await asked.receive_output(20))["status"] == status
        said = (await asked.receive_output(20))["body"].decode()
        assert ("came through a proxy (HTTP/1.0)" in said) == (status == 403)


def test_with_accounts_a_proxy_may_pass_on_what_it_likes(web: Client, agent: Agent) -> None:
    headers = {"x-forwarded-for": "8.8.8.8", "via": "1.1 proxy"}
    assert web.get(reverse("agent", args=[agent.pk]), headers=headers).status_code == 200


@pytest.mark.parametrize("address", ["192.168.1.5", "8.8.8.8", "::ffff:8.8.8.8", "2001:db8::1"])
def test_another_machine_is_refused(address: str, client: Client, own: Agent) -> None:
    page = client.get(reverse("agent", args=[own.pk]), REMOTE_ADDR=address)
    assert page.status_code == 403
    assert client.get(reverse("admin:index"), REMOTE_ADDR=address).status_code == 403


FOREIGN = ["https://evil.example", "null", "http://testserver.evil.example", "http://localhost:1"]


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_page_from_elsewhere_is_not_answered(origin: str, client: Client, own: Agent) -> None:
    address = reverse("agent", args=[own.pk])
    assert client.get(address, headers={"origin": origin}).status_code == 403


def test_a_page_of_this_server_is_answered(client: Client, own: Agent) -> None:
    address = reverse("agent", args=[own.pk])
    assert client.get(address, headers={"origin": "http://testserver"}).status_code == 200


@pytest.mark.parametrize("accounts", [False, True])
def test_no_post_without_this_servers_token_changes_anything(
    accounts: bool, own: Agent, settings: Any
) -> None:
    settings.ACCOUNTS = accounts
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner())
    ids = ids_of(own)
    form = {"text": "Hi", "value": "Mine", "version": "1", "name": "Mine"}
    before = everything()
    for name, address in addresses(ids).items():
        assert client.post(address, form).status_code == 403, name
        for origin in FOREIGN:
            response = client.post(address, form, headers={"origin": origin})
            assert response.status_code == 403, (name, origin)
    assert everything() == before


@pytest.mark.parametrize("accounts", [False, True])
def test_a_token_does_not_help_a_page_from_elsewhere(
    accounts: bool, own: Agent, settings: Any
) -> None:
    settings.ACCOUNTS = accounts
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner())
    token = str(client.get(reverse("agent", args=[own.pk])).context["csrf_token"])
    send, form = reverse("message_send", args=[own.pk]), {"text": "Hi", "key": "k"}
    headers = {"x-csrftoken": token}
    assert client.post(send, form, headers=headers | {"origin": FOREIGN[0]}).status_code == 403
    assert not own.runs.exists()
    assert client.post(send, form, headers=headers).status_code == 302
    assert own.runs.count() == 1


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.1.5", "memoryweb.example", "", "localhost.example"]
)
def test_without_accounts_the_server_refuses_to_be_reached_from_elsewhere(host: str) -> None:
    with pytest.raises(CommandError, match="MEMORYWEB_ACCOUNTS=1"):
        call_command("serve", host=host)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_loopback_needs_no_accounts(host: str) -> None:
    check_address(host)


def test_with_accounts_any_address_will_do(settings: Any) -> None:
    settings.ACCOUNTS = True
    check_address("0.0.0.0")


# -- sockets ---------------------------------------------------------------------------------------


on_sockets = pytest.mark.django_db(transaction=True)


@on_sockets
async def test_a_stranger_gets_no_socket(alice: User, settings: Any) -> None:
    settings.ACCOUNTS = True
    async with socket() as stranger:
        assert await stranger.connect() == (False, 4401)
    async with socket(alice) as known:
        assert (await known.connect())[0]


@on_sockets
@pytest.mark.parametrize("accounts", [False, True])
async def test_a_page_from_elsewhere_gets_no_socket(
    accounts: bool, alice: User, settings: Any, subtests: pytest.Subtests
) -> None:
    settings.ACCOUNTS = accounts
    for origin in [*FOREIGN, "", "testserver", "ftp://testserver"]:
        with subtests.test(origin=origin):
            async with socket(alice, origin=origin) as page:
                assert await page.connect() == (False, 4403)


@on_sockets
async def test_a_foreign_host_gets_no_socket(subtests: pytest.Subtests) -> None:
    for host in ("evil.example", "", "[::1", "testserver.evil.example"):
        with subtests.test(host=host):
            async with socket(host=host, origin=f"http://{host}") as page:
                assert await page.connect() == (False, 4403)


@on_sockets
async def test_a_socket_through_a_proxy_is_refused_without_accounts(db: None) -> None:
    async with socket(x_forwarded_for="8.8.8.8") as page:
        assert await page.connect() == (False, 4403)
    async with socket() as page:
        page.scope["client"] = ("192.168.1.5", 1234)
        assert await page.connect() == (False, 4403)
    async with socket() as page:
        page.scope["client"] = ("127.0.0.1", 1234)
        assert (await page.connect())[0]


@on_sockets
async def test_somebody_elses_agent_is_refused_like_one_that_never_was(
    agent: Agent, bob: User, settings: Any
) -> None:
    settings.ACCOUNTS = True
    async with socket(bob) as page:
        await page.connect()
        for command in ("follow", "send", "stop"):
            answers = []
            for named in (str(agent.pk), str(uuid4())):
                body = {"command": command, "agent": named, "after": 0, "text": "Hi", "key": "k"}
                await page.send_to(text_data=json.dumps(body))
                answers.append(await heard(page, "refused"))
            assert answers[0] == answers[1]
    assert not await Run.objects.aexists()


NO_COMMANDS = [
    *("not JSON", "[]", "null", "7", '"follow"', "{", "[" * 100_000),
    *('{"command": null}', '{"command": ["follow"]}', '{"command": "delete"}'),
    *('{"command": "follow"}', '{"body": "send"}', '{"command": "ack", "seq": "7"}'),
    '{"command": "ack", "seq": -1}',
]


@on_sockets
async def test_what_is_no_command_is_refused_and_the_socket_stays_open(
    alice: User, settings: Any, subtests: pytest.Subtests
) -> None:
    settings.ACCOUNTS = True
    async with socket(alice) as page:
        await page.connect()
        for frame in NO_COMMANDS:
            with subtests.test(frame=frame[:40]):
                await page.send_to(text_data=frame)
                assert "content" in await heard(page, "refused")
                await page.send_to(bytes_data=b"\x00\xff")
                assert "content" in await heard(page, "refused")


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        ("http://localhost:8283", "localhost:8283", True),
        ("http://[::1]:8283", "[::1]:8283", True),
        ("HTTP://LocalHost:8283", "localhost:8283", True),
        ("https://chat.example", "localhost:8283", True),  # trusted, see below
        ("http://localhost:8284", "localhost:8283", False),
        ("http://localhost", "localhost:8283", False),
        ("http://evil@localhost:8283", "localhost:8283", False),
        ("http://evil.example", "evil.example", False),
        ("", "", False),
        ("null", "null", False),
    ],
)
def test_a_page_is_of_this_server_or_it_is_not(
    origin: str, host: str, same: bool, settings: Any
) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://chat.example"]
    assert same_origin(origin, host) is same
