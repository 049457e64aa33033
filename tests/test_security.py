"""The door and the walls: who is let in from where, and what a page may hold and do."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from html.parser import HTMLParser
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import NoReverseMatch, reverse

from agents import markdown
from agents.accounts import owner
from agents.management.commands.serve import check_address
from agents.memory import ChatMemory
from agents.models import Agent, Run
from agents.models.message import storable
from memoryweb.asgi import application
from memoryweb.middleware import same_origin
from tests.addresses import addresses, everything, ids_of
from tests.conftest import Ask
from tests.fake_openai import FakeOpenAI, calls, reasoning, text

NASTY = "<script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.fixture
def own(db: None) -> Agent:
    """An agent of the one owner of a server without accounts."""
    return Agent.create(owner(), "Own", ChatMemory(human="Name: Bob"))


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
        {"forwarded": "for=8.8.8.8"},
        {"via": "1.1 proxy"},
    ],
)
def test_what_came_through_a_proxy_is_refused(
    headers: dict[str, str], client: Client, own: Agent
) -> None:
    response = client.get(reverse("agent", args=[own.pk]), headers=headers)
    assert response.status_code == 403
    assert "MEMORYWEB_ACCOUNTS=1" in response.content.decode()


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


# -- what a page may hold --------------------------------------------------------------------------


class Page(HTMLParser):
    """What stands in a page that the policy forbids."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forbidden: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: (value or "").strip() for name, value in attrs}
        data = given.get("type") == "application/json"
        if tag == "style" or (tag == "script" and "src" not in given and not data):
            self.forbidden.append(f"<{tag}>")
        if tag in ("iframe", "object", "embed", "base", "frame"):
            self.forbidden.append(f"<{tag}>")
        for name, value in given.items():
            inline = name == "style" or re.match(r"on|hx-on", name)
            program = re.match(r"(javascript|vbscript|data):", value, re.IGNORECASE)
            remote = name in ("src", "srcset", "action", "data", "poster") and "//" in value
            fetched = tag == "link" and name == "href" and "//" in value
            evaluated = name.startswith("hx-") and value.startswith(("js:", "javascript:"))
            if inline or program or remote or fetched or evaluated:
                self.forbidden.append(f'<{tag} {name}="{value}">')


def names_in(url_module: str) -> list[str]:
    from importlib import import_module

    return [pattern.name for pattern in import_module(url_module).urlpatterns if pattern.name]


def all_addresses(agent: Agent) -> dict[str, str]:
    """Every address that can be looked at: of the application, the accounts and the admin."""
    found = addresses(ids_of(agent)) | {"nowhere": "/nowhere/"}
    for name in names_in("allauth.account.urls"):
        try:
            found[name] = reverse(name)
        except NoReverseMatch:
            continue
    block = agent.core_memory()[-1]
    rows = ("agent", "block", "blockedit", "message", "run", "step", "event", "passage", "tool")
    for name in (*rows, "compaction", "approval", "blockshare", "part"):
        found[f"admin list of {name}"] = reverse(f"admin:agents_{name}_changelist")
    found |= {
        "new password": reverse("account_reset_password_from_key", args=["1", "wrong-key"]),
        "confirm": reverse("account_confirm_email", args=["wrong-key"]),
        "admin": reverse("admin:index"),
        "admin agents": reverse("admin:app_list", args=["agents"]),
        "admin search": reverse("admin:agents_block_changelist") + "?q=name&o=1",
        "admin block": reverse("admin:agents_block_change", args=[block.pk]),
        "admin block add": reverse("admin:agents_block_add"),
        "admin block delete": reverse("admin:agents_block_delete", args=[block.pk]),
        "admin block history": reverse("admin:agents_block_history", args=[block.pk]),
        "admin agent": reverse("admin:agents_agent_change", args=[agent.pk]),
        "admin agent delete": reverse("admin:agents_agent_delete", args=[agent.pk]),
        "admin people": reverse("admin:auth_user_changelist"),
        "admin person": reverse("admin:auth_user_change", args=[agent.owner_id]),
        "admin person add": reverse("admin:auth_user_add"),
        "admin password": reverse("admin:auth_user_password_change", args=[agent.owner_id]),
    }
    return found


