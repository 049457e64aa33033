"""The glossary: one list, which the document and every page take their words from."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

from agents.text.glossary import GLOSSARY, as_markdown

HERE = Path(settings.BASE_DIR)
USED = re.compile(r"""(?:% (?:term|explained) |\bterm\()["']([^"']+)["']""")


def test_the_document_is_made_from_the_list() -> None:
    assert (HERE / "docs/glossary.md").read_text() == as_markdown()


def test_the_words_are_in_order_and_the_first_visitor_s_are_among_them() -> None:
    assert list(GLOSSARY) == sorted(GLOSSARY, key=str.lower)
    assert {"memory class", "attach", "passage", "heartbeat", "core memory", "run"} <= set(GLOSSARY)


def test_each_term_of_a_page_is_in_the_list() -> None:
    files = [*(HERE / "templates").rglob("*.html"), *(HERE / "agents/jinja2").rglob("*.html")]
    used = {name for each in files for name in USED.findall(each.read_text())}
    assert used
    assert used <= set(GLOSSARY)
