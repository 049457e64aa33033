"""Pages, as tests ask for and read them."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from django.urls import reverse


def at(name: str, *ids: Any) -> str:
    return reverse(name, args=[getattr(each, "pk", each) for each in ids])


def shown(response: Any, status: int = 200) -> str:
    """A page's words, without tags and white space."""
    assert response.status_code == status, response.content
    text = re.sub(r"<script.*?</script>|<[^>]+>", " ", response.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+([,.;:])", r"\1", re.sub(r"\s+", " ", unescape(text)))
