"""Names of rows and of their fields, as the admin and the audit show them, to be translated.

Django makes the name of a field or of a model of how it is written in the code, where none is given
there. Those stand here, and are taken in the language of the page.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy, gettext_noop, pgettext_lazy

ROWS = (
    (gettext_noop("agent"), gettext_noop("agents")),
    (gettext_noop("agent share"), gettext_noop("agent shares")),
    (gettext_noop("announcement"), gettext_noop("announcements")),
    (gettext_noop("approval"), gettext_noop("approvals")),
    (gettext_noop("attached file"), gettext_noop("attached files")),
    (gettext_noop("attachment"), gettext_noop("attachments")),
    (gettext_noop("audit entry"), gettext_noop("audit entries")),
    (gettext_noop("block"), gettext_noop("blocks")),
    (gettext_noop("block edit"), gettext_noop("block edits")),
    (gettext_noop("block share"), gettext_noop("block shares")),
    (gettext_noop("compaction"), gettext_noop("compactions")),
    (gettext_noop("conversation"), gettext_noop("conversations")),
    (gettext_noop("endpoint facts"), gettext_noop("endpoint facts")),
    (gettext_noop("endpoint model"), gettext_noop("endpoint models")),
    (gettext_noop("event"), gettext_noop("events")),
    (gettext_noop("history import"), gettext_noop("history imports")),
    (gettext_noop("identity"), gettext_noop("identities")),
    (gettext_noop("image"), gettext_noop("images")),
    (gettext_noop("invitation"), gettext_noop("invitations")),
    (gettext_noop("message"), gettext_noop("messages")),
    (gettext_noop("message vector"), gettext_noop("message vectors")),
    (gettext_noop("model endpoint"), gettext_noop("model endpoints")),
    (gettext_noop("passage"), gettext_noop("passages")),
    (gettext_noop("passage vector"), gettext_noop("passage vectors")),
    (gettext_noop("personal key"), gettext_noop("personal keys")),
    (gettext_noop("quota"), gettext_noop("quotas")),
    (gettext_noop("request text"), gettext_noop("request texts")),
    (gettext_noop("run"), gettext_noop("runs")),
    (gettext_noop("schedule"), gettext_noop("schedules")),
    (gettext_noop("step"), gettext_noop("steps")),
    (gettext_noop("token"), gettext_noop("tokens")),
    (gettext_noop("tool"), gettext_noop("tools")),
    (gettext_noop("usage"), gettext_noop("usage")),
)
FIELDS = (
    gettext_noop("action"),
    gettext_noop("agent"),
    gettext_noop("agent type"),
    gettext_noop("archived at"),
    gettext_noop("arguments"),
    gettext_noop("ask before write"),
    gettext_noop("base url"),
    gettext_noop("block"),
    gettext_noop("bytes per token"),
    gettext_noop("callback url"),
    gettext_noop("can write"),
    gettext_noop("compaction settings"),
    gettext_noop("completion price"),
    gettext_noop("completion tokens"),
    gettext_noop("context bytes"),
    gettext_noop("context tokens"),
    gettext_noop("context window"),
    gettext_noop("conversation"),
    gettext_noop("cost"),
    gettext_noop("created at"),
    gettext_noop("cron"),
    gettext_noop("data"),
    gettext_noop("day"),
    gettext_noop("decided at"),
    gettext_noop("decided by"),
    gettext_noop("default model"),
    gettext_noop("default requires approval"),
    gettext_noop("deleted at"),
    gettext_noop("description"),
    gettext_noop("dialect"),
    gettext_noop("duration ms"),
    gettext_noop("editor kind"),
    gettext_noop("email"),
    gettext_noop("embedding"),
    gettext_noop("enabled"),
    gettext_noop("endpoint"),
    gettext_noop("ends at"),
    gettext_noop("error"),
    gettext_noop("expires at"),
    gettext_noop("feedback"),
    gettext_noop("finished at"),
    gettext_noop("given description"),
    gettext_noop("given schema"),
    gettext_noop("group"),
    gettext_noop("groups"),
    gettext_noop("id"),
    gettext_noop("identifier key"),
    gettext_noop("identity type"),
    gettext_noop("is error"),
    gettext_noop("kind"),
    gettext_noop("label"),
    gettext_noop("last message at"),
    gettext_noop("last run"),
    gettext_noop("made by"),
    gettext_noop("max steps"),
    gettext_noop("megabytes"),
    gettext_noop("memory class"),
    gettext_noop("message count"),
    gettext_noop("messages a minute"),
    gettext_noop("metadata"),
    gettext_noop("model"),
    gettext_noop("model settings"),
    gettext_noop("most steps"),
    gettext_noop("name"),
    gettext_noop("next at"),
    gettext_noop("options"),
    gettext_noop("outcome"),
    gettext_noop("owner"),
    gettext_noop("passage count"),
    gettext_noop("prompt price"),
    gettext_noop("prompt template"),
    gettext_noop("prompt tokens"),
    gettext_noop("properties"),
    gettext_noop("reason"),
    gettext_noop("reasoning"),
    gettext_noop("recalled at"),
    gettext_noop("recalled count"),
    gettext_noop("reflect every"),
    gettext_noop("request sha256"),
    gettext_noop("return char limit"),
    gettext_noop("role"),
    gettext_noop("runs at once"),
    gettext_noop("scheduled at"),
    gettext_noop("schema"),
    gettext_noop("seconds"),
    gettext_noop("seen at"),
    gettext_noop("sender id"),
    gettext_noop("seq"),
    gettext_noop("server words"),
    gettext_noop("sha256"),
    gettext_noop("started at"),
    gettext_noop("starts at"),
    gettext_noop("status"),
    gettext_noop("stdout"),
    gettext_noop("stop requested"),
    gettext_noop("summary"),
    gettext_noop("system prompt"),
    gettext_noop("tags"),
    gettext_noop("text"),
    gettext_noop("timezone"),
    gettext_noop("title"),
    gettext_noop("tokens a day"),
    gettext_noop("tokens a month"),
    gettext_noop("tokens after"),
    gettext_noop("tokens before"),
    gettext_noop("tool call id"),
    gettext_noop("tool calls"),
    gettext_noop("tool rules"),
    gettext_noop("tried at"),
    gettext_noop("updated at"),
    gettext_noop("user"),
    gettext_noop("users"),
    gettext_noop("value"),
    gettext_noop("window"),
    gettext_noop("written by"),
)
# Those that say too little by themselves, or mean something else elsewhere.
COLUMNS = {
    "activity": pgettext_lazy("column", "activity"),
    "address": pgettext_lazy("column", "address"),
    "after": pgettext_lazy("column", "after"),
    "agents": pgettext_lazy("column", "agents"),
    "at": pgettext_lazy("column", "at"),
    "attempt": pgettext_lazy("column", "attempt"),
    "blocks": pgettext_lazy("column", "blocks"),
    "calls": pgettext_lazy("column", "calls"),
    "changes": pgettext_lazy("column", "changes"),
    "content": pgettext_lazy("column", "content"),
    "draft": pgettext_lazy("column", "draft"),
    "everyone": pgettext_lazy("column", "everyone"),
    "first": pgettext_lazy("column", "first"),
    "hidden": pgettext_lazy("column", "hidden"),
    "internal": pgettext_lazy("column", "internal"),
    "key": pgettext_lazy("column", "key"),
    "last": pgettext_lazy("column", "last"),
    "level": pgettext_lazy("column", "level"),
    "limit": pgettext_lazy("column", "limit"),
    "messages": pgettext_lazy("column", "messages"),
    "number": pgettext_lazy("column", "number"),
    "read only": pgettext_lazy("column", "read only"),
    "request": pgettext_lazy("column", "request"),
    "returned": pgettext_lazy("column", "returned"),
    "run": pgettext_lazy("column", "run"),
    "source": pgettext_lazy("column", "source"),
    "step": pgettext_lazy("column", "step"),
    "tools": pgettext_lazy("column", "tools"),
    "undoes": pgettext_lazy("column", "undoes"),
    "version": pgettext_lazy("column", "version"),
    "why": pgettext_lazy("column", "why"),
}


def translate(kinds: Iterable[type[models.Model]]) -> None:
    """Give models and their fields names that follow the language, where the code gives none.

    Migrations know nothing of that: they have what the code gives.
    """
    plurals = dict(ROWS)
    for kind in kinds:
        meta = kind._meta
        given = meta.original_attrs
        name = "" if "verbose_name" in given else meta.verbose_name
        if name in plurals:
            meta.verbose_name = gettext_lazy(name)
            if "verbose_name_plural" not in given:
                meta.verbose_name_plural = gettext_lazy(plurals[name])
        for field in (*meta.local_fields, *meta.local_many_to_many):
            if field._verbose_name is None:  # type: ignore[attr-defined]
                field.verbose_name = name_of(str(field.verbose_name))


def name_of(words: str) -> Any:
    """The name of a field; one that nobody is shown stays as it is."""
    return gettext_lazy(words) if words in FIELDS else COLUMNS.get(words, words)
