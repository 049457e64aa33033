"""Who is let in by the API, and what they may do there."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from agents.accounts import owner
from agents.api.asgi import application
from agents.asyncio_bridge import in_thread
from agents.models import Agent, Token
from tests.support.api_client import Api

FOREIGN = ["https://evil.example", "null", "http://testserver.evil.example"]
NEW: dict[str, Any] = {"memory_blocks": []}


def body(data: Any) -> dict[str, Any]:
    return {"data": json.dumps(data), "content_type": "application/json"}


# -- without accounts ------------------------------------------------------------------------------


def test_on_its_own_machine_a_script_needs_no_token(db: None) -> None:
    made = Api().post("/agents/", NEW)
    assert Agent.objects.get().owner == owner()
    assert made["id"] == f"agent-{Agent.objects.get().pk}"


def test_the_key_of_another_server_does_not_matter_there(db: None) -> None:
    assert Client().get("/v1/agents/", headers={"authorization": "Bearer sk-let-1"}).json() == []


def test_a_token_that_was_revoked_lets_nobody_in_even_there(db: None) -> None:
    api = Api(owner())
    api.token.delete()
    assert "revoked" in api.get("/agents/", expect=401)["detail"]


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("origin", FOREIGN)
def test_a_page_from_elsewhere_is_refused(db: None, origin: str, method: str) -> None:
    api = Api()
    assert "other sites" in api.ask(method, "/agents/", NEW, expect=403, origin=origin)["detail"]
    assert not Agent.objects.exists()


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""],
)
def test_what_is_not_said_to_be_json_is_refused(db: None, kind: str) -> None:
    response = Client().post("/v1/agents/", json.dumps(NEW), content_type=kind)
    assert response.status_code == 415
    assert not Agent.objects.exists()


def test_a_browsers_cookie_without_the_csrf_token_is_refused(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner())
    assert client.post("/v1/agents/", **body(NEW)).status_code == 403
    assert client.get("/v1/agents/").status_code == 200
    client.cookies["memoryweb_csrf"] = "t" * 32
    told = {"x-csrftoken": "t" * 32}
    assert client.post("/v1/agents/", **body(NEW), headers=told).status_code == 200


@pytest.mark.parametrize("address", ["192.168.1.5", "8.8.8.8"])
def test_another_machine_is_refused(db: None, address: str) -> None:
    assert Client().get("/v1/agents/", REMOTE_ADDR=address).status_code == 403


def test_what_came_through_a_proxy_is_refused(db: None) -> None:
    assert Client().get("/v1/agents/", headers={"x-forwarded-for": "8.8.8.8"}).status_code == 403


# -- with accounts ---------------------------------------------------------------------------------


def test_without_a_token_nobody_is_let_in(accounts: None, db: None) -> None:
    Api().get("/agents/", expect=401)
    assert Api().get("/health/") == {"version": "0.16.8", "status": "ok"}


@pytest.mark.parametrize("shown", ["Bearer nonsense", "Bearer mw_nonsense", "Basic YTpi", "Bearer"])
def test_a_wrong_token_lets_nobody_in(accounts: None, db: None, shown: str) -> None:
    response = Client().get("/v1/agents/", headers={"authorization": shown})
    assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_a_token_acts_as_its_owner_and_sees_nobody_elses(
    accounts: None, agent: Agent, bob: User
) -> None:
    assert [each["name"] for each in Api(agent.owner).get("/agents/")] == ["Tutor"]
    stranger, address = Api(bob), f"/agents/agent-{agent.pk}"
    assert stranger.get("/agents/") == []
    assert str(agent.pk) in stranger.get(address, expect=404)["detail"]
    stranger.delete(address, expect=404)
    stranger.patch(address, {"name": "Mine"}, expect=404)
    stranger.post(f"{address}/messages", {"input": "Hi"}, expect=404)
    stranger.get(f"/blocks/block-{agent.core_memory()[0].pk}", expect=404)


ASKING = [
    ("read", "GET", "/agents/", None),
    ("write", "POST", "/agents/", NEW),
    ("write", "POST", "/blocks/", {"label": "human"}),
    ("tools", "PUT", "/tools/", {"source_code": "def f():\n    '''Do it.'''\n    return 1\n"}),
    ("tools", "POST", "/tools/run", {"source_code": "def f():\n    '''Do it.'''\n    return 1\n"}),
    ("chat", "POST", "/agents/agent-x/messages", {"input": "Hi"}),
    ("chat", "POST", "/agents/agent-x/messages/stream", {"input": "Hi"}),
    ("chat", "POST", "/agents/agent-x/messages/async", {"input": "Hi"}),
    ("chat", "POST", "/agents/agent-x/messages/cancel", {}),
]


@pytest.mark.parametrize(("scope", "method", "path", "given"), ASKING)
def test_a_token_may_do_only_what_its_scopes_say(
    accounts: None, alice: User, scope: str, method: str, path: str, given: Any
) -> None:
    others = [each for each in ("read", "chat", "write", "tools") if each != scope]
    refusal = Api(alice, others).ask(method, path, given, expect=403)["detail"]
    assert f"'{scope}'" in refusal
    expect = 404 if "agent-x" in path else 200
    Api(alice, [scope]).ask(method, path, given, expect=expect)


def test_a_token_of_a_closed_account_lets_nobody_in(accounts: None, alice: User) -> None:
    api = Api(alice)
    alice.is_active = False
    alice.save()
    api.get("/agents/", expect=401)


def test_its_last_use_is_noted_at_most_once_a_minute(accounts: None, alice: User) -> None:
    api = Api(alice)
    api.get("/agents/")
    first = Token.objects.get().used_at
    assert first is not None
    api.get("/agents/")
    assert Token.objects.get().used_at == first
    Token.objects.update(used_at=timezone.now() - timedelta(minutes=2))
    api.get("/agents/")
    assert Token.objects.get().used_at > first  # type: ignore[operator]


@pytest.mark.django_db(transaction=True)
async def test_its_use_is_noted_once_the_answer_is_sent(
    accounts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, secret = await in_thread(lambda: Token.make(owner(), "script", ["read"]))
    happened: list[str] = []
    monkeypatch.setattr(Token, "note_use", lambda token: happened.append("noted"))

    async def receive() -> dict[str, Any]:
        if happened:
            await asyncio.Event().wait()  # the client stays
        happened.append("asked")
        return {"type": "http.request", "body": b""}

    async def send(message: dict[str, Any]) -> None:
        happened.append(message["type"])

    headers = [(b"host", b"testserver"), (b"authorization", f"Bearer {secret}".encode())]
    scope = {"type": "http", "method": "GET", "path": "/v1/agents/", "headers": headers}
    await application({**scope, "query_string": b""}, receive, send)
    assert happened == ["asked", "http.response.start", "http.response.body", "noted"]


def test_a_browsers_session_counts_with_accounts_too(accounts: None, agent: Agent) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(agent.owner)
    assert [each["name"] for each in client.get("/v1/agents/").json()] == ["Tutor"]
    assert client.post("/v1/agents/", **body(NEW)).status_code == 403
    assert client.delete(f"/v1/agents/agent-{agent.pk}").status_code == 403


# -- the page of tokens ----------------------------------------------------------------------------


def test_a_token_is_made_shown_once_used_and_revoked(accounts: None, alice: User) -> None:
    client = Client()
    client.force_login(alice)
    page = client.post("/tokens/", {"name": "Notebook", "scopes": ["read"]})
    secret = page.context["secret"]
    assert secret in page.content.decode()
    assert secret not in client.get("/tokens/").content.decode()
    token = Token.objects.get()
    assert secret not in json.dumps([token.sha256, token.hint, token.name, token.scopes]), (
        "only its hash is kept"
    )
    headers = {"authorization": f"Bearer {secret}"}
    assert Client().get("/v1/agents/", headers=headers).status_code == 200
    client.post(f"/tokens/{token.pk}/revoke/")
    assert Client().get("/v1/agents/", headers=headers).status_code == 401


@pytest.mark.parametrize(
    "form", [{"name": "", "scopes": "read"}, {"name": "x"}, {"name": "x", "scopes": "all"}]
)
def test_a_token_that_cannot_be_is_refused_in_words(db: None, form: dict[str, str]) -> None:
    page = Client().post("/tokens/", form)
    assert page.status_code == 422
    assert not Token.objects.exists()


def test_no_token_is_made_or_revoked_without_the_csrf_token(db: None) -> None:
    token, _ = Token.make(owner(), "Mine", ["read"])
    client = Client(enforce_csrf_checks=True)
    assert client.post("/tokens/", {"name": "x", "scopes": "read"}).status_code == 403
    assert client.post(f"/tokens/{token.pk}/revoke/").status_code == 403
    assert client.get(f"/tokens/{token.pk}/revoke/").status_code == 405
    assert Token.objects.count() == 1


def test_nobody_revokes_anothers_token(accounts: None, alice: User, bob: User) -> None:
    token, _ = Token.make(alice, "Hers", ["read"])
    client = Client()
    client.force_login(bob)
    assert client.post(f"/tokens/{token.pk}/revoke/").status_code == 404
    assert "Hers" not in client.get("/tokens/").content.decode()


def test_the_operations_can_be_browsed(client: Client, db: None) -> None:
    page = client.get("/api/").content.decode()
    assert "POST /v1/agents/{agent_id}/messages" in page
    assert "Create an agent." in page


def test_its_pages_are_for_people_who_are_logged_in(accounts: None, db: None) -> None:
    assert Client().get("/tokens/").status_code == 302
    assert Client().get("/api/").status_code == 302
