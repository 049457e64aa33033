"""Agent files: the pages and the commands that write and read them."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from agents.agent_file import read
from agents.models import Agent, AuditEntry
from agents.models.secrets import decrypted
from tests.conftest import Ask
from tests.support.addresses import everything_but_audit
from tests.support.agent_file_samples import FILES

# -- the pages ---------------------------------------------------------------------------------


def upload(client: Client, raw: bytes, **more: str) -> Any:
    file = SimpleUploadedFile("agent.af", raw)
    return client.post(reverse("agent_import"), {"file": file, **more})


def test_a_file_is_uploaded_and_what_is_not_as_it_was_is_told(web: Client, alice: User) -> None:
    assert 'enctype="multipart/form-data"' in web.get(reverse("agent_import")).content.decode()
    raw = (FILES / "lists.af").read_bytes()
    response = upload(web, raw, with_messages="on")
    assert response.url == reverse("agent_imported")
    agents = Agent.objects.filter(owner=alice)
    assert {agent.name for agent in agents} == {"planner", "packer"}
    for _ in range(2):  # looking again is not importing again
        page = web.get(response.url).content.decode()
        for agent in agents:
            assert reverse("agent", args=[agent.pk]) in page
        assert "STATION_KEY" in page
    assert Agent.objects.count() == 2


def test_the_values_of_a_files_variables_are_asked_for(web: Client, alice: User) -> None:
    raw = (FILES / "lists.af").read_bytes().replace(b'"STATION_KEY": "k"', b'"STATION_KEY": ""')
    response = upload(web, raw, with_messages="on")
    page = web.get(response.url).content.decode()
    agent = Agent.objects.get(name="planner")
    named = re.findall(r'type="password"\s+id="[^"]+"\s+name="([^"]+)"', page)
    assert "secret.STATION_KEY" in named
    sent = {"agent": str(agent.pk), "secret.STATION_KEY": "swordfish", "secret.OTHER": "x"}
    assert web.post(response.url, sent)["Location"] == response.url
    agent.refresh_from_db()
    assert decrypted(agent.secrets) == {"STATION_KEY": "swordfish"}
    page = web.get(response.url).content.decode()
    assert 'name="secret.STATION_KEY"' not in page
    assert "swordfish" not in page
    other = {"agent": str(Agent.objects.create(owner=alice, name="Other").pk)}
    assert web.post(response.url, other).status_code == 404


def test_the_form_can_name_the_agent_and_leave_messages_out(web: Client, alice: User) -> None:
    upload(web, (FILES / "single.af").read_bytes(), name="Mine")
    agent = Agent.objects.get(owner=alice)
    assert (agent.name, agent.message_count) == ("Mine", 0)


@pytest.mark.parametrize("raw", [b"{", b"[]", b"{}", b"\xff", b"null", b'{"agents": 5}'])
def test_a_bad_file_is_refused_on_the_page(raw: bytes, web: Client) -> None:
    response = upload(web, raw)
    assert response.status_code == 422
    assert "errorlist" in response.content.decode()
    assert not Agent.objects.exists()


def test_no_file_and_an_empty_one_are_refused(web: Client) -> None:
    assert web.post(reverse("agent_import")).status_code == 422
    assert upload(web, b"").status_code == 422


def test_a_file_that_is_too_large_is_refused(web: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.pages.agent_files.LARGEST", 100)
    response = upload(web, (FILES / "single.af").read_bytes())
    assert response.status_code == 422
    assert "MB are allowed" in response.content.decode()
    assert not Agent.objects.exists()


def test_an_upload_needs_the_page_s_token(alice: User, settings: Settings) -> None:
    settings.ACCOUNTS = True
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    assert upload(client, (FILES / "single.af").read_bytes()).status_code == 403
    assert not Agent.objects.exists()


def test_before_any_import_there_is_nothing_to_tell(web: Client) -> None:
    assert web.get(reverse("agent_imported"))["Location"] == reverse("agent_import")


def test_an_agent_is_downloaded_and_only_the_audit_notes_it(
    web: Client, agent: Agent, ask: Ask
) -> None:
    ask("Hello")
    before = everything_but_audit()
    response = web.get(reverse("agent_export", args=[agent.pk]))
    raw = b"".join(response)
    assert everything_but_audit() == before
    assert AuditEntry.objects.filter(action="exported").count() == 1
    assert response["Content-Disposition"] == 'attachment; filename="tutor.af"'
    assert response["Content-Length"] == str(len(raw))
    assert read(raw)["agents"][0]["name"] == "Tutor"
    assert web.post(reverse("agent_export", args=[agent.pk])).status_code == 405


def test_nobody_downloads_another_s_agent(client: Client, agent: Agent, bob: User, settings: Any):
    settings.ACCOUNTS = True
    client.force_login(bob)
    assert client.get(reverse("agent_export", args=[agent.pk])).status_code == 404


def test_the_pages_lead_to_import_and_export(web: Client, agent: Agent) -> None:
    page = web.get(reverse("agent_new")).content.decode()
    assert reverse("agent_import") in page
    page = web.get(reverse("agent_settings", args=[agent.pk])).content.decode()
    assert reverse("agent_export", args=[agent.pk]) in page


# -- the commands ------------------------------------------------------------------------------


def test_an_agent_is_exported_and_imported_by_commands(
    agent: Agent, bob: User, tmp_path: Path
) -> None:
    path = tmp_path / "tutor.af"
    call_command("export_agent", str(agent.pk), str(path), stdout=StringIO())
    said = StringIO()
    call_command("import_agent", str(path), owner="bob", name="Mine", stdout=said)
    made = Agent.objects.get(owner=bob)
    assert made.name == "Mine"
    assert str(made.pk) in said.getvalue()
    human = made.block("human")
    assert human is not None
    assert human.value == "Name: Bob"


def test_a_secret_of_an_import_is_read_from_the_environment(
    bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, said = str(FILES / "single.af"), StringIO()
    monkeypatch.setenv("CATALOGUE_KEY", "swordfish")
    given = {"owner": "bob", "secret": ["CATALOGUE_KEY"], "stdout": said}
    call_command("import_agent", file, **given)
    assert decrypted(Agent.objects.get().secrets) == {"CATALOGUE_KEY": "swordfish"}
    assert "CATALOGUE_KEY" not in said.getvalue()
    monkeypatch.delenv("CATALOGUE_KEY")
    for wrong in ("CATALOGUE_KEY", "CATALOGUE_KEY=swordfish"):
        with pytest.raises(CommandError, match="no variable 'CATALOGUE_KEY'") as error:
            call_command("import_agent", file, owner="bob", secret=[wrong])
        assert "swordfish" not in str(error.value)


def test_commands_say_what_is_wrong(agent: Agent, tmp_path: Path, settings: Settings) -> None:
    bad = tmp_path / "bad.af"
    bad.write_text("{}")
    for arguments, said in (
        (("export_agent", "nobody"), "no agent with the id 'nobody'"),
        (("export_agent", str(agent.pk), str(tmp_path)), "cannot be written"),
        (("import_agent", str(bad)), "neither 'agents'"),
        (("import_agent", str(tmp_path / "none.af")), "cannot be read"),
        (("import_agent", str(bad), "--owner", "carol"), "no person 'carol'"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command(*arguments)
    settings.ACCOUNTS = True
    with pytest.raises(CommandError, match="--owner"):
        call_command("import_agent", str(bad))
