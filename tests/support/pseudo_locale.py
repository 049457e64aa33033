"""Settings of a server whose German is the English in brackets, so that a test sees what is not
translated: `DJANGO_SETTINGS_MODULE=tests.support.pseudo_locale`, and the folder that `write` filled
in MEMORYWEB_TEST_LOCALE."""

from __future__ import annotations

import os
from pathlib import Path

from babel.messages import Catalog

from memoryweb.settings import *  # noqa: F403
from tests.support import messages

LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [Path(os.environ.get("MEMORYWEB_TEST_LOCALE", ""))]


def bracketed(domain: str) -> Catalog:
    """Each text of a domain in brackets."""
    catalog = Catalog(locale="de")
    for message in messages.template_of(domain):
        if message.id:
            one, *plurals = [message.id] if isinstance(message.id, str) else message.id
            texts = tuple(f"⟦{text}⟧" for text in (one, *plurals))
            catalog.add(message.id, texts if plurals else texts[0], context=message.context)
    return catalog


def write(folder: Path) -> None:
    """Put the catalogs of pages and of scripts into a folder."""
    path = folder / "de/LC_MESSAGES"
    path.mkdir(parents=True)
    for domain in ("django", "djangojs"):
        (path / f"{domain}.mo").write_bytes(messages.as_mo(bracketed(domain)))
