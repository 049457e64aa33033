"""Keys of people's own, for endpoints of models that take them."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

from agents.llm import resolve
from agents.models import AuditEntry, PersonalKey
from tests.support.defined_endpoints import define
from tests.support.pages import at, shown


def test_a_person_enters_a_key_replaces_it_and_deletes_it(web: Client, alice: User) -> None:
    assert at("model_keys") not in web.get(at("account")).content.decode()
    assert "No server of models takes keys" in shown(web.get(at("model_keys")))
    row = define(key="sk-lab", own_keys="allowed")
    assert at("model_keys") in web.get(at("account")).content.decode()
    page = web.get(at("model_keys"))
    assert "The server’s key is used" in shown(page)
    assert page["Cache-Control"].startswith("max-age=0")
    for key in ("sk-alice", "sk-new"):
        assert web.post(at("model_keys"), {"endpoint": row.pk, "key": key}).status_code == 302
        assert resolve("lab/a", alice.pk)[0].api_key == key
    page = web.get(at("model_keys"))
    assert "Your key is used" in shown(page)
    assert "sk-new" not in page.content.decode()
    assert web.get(at("model_key_delete", row.pk)).status_code == 405
    assert web.post(at("model_key_delete", row.pk)).status_code == 302
    assert not resolve("lab/a", alice.pk)[0].is_own_key
    done = AuditEntry.objects.concerning(alice).filter(action__startswith="own_key")
    assert [each.action for each in done] == ["own_key_deleted", "own_key_put", "own_key_put"]


def test_only_endpoints_that_one_may_use_and_that_take_keys_are_offered(
    web: Client, alice: User, bob: User
) -> None:
    without, others = define("keyless"), define("others", everyone=False, own_keys="allowed")
    others.users.add(bob)
    required = define("mine", own_keys="required")
    assert "mine http://lab:8000/v1 · Cannot be used without your key" in shown(
        web.get(at("model_keys"))
    )
    for row in (without, others):
        assert row.name not in shown(web.get(at("model_keys")))
        sent = web.post(at("model_keys"), {"endpoint": row.pk, "key": "k"})
        assert sent.status_code == 404
    for key in ("", "two words"):
        sent = web.post(at("model_keys"), {"endpoint": required.pk, "key": key})
        assert sent.status_code == 422
        assert "two words" not in sent.content.decode()
    assert web.post(at("model_keys"), {"endpoint": "x", "key": "k"}).status_code == 404


def test_nobody_reaches_the_key_of_somebody_else(bobs_web: Client, alice: User) -> None:
    row = define(own_keys="required")
    PersonalKey.put(alice, row, "sk-alice")
    assert bobs_web.post(at("model_key_delete", row.pk)).status_code == 404
    assert "Cannot be used without your key" in shown(bobs_web.get(at("model_keys")))
    assert PersonalKey.objects.count() == 1
