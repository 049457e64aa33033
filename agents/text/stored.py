"""Sentences that are stored in English and shown in the language of the page.

A sentence with names or numbers in it is made of a template. Where it is shown, the template is
found again by the words around them:

    CALLING = stored("Calling %(tool)s")
    run.activity = CALLING % {"tool": name}
    translated(run.activity)
"""

from __future__ import annotations

import re
from functools import lru_cache

from django.utils.translation import get_language, gettext, ngettext

from .numbers import whole

# Placeholders for what may be another of these sentences.
NESTED = ("error", "words", "amount", "limit", "wanted", "left", "agents", "when")
LONGEST = 1_000  # characters of such a sentence: to match a longer one could take long
_PLACEHOLDER = re.compile(r"%\((\w+)\)s")
_patterns: dict[str, re.Pattern[str]] = {}
_plurals: dict[str, tuple[str, str]] = {}


def stored(template: str) -> str:
    """The same text, which `translated` knows from now on. Named `_` it marks it, too."""
    pattern, at, names = "", 0, set[str]()
    for found in _PLACEHOLDER.finditer(template):
        pattern += re.escape(template[at : found.start()].replace("%%", "%"))
        name, at = found[1], found.end()
        some = "[0-9][0-9,]*" if name == "count" else ".*?"
        pattern += f"(?P={name})" if name in names else f"(?P<{name}>{some})"
        names.add(name)
    if names:
        rest = template[at:].replace("%%", "%")
        _patterns[template] = re.compile(pattern + re.escape(rest), re.DOTALL)
    return template


def stored_plural(singular: str, plural: str) -> tuple[str, str]:
    """The same of a text with a number in it, `count`, and its plural; `ngettext` takes both."""
    for template in (stored(singular), stored(plural)):
        _plurals[template] = singular, plural
    return singular, plural


def translated(sentence: str) -> str:
    """What is stored in English, in the language of the page if it is a marked sentence, or several
    that stand on lines of their own."""
    if not sentence or get_language() in (None, "en"):
        return sentence
    if (words := gettext(sentence)) != sentence:
        return words
    template, values = _template_of(sentence)
    if not template:
        first, *others = sentence.splitlines()
        return "\n".join(map(translated, (first, *others))) if others else sentence
    shown = {name: translated(value) if name in NESTED else value for name, value in values}
    if template in _plurals:
        count = int(shown["count"].replace(",", ""))
        return ngettext(*_plurals[template], count) % (shown | {"count": whole(count)})
    return gettext(template) % shown


@lru_cache(maxsize=1000)
def _template_of(sentence: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The template that a sentence was made of, the one with most words of its own, and the values;
    "" where it was made of none."""
    if len(sentence) > LONGEST:
        return "", ()
    found = [(each, made) for each in _patterns if (made := _patterns[each].fullmatch(sentence))]
    template, made = max(found, key=lambda pair: len(pair[0]), default=("", None))
    return template, tuple(made.groupdict().items()) if made else ()
