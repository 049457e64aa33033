"""The Jinja2 environment of the folder `agents/jinja2/`: what a page and a socket both show.

These templates are compiled to Python, as some are drawn for each event. Pages are templates of
Django's; `{% fragment "agents/_run.html" %}` puts a fragment into one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.template.defaultfilters import capfirst, pluralize, truncatechars
from django.urls import reverse
from jinja2 import Environment

from . import blocks, display

FILTERS = {
    "capfirst": capfirst,
    "change_lines": display.change_lines,
    "change_size": display.change_size,
    "editor": display.editor,
    "fault": display.fault,
    "hue": display.hue,
    "intcomma": "{:,}".format,
    "lines": display.lines,
    "markdown": display.markdown,
    "message_sent": display.message_sent,
    "pluralize": pluralize,
    "truncatechars": truncatechars,
    "value_html": blocks.value_html,
}


def environment(**options: Any) -> Environment:
    """As `TEMPLATES` of the settings names it."""
    made = Environment(**options)
    made.filters.update(FILTERS)
    made.globals.update(url=url, when=display.when)
    return made


@lru_cache(maxsize=10_000)
def url(name: str, *args: Any) -> str:
    """The address of a view, kept, as a step's are drawn several times."""
    return reverse(name, args=args)
