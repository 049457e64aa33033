"""The texts of the pages: found in the sources, merged into agents/locale, and compiled.

`make messages` runs it after a text was changed; what then lacks a translation it names.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, cast

import django
from babel.messages import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.http import HttpResponse
from django.utils.translation.template import templatize
from jinja2.ext import babel_extract

TOP = Path(__file__).resolve().parents[2]
LOCALE = TOP / "agents/locale"
OF_ALLAUTH = TOP / "agents/locale_of_allauth"  # its texts that address people formally
SCRIPTS = TOP / "static/js/catalog"
LANGUAGES = ("de", "uk")  # that are translated into; settings.LANGUAGES has those that are complete
KEYWORDS = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop"), None),
    **dict.fromkeys(("ngettext", "ngettext_lazy", "stored_plural"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
}
HEADER = """\
# The texts of memoryweb's pages. `make messages` writes this file from the sources, keeps what is
# translated, and compiles it. Address people as a friend would (du, ти), in plain words.
# English             German              Ukrainian
# agent               Agent               агент
# answer              Antwort             відповідь
# approval            Freigabe            схвалення
# archival memory     Archiv              архів
# block               Block               блок
# compaction          Verdichtung         стиснення
# context             Kontext             контекст
# context window      Kontextfenster      вікно контексту
# conversation        Unterhaltung        розмова
# core memory         Kerngedächtnis      основна пам’ять
# embedding           Einbettung          вектор
# endpoint            Endpunkt            точка доступу
# fork                Abzweigung          відгалуження
# passage             Notiz               запис
# recall memory       Erinnerung          спогади
# reflection          Rückschau           рефлексія
# run                 Lauf                запуск
# schedule            Zeitplan            розклад
# share               teilen              поділитися
# step                Schritt             крок
# tool, tool call     Werkzeug, Aufruf    інструмент, виклик
"""
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}")
TAG = re.compile(r"</?[a-z]+\b|=\"[^\"]*\"")


class Found(NamedTuple):
    """A text, or one and its plural, and the file it stands in."""

    text: str | tuple[str, ...]
    context: str | None
    path: str


def sources(domain: str) -> list[Path]:
    if domain == "djangojs":
        return sorted((TOP / "static/js").glob("*.js"))
    folders = {"agents": "*.py", "memoryweb": "*.py", "agents/jinja2": "*.html", "templates": "*"}
    found = [path for folder, kind in folders.items() for path in (TOP / folder).rglob(kind)]
    return sorted(path for path in found if path.suffix in (".py", ".html", ".txt"))


def texts_of(path: Path) -> Iterator[Found]:
    """The texts that are marked in a file."""
    name = path.relative_to(TOP).as_posix()
    source = path.read_text()
    if path.suffix == ".js":
        found = extract("javascript", BytesIO(source.encode()), keywords=KEYWORDS)
    elif name.startswith("agents/jinja2/"):
        options = {"trimmed": "true", "lstrip_blocks": "true", "silent": "false"}
        stream = BytesIO(source.encode())
        for _, _, text, _ in babel_extract(stream, tuple(KEYWORDS), (), options):
            if marked := one_or_more(text):
                yield Found(marked, None, name)
        return
    else:
        if path.suffix != ".py":  # as Python, whose lines begin at the margin
            lines = templatize(source, origin=name).splitlines()
            source = "\n".join(line.strip() for line in lines)
        found = extract("python", BytesIO(source.encode()), keywords=KEYWORDS)
    for _, text, _, context in found:
        yield Found(text, context, name)


def one_or_more(texts: str | tuple[str | None, ...] | None) -> str | tuple[str, ...]:
    """A text, or one and its plural, without the places of what is no text."""
    found = (texts,) if isinstance(texts, str) else tuple(text for text in texts or () if text)
    return found[0] if len(found) == 1 else found


def template_of(domain: str) -> Catalog:
    """All texts of a domain, without translations."""
    catalog = Catalog(fuzzy=False)
    for path in sources(domain):
        for text, context, name in texts_of(path):
            catalog.add(text, locations=[(name, 0)], context=context)
    return catalog


def po_path(language: str, domain: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / f"{domain}.po"


def read(language: str, domain: str) -> Catalog:
    path = po_path(language, domain)
    if not path.exists():
        return Catalog(locale=language, fuzzy=False)
    return read_po(BytesIO(path.read_bytes()), locale=language, domain=domain)


def of_allauth(language: str) -> Catalog:
    """The texts of allauth that are said otherwise here, as everything else addresses people."""
    path = OF_ALLAUTH / language / "LC_MESSAGES/django.po"
    return read_po(BytesIO(path.read_bytes()), locale=language)


def merged(language: str, domain: str) -> Catalog:
    """The catalog of a language, with the texts that the sources have now."""
    catalog, template = read(language, domain), template_of(domain)
    template.creation_date = catalog.creation_date
    catalog.update(template, no_fuzzy_matching=True)
    catalog.obsolete.clear()
    catalog.project, catalog.header_comment = "memoryweb", HEADER
    return catalog


def as_po(catalog: Catalog) -> bytes:
    out = BytesIO()
    write_po(out, catalog, width=100, sort_output=True, include_lineno=False, ignore_obsolete=True)
    return out.getvalue()


def as_mo(catalog: Catalog) -> bytes:
    out = BytesIO()
    write_mo(out, catalog)
    return out.getvalue()


def faults(catalog: Catalog) -> list[str]:
    """What keeps a language from being offered, a line each."""
    return [line for message in catalog if message.id for line in faults_of(message)]


def faults_of(message: Message) -> Iterator[str]:
    singular, *plurals = [message.id] if isinstance(message.id, str) else message.id
    found: Any = message.string
    strings: list[str] = [found] if isinstance(found, str) else list(found or [""])
    if not all(strings):
        yield f"missing: {singular!r}"
        return
    if message.fuzzy:
        yield f"fuzzy: {singular!r}"
    wanted = sorted(PLACEHOLDER.findall(plurals[0] if plurals else singular))
    tags = sorted(TAG.findall(singular))
    for at, string in enumerate(strings):
        # the form for one may say "one" in words
        kept = sorted(PLACEHOLDER.findall(string))
        if kept != wanted and not (plurals and at == 0 and set(kept) <= set(wanted)):
            yield f"other placeholders: {singular!r}: {string!r}"
        if sorted(TAG.findall(string)) != tags:
            yield f"other elements: {singular!r}: {string!r}"
        if '"' in TAG.sub("", string) and '"' not in TAG.sub("", singular):
            yield f"a quotation mark that may end an attribute: {singular!r}: {string!r}"


def script_of(language: str) -> str:
    """Django's catalog for scripts, with gettext, ngettext and interpolate."""
    from django.test import RequestFactory
    from django.utils import translation
    from django.views.i18n import JavaScriptCatalog

    with translation.override(language):
        view = JavaScriptCatalog.as_view(packages=["agents"])
        return cast("HttpResponse", view(RequestFactory().get("/"))).content.decode()


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
    django.setup()
    for language in LANGUAGES:
        for domain in ("django", "djangojs"):
            catalog, path = merged(language, domain), po_path(language, domain)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(as_po(catalog))
            path.with_suffix(".mo").write_bytes(as_mo(read(language, domain)))
            print(f"{path.relative_to(TOP)}: {len(catalog)} texts")
            print(*faults(catalog), sep="\n", file=sys.stderr)
        path = OF_ALLAUTH / language / "LC_MESSAGES/django.po"
        path.with_suffix(".mo").write_bytes(as_mo(of_allauth(language)))
    SCRIPTS.mkdir(exist_ok=True)
    for language in ("en", *LANGUAGES):
        (SCRIPTS / f"{language}.js").write_text(script_of(language))


if __name__ == "__main__":
    main()
