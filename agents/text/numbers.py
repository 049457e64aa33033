"""Numbers as the language of the page writes them."""

from __future__ import annotations

from django.utils.formats import number_format
from django.utils.translation import get_language


def whole(number: int) -> str:
    """A whole number with the language's marks between thousands."""
    if get_language() in (None, "en"):
        return f"{number:,}"
    return number_format(number, use_l10n=True, force_grouping=True)


def decimal(number: float, places: int = 1) -> str:
    """A number with so many places after the language's mark for them."""
    if get_language() in (None, "en"):
        return f"{number:,.{places}f}"
    return number_format(number, places, use_l10n=True, force_grouping=True)
