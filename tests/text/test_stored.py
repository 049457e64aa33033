"""Sentences that are stored in English, shown in another language."""

from __future__ import annotations

import pytest
from django.utils import translation

from agents.text import stored
from agents.text.stored import translated

GERMAN = {
    "Thinking": "Denkt nach",
    "%(name)s sings %(count)s songs": "%(count)s Lieder singt %(name)s",
    "%(error)s Trying once more": "%(error)s Noch ein Versuch",
    "%(name)s sings": "%(name)s singt",
    "%(what)s and %(what)s": "zweimal %(what)s",
    "%(name)s has used %(limit)s": "%(name)s hat %(limit)s verbraucht",
}


@pytest.fixture(autouse=True)
def german(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "_patterns", {})
    for template in GERMAN:
        stored.stored(template)
    stored.stored_plural("%(count)s token", "%(count)s tokens")
    stored._template_of.cache_clear()
    plurals = {1: "%(count)s Token"}
    monkeypatch.setattr(stored, "ngettext", lambda one, many, n: plurals.get(n, "%(count)s Tokens"))
    monkeypatch.setattr(stored, "gettext", lambda text: GERMAN.get(text, text))


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("", ""),
        ("Thinking", "Denkt nach"),
        (", tokens", ", tokens"),  # no number is there
        ("Ada sings", "Ada singt"),
        ("Ada sings 3 songs", "3 Lieder singt Ada"),
        ("Ada\n(100 %) sings 3 songs", "3 Lieder singt Ada\n(100 %)"),
        ("Ada sings Trying once more", "Ada singt Noch ein Versuch"),
        ("100 % of it Trying once more", "100 % of it Noch ein Versuch"),
        ("a and a", "zweimal a"),
        ("a and b", "a and b"),
        ("Ada has used 1 token", "Ada hat 1 Token verbraucht"),
        ("Ada has used 12,000 tokens", "Ada hat 12.000 Tokens verbraucht"),
        ("Ada has used many tokens", "Ada hat many tokens verbraucht"),
        ("nothing that is known", "nothing that is known"),
    ],
)
def test_it_is_known_by_the_words_around_its_values(sentence: str, shown: str) -> None:
    with translation.override("de"):
        assert translated(sentence) == shown
    assert translated(sentence) == sentence