@pytest.fixture
def said(own: Agent, ask: Ask, model: FakeOpenAI) -> None:
    """A conversation with nasty words in every place."""
    append = ("core_memory_append", {"label": "human", "content": NASTY})
    model.script(
        reasoning(NASTY, then=calls(append, ("no_such_tool", f'{{"a": "{NASTY}"}}'))), text(NASTY)
    )
    ask(NASTY, of=own)
    human = own.block("human")
    assert human is not None
    human.configure(description=NASTY)
    own.configure(name=NASTY[:100], system_prompt=NASTY)
    Agent.create(own.owner, NASTY, ChatMemory()).trash()


@contextmanager
def looking(user: User | None, settings: Any, accounts: bool) -> Iterator[Client]:
    settings.ACCOUNTS = accounts
    cache.clear()
    client = Client(raise_request_exception=True)
    if user:
        client.force_login(user)
    yield client


WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER)\b", re.IGNORECASE)


@contextmanager
def noting_writes() -> Iterator[list[str]]:
    """The statements meanwhile that write anything but the session."""
    written: list[str] = []

    def note(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if WRITES.match(sql) and "django_session" not in sql:
            written.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        yield written


@pytest.mark.slow
@pytest.mark.parametrize("accounts", [False, True])
def test_every_page_keeps_to_the_policy_and_looking_at_it_writes_nothing(
    accounts: bool, own: Agent, said: None, settings: Any, subtests: pytest.Subtests
) -> None:
    own.refresh_from_db()
    found = all_addresses(own)
    with looking(owner(), settings, accounts) as client, noting_writes() as written:
        before = everything()
        for name, address in found.items():
            written.clear()
            with subtests.test(name=name):
                page = client.get(address)
                policy = page.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "unsafe" not in policy
                assert page.headers["X-Frame-Options"] == "DENY"
                assert page.headers["X-Content-Type-Options"] == "nosniff"
                assert page.headers["Referrer-Policy"] == "same-origin"
                if page.headers["Content-Type"].startswith("text/html"):
                    assert Page(page.getvalue().decode()).forbidden == []
                client.head(address)
                assert written == []
    assert everything() == before


@pytest.mark.slow
def test_what_strangers_see_keeps_to_the_policy(own: Agent, settings: Any) -> None:
    with looking(None, settings, accounts=True) as client:
        for name, address in all_addresses(own).items():
            page = client.get(address, follow=True)
            assert "default-src 'none'" in page.headers["Content-Security-Policy"], name
            assert Page(page.content.decode()).forbidden == [], name


def test_refusals_have_the_policy_too(own: Agent) -> None:
    client = Client(enforce_csrf_checks=True)
    refused = client.post(reverse("message_send", args=[own.pk]), {"text": "Hi"})
    foreign = client.get("/", headers={"host": "evil.example"})
    for page in (refused, foreign):
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]
        assert Page(page.content.decode()).forbidden == []


def test_what_is_typed_badly_comes_back_as_text(client: Client, own: Agent) -> None:
    ids = ids_of(own)
    form = {"value": NASTY * 50, "version": "1", "text": "", "name": "", "label": NASTY}
    new = {**form, "name": NASTY, "blocks-TOTAL_FORMS": "1", "blocks-INITIAL_FORMS": "0"}
    new |= {"blocks-0-label": NASTY, "blocks-0-value": NASTY * 50, "blocks-0-limit": "-1"}
    for name in ("block_edit", "block_settings", "block_new", "agent_settings", "message_send"):
        page = client.post(addresses(ids)[name], form)
        assert page.status_code == 422, name
        assert Page(page.content.decode()).forbidden == [], name
    page = client.post(reverse("agent_new"), new)
    assert page.status_code == 422
    assert Page(page.content.decode()).forbidden == []


def test_both_sides_of_a_conflict_come_back_as_text(client: Client, own: Agent) -> None:
    ids = ids_of(own)
    form = {"value": NASTY, "version": "0"}
    page = client.post(addresses(ids)["block_edit"], form)
    assert page.status_code == 409
    assert Page(page.content.decode()).forbidden == []


