"""The languages of the pages: those that are offered are complete, and what is compiled is new."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import allauth
import pytest
from babel.messages import Catalog
from babel.messages.pofile import read_po
from django.conf import settings

from tests.support import messages

OFFERED = [code for code, _ in settings.LANGUAGES if code != "en"]
DOMAINS = ("django", "djangojs")


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("language", OFFERED)
def test_an_offered_language_has_every_text_that_the_sources_mark(
    language: str, domain: str
) -> None:
    assert messages.faults(messages.merged(language, domain)) == []


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_what_is_compiled_is_what_is_translated(language: str, domain: str) -> None:
    path = messages.po_path(language, domain)
    compiled = path.with_suffix(".mo").read_bytes()
    assert compiled == messages.as_mo(messages.read(language, domain)), "Run `make messages`."


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_what_is_said_otherwise_than_allauth_does_is_what_allauth_says(language: str) -> None:
    """A text that a new version words anew would be shown formally again."""
    ours = messages.of_allauth(language)
    path = Path(allauth.__file__).parent / f"locale/{language}/LC_MESSAGES/django.po"
    theirs = read_po(BytesIO(path.read_bytes()), locale=language)
    assert {each.id for each in ours if each.id} <= {each.id for each in theirs}
    assert messages.faults(ours) == []
    compiled = messages.OF_ALLAUTH / f"{language}/LC_MESSAGES/django.mo"
    assert compiled.read_bytes() == messages.as_mo(ours), "Run `make messages`."


@pytest.mark.parametrize("language", ["en", *messages.LANGUAGES])
def test_the_script_of_a_language_is_what_is_translated(language: str) -> None:
    kept = (messages.SCRIPTS / f"{language}.js").read_text()
    assert kept == messages.script_of(language), "Run `make messages`."


def test_what_a_translation_may_not_do_is_found() -> None:
    catalog = Catalog(locale="de")
    catalog.add("%(name)s has gone", "Weg ist %(nam)s")
    catalog.add("Read <b>this</b>", "Lies das")
    catalog.add("Save", "")
    catalog.add("Delete", "Löschen", flags=["fuzzy"])
    catalog.add("Share", 'Mit "allen" teilen')
    catalog.add(("%(n)s step", "%(n)s steps"), ("ein Schritt", "%(n)s Schritte"))
    kinds = [line.partition(":")[0] for line in messages.faults(catalog)]
    assert sorted(kinds) == [
        "a quotation mark that may end an attribute",
        "fuzzy",
        "missing",
        "other elements",
        "other placeholders",
    ]
