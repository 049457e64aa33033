"""The admin's forms, as the operator's browser fills them in."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from django.test import Client
from django.urls import reverse

from agents.models import Agent

SOURCE = '''
def roll_dice(sides: int) -> str:
    """Roll dice <script>alert(1)</script>.

    Args:
        sides (int): How many sides they have.
    """
    return "4"
'''


class FormOfPage(HTMLParser):
    """What a browser would send of a page's form."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.fields: dict[str, Any] = {}
        self.ticked: dict[str, list[str]] = {}
        self.area = self.select = ""
        self.feed(html)
        self.fields |= self.ticked

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")
        if tag == "textarea":
            self.area, self.fields[name] = name, ""
        elif tag == "select":
            self.select = name
        elif tag == "option" and self.select and "selected" in given:
            self.fields[self.select] = given["value"]
        elif tag == "input" and name and given.get("type") not in ("submit", "radio"):
            if given.get("type") != "checkbox":
                self.fields[name] = given.get("value", "")
            elif "checked" in given:
                self.ticked.setdefault(name, []).append(given.get("value", "on"))

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self.fields[self.area] = self.fields[self.area].removeprefix("\n")
            self.area = ""

    def handle_data(self, data: str) -> None:
        if self.area:
            self.fields[self.area] += data


def address(row: Any, page: str = "change") -> str:
    return reverse(f"admin:agents_{row._meta.model_name}_{page}", args=[row.pk])


def opened(desk: Client, row: Any) -> dict[str, Any]:
    """The form of a row, as it lies before the operator."""
    return FormOfPage(desk.get(address(row)).content.decode()).fields


def saved(desk: Client, row: Any, form: dict[str, Any], **changes: str) -> Any:
    response = desk.post(address(row), {**form, **changes})
    row.refresh_from_db()
    return response


def kinds(agent: Agent) -> list[str]:
    return list(agent.events.order_by("seq").values_list("kind", flat=True))