# -- sockets ---------------------------------------------------------------------------------------

ORIGIN = {"origin": "http://testserver", "host": "testserver"}


@asynccontextmanager
async def socket(user: User | None = None, **headers: str) -> AsyncIterator[WebsocketCommunicator]:
    """A socket, through the same door as a browser's."""
    given = {**ORIGIN, **headers}
    if user:
        client = Client()
        await sync_to_async(client.force_login)(user)
        given["cookie"] = client.cookies.output(header="", sep=";").strip()
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()]
    communicator = WebsocketCommunicator(application, "/ws/", headers=sent)
    yield communicator
    await communicator.disconnect()


async def heard(communicator: WebsocketCommunicator, name: str) -> dict[str, Any]:
    """The next frame that has something of that name to say."""
    while name not in (frame := json.loads(await communicator.receive_from(timeout=10))):
        pass
    return dict(frame)


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


# -- what a model writes ---------------------------------------------------------------------------

DEEP = 3000


@pytest.mark.parametrize(
    "nasty",
    [
        NASTY,
        "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
        "<scr<script>ipt>alert(1)</scr</script>ipt>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java\tscript:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](vbscript:x)",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "<data:text/html,x>",
        "[x](http://a.example 'title\" onmouseover=\"alert(1)')",
        '[x](http://a.example/"onmouseover="alert(1))',
        "![x](https://evil.example/pixel.png)",
        "![x](data:image/svg+xml,<svg onload=alert(1)>)",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)><style>*{x}</style></svg>",
        "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
        "<iframe src=https://evil.example></iframe>",
        "<object data=x></object><embed src=x><base href=//evil.example>",
        "<form action=//evil.example><button formaction=//evil.example>x</button></form>",
        "<p style='background:url(//evil.example)'>x</p>",
        "<style>@import '//evil.example'</style>",
        '<hx-partial hx-target="#chat"><b>x</b></hx-partial>',
        '<b hx-get="/agents/" hx-trigger="load" data-hx-get="/x" hx-on:click="alert(1)">x</b>',
        "<template><script>alert(1)</script></template>",
        "<!--><script>alert(1)</script>-->",
        "<a href='javascript:alert(1)' id=composer class=button name=x>x</a>",
        "```html\n<script>alert(1)</script>\n```",
        '```"><script>alert(1)</script>\nx\n```',
        "```x onmouseover=alert(1)\nx\n```",
        "| <script> | x |\n|---|---|\n| ![x](//e) | [x](javascript:x) |",
        "https://a.example/<script>alert(1)</script>",
        "[x]: javascript:alert(1)\n\n[x]",
        "<" * DEEP,
        "[" * DEEP,
        "> " * DEEP + "x",
        "- " * DEEP + "x",
        "*" * DEEP + "x" + "*" * DEEP,
        "`" * DEEP,
        "[a](" * DEEP,
        "\0<script>\0alert(1)</script>",
    ],
)
def test_what_a_model_writes_holds_no_program_and_fetches_nothing(nasty: str) -> None:
    html = str(markdown.render(nasty))
    assert Page(html).forbidden == []
    assert Written(html).tags <= markdown.TAGS
    assert Written(html).attributes <= {"href", "title", "class", "start", "rel"}
    schemes = [re.match(r"\s*([^/?#]*):", link) for link in Written(html).links]
    assert {scheme[1] for scheme in schemes if scheme} <= {"http", "https", "mailto"}


