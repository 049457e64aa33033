"""Every language that code is coloured in, over texts that are hard for regular expressions."""

from __future__ import annotations

import pytest

from agents.text.highlight import LANGUAGES
from tests.support.work import killed_after

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("lexer", sorted(set(LANGUAGES.values())))
def test_no_single_match_holds_the_server_up(lexer: str) -> None:
    """All shapes at the greatest size. Between two matches the time is looked at, so that only a
    match that cannot be interrupted takes longer than the seconds that this takes. What a shape
    repeats has come several times in the milliseconds that each is given."""
    killed_after(
        15,
        "from agents.text import highlight",
        "from tests.support.text_shapes import CODE",
        "highlight.SECONDS = 0.004",
        "most = highlight.LONGEST",
        f"for shape in CODE.values(): highlight.Highlighter().html(shape(most)[:most], {lexer!r})",
    )
