"""The Jinja2 environment of the folder `agents/jinja2/`: what a page and a socket both show.

These templates are compiled to Python, as some are drawn for each event. Pages are templates of
Django's; `{% fragment "agents/_run.html" %}` puts a fragment into one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.template import engines
from django.template.defaultfilters import capfirst, pluralize, truncatechars
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from jinja2 import Environment, FileSystemLoader

from agents.models.attached_file import without_notes
from agents.models.conversation_list import list_conversations
from agents.text.numbers import decimal, whole

from . import blocks, display

FILTERS = {
    "capfirst": capfirst,
    "change_lines": display.change_lines,
    "change_size": display.change_size,
    "editor": display.editor,
    "fault": display.fault,
    "hue": display.hue,
    "intcomma": whole,
    "decimal": decimal,
    "lines": display.lines,
    "markdown": display.markdown,
    "message_sent": display.message_sent,
    "pluralize": pluralize,
    "so_far": display.so_far,
    "translated": display.translated,
    "truncatechars": truncatechars,
    "shown_value": blocks.shown_value,
    "without_notes": without_notes,
}


def environment(**options: Any) -> Environment:
    """As `TEMPLATES` of the settings names it."""
    made = Environment(**options, lstrip_blocks=True)
    made.policies["ext.i18n.trimmed"] = True
    i18n: Any = made  # the extension adds its methods
    i18n.install_gettext_callables(gettext, ngettext, newstyle=True)
    made.filters.update(FILTERS)
    made.globals.update(term=display.term, url=url, when=display.when)
    made.globals.update(model_in_use=display.model_in_use, conversations_of=list_conversations)
    made.globals.update(tries_of=display.tries_of)
    return made


def compile_all() -> None:
    """Compile the templates at the start of a process: during its first messages that would take
    some tenths of a second from all who wait."""
    engine: Any = engines["jinja2"]
    icons = [name for name in engine.env.list_templates() if name.startswith("icons/")]
    for name in [*FileSystemLoader(engine.template_dirs[0]).list_templates(), *icons]:
        engine.env.get_template(name)


@lru_cache(maxsize=10_000)
def url(name: str, *args: Any) -> str:
    """The address of a view, kept, as a step's are drawn several times."""
    return reverse(name, args=args)