class Written(HTMLParser):
    """The tags, attributes and links of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]


def test_code_is_highlighted_and_links_tell_nobody_where_they_were_followed() -> None:
    html = str(markdown.render("```python\nx = 1\n```\n\nhttps://a.example"))
    assert '<span class="n">x</span>' in html
    assert 'rel="noopener noreferrer nofollow"' in html


def test_a_class_cannot_pretend_to_be_part_of_the_page() -> None:
    html = str(markdown.render("```drawer-open\nx\n```"))
    assert "language-drawer-open" in html or "class" not in html


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"), [("\ud83d", "Well."), ("a\0b", "a\0b"), ("[" * 5000, "[" * 5000)]
)
def test_what_cannot_be_stored_or_read_does_not_break_a_run(
    words: str, said: str, own: Agent, ask: Ask, model: FakeOpenAI, client: Client
) -> None:
    """Half a surrogate pair, NUL and endless JSON, wherever a model can put them."""
    replace = {"label": "human", "old_content": words, "new_content": "x"}
    append = {"label": "human", "content": words}
    model.script(
        reasoning(
            said,
            then=calls(
                ("core_memory_append", json.dumps(append)),
                ("core_memory_replace", json.dumps(replace)),
                ("core_memory_append", words.replace("\ud83d", "{")),
            ),
        ),
        text(said),
    )
    run = ask("Hello", of=own)
    assert (run.status, run.error) == ("done", "")
    assert len(model.requests) == 2
    assert not model.refused
    assert client.get(reverse("agent", args=[own.pk])).status_code == 200


BAD_INPUT: list[tuple[str, dict[str, Any]]] = [
    ("block_edit", {"value": "x", "version": "²"}),
    ("block_edit", {"value": "x", "version": "9" * 30}),
    ("block_edit", {"value": "x", "version": "-1"}),
    ("block_edit", {"value": "x"}),
    ("block_edit", {"value": "a\0b", "version": "1"}),
    ("block_settings", {"label": "human", "limit": "9" * 30}),
    ("block_settings", {"label": "human", "limit": "²"}),
    ("block_settings", {"label": "a\0b", "limit": "100"}),
    ("block_new", {"label": "new", "limit": "many"}),
    ("agent_settings", {"name": "x", "max_steps": "²"}),
    ("agent_settings", {"name": "x", "max_steps": "50", "context_window": "9" * 30}),
    ("agent_settings", {"name": "x" * 101, "max_steps": "50"}),
    ("agent_settings", {"name": "x", "max_steps": "50", "tools": ["rm"]}),
    ("agent_new", {"name": "x", "blocks-TOTAL_FORMS": "²", "blocks-INITIAL_FORMS": "0"}),
    ("agent_new", {"name": "x"}),
    ("message_send", {"text": " \0\n ", "key": "k"}),
    ("message_send", {"text": "x" * 100_001, "key": "k"}),
    ("run_queued", {"text": "x" * 100_001}),
]


def test_bad_input_is_refused_and_changes_nothing(
    client: Client, own: Agent, subtests: pytest.Subtests
) -> None:
    where = addresses(ids_of(own))
    before = everything()
    for name, form in BAD_INPUT:
        with subtests.test(name=name, form=ascii(form)[:80]):
            assert client.post(where[name], form).status_code in (409, 422)
            assert everything() == before


@pytest.mark.parametrize("number", ["0", "9" * 18, "9" * 30])
def test_a_number_out_of_reach_is_no_error(number: str, client: Client, own: Agent) -> None:
    assert client.get(f"/agents/{own.pk}/older/{number}/").status_code == 200
    assert client.post(f"/agents/{own.pk}/edits/{number}/undo/").status_code == 404
    assert client.post(f"/agents/{own.pk}/runs/{number}/retry/").status_code == 404
    for asked in (number, "²", "-1", "x"):
        assert client.get(reverse("agent_new_block"), {"n": asked}).status_code == 200


def test_a_key_of_any_kind_makes_one_run(client: Client, own: Agent) -> None:
    send = reverse("message_send", args=[own.pk])
    for key in ("k", "k", "a\0b", "a\0b", "x" * 500, "x" * 500):
        assert client.post(send, {"text": "Hi", "key": key}).status_code == 302
    assert own.runs.count() == 3


def test_a_message_of_the_greatest_length_is_accepted(client: Client, own: Agent) -> None:
    longest = "😀" * 100_000
    send = reverse("message_send", args=[own.pk])
    assert client.post(send, {"text": longest, "key": "k"}).status_code == 302
    assert own.runs.get().text == longest


def test_text_is_made_storable_with_a_mark_for_what_was_lost() -> None:
    assert storable("a\0b\ud83dc😀") == "a\ufffdb\ufffdc😀"
