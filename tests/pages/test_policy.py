"""The walls: what a page may hold and do, and what a model's text may not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import NoReverseMatch, reverse

from agents.accounts import owner
from agents.memory.classes import ChatMemory
from agents.models import Agent
from agents.text import markdown
from tests.conftest import Ask
from tests.support.addresses import addresses, everything_but_audit, ids_of
from tests.support.counters import count_anew
from tests.support.fake_openai import FakeOpenAI, calls, reasoning, text

NASTY = "<script>alert(1)</script><img src=x onerror=alert(1)>"


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
    for name in (*rows, "compaction", "approval", "blockshare", "requesttext"):
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
def nasty_conversation(own: Agent, ask: Ask, model: FakeOpenAI) -> None:
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
    count_anew(settings)
    client = Client(raise_request_exception=True)
    if user:
        client.force_login(user)
    yield client


WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER)\b", re.IGNORECASE)


@contextmanager
def noting_writes() -> Iterator[list[str]]:
    """The statements meanwhile that write anything but the session, and that somebody exported an
    agent."""
    written: list[str] = []

    def note(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        noted = "django_session" in sql or "agents_auditentry" in sql
        if WRITES.match(sql) and not noted:
            written.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        yield written


@pytest.mark.slow
@pytest.mark.parametrize("accounts", [False, True])
def test_every_page_keeps_to_the_policy_and_looking_at_it_writes_nothing(
    accounts: bool, own: Agent, nasty_conversation: None, settings: Any, subtests: pytest.Subtests
) -> None:
    own.refresh_from_db()
    found = all_addresses(own)
    with looking(owner(), settings, accounts) as client, noting_writes() as written:
        before = everything_but_audit()
        for name, address in found.items():
            written.clear()
            with subtests.test(name=name):
                page = client.get(address)
                policy = page.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                is_image = page.headers["Content-Type"].startswith("image/")
                # Chromium draws an image in a page of its own, which has styles.
                assert ("unsafe" in policy) == is_image
                assert page.headers["X-Frame-Options"] == "DENY"
                assert page.headers["X-Content-Type-Options"] == "nosniff"
                assert page.headers["Referrer-Policy"] == "same-origin"
                if page.headers["Content-Type"].startswith("text/html"):
                    assert Page(page.getvalue().decode()).forbidden == []
                client.head(address)
                assert written == []
    assert everything_but_audit() == before


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
    assert Written(html).attributes <= {
        *("href", "title", "class", "start", "rel", "dir", "type", "role", "aria-label", "id"),
    }
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


def test_pages_may_ask_for_the_microphone_and_for_no_camera(web: Client, agent: Agent) -> None:
    page = web.get(reverse("agent", args=[agent.pk]))
    assert page.headers["Permissions-Policy"] == "microphone=(self), camera=(), geolocation=()"
