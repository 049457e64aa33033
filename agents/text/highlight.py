"""Code in colours.

Pygments' lexers are regular expressions, some of which take minutes over a text that was made for
it, and a match cannot be interrupted. So only languages are coloured whose single matches were
tried on such texts (`tests/slow/test_highlight.py`) at the length that is allowed here, and between
two matches the time is looked at. What is left of the code then has no colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from time import thread_time

from django.utils.html import escape
from pygments import format
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name
from pygments.token import Text, _TokenType

LONGEST = 20_000  # characters of all code in a text that get colours
SECONDS = 0.2  # of this thread's own time, for all code in a text

# The lexers, each with the names that a fence may give it. Those of Scala, OCaml, Matlab, INI
# files and consoles are too slow for some texts; those of HTTP and Postgres hand code on to any.
LANGUAGES = {
    name: lexer
    for lexer, names in {
        "bash": "bash sh shell zsh ksh",
        "c": "c h",
        "cpp": "cpp c++ cc hpp cxx",
        "csharp": "csharp c# cs",
        "css": "css",
        "dart": "dart",
        "diff": "diff udiff patch",
        "docker": "docker dockerfile",
        "go": "go golang",
        "haskell": "haskell hs",
        "html": "html htm",
        "java": "java",
        "javascript": "javascript js mjs cjs",
        "json": "json jsonc json5",
        "jsx": "jsx react",
        "kotlin": "kotlin kt",
        "lua": "lua",
        "make": "make makefile mf",
        "markdown": "markdown md",
        "php": "php",
        "python": "python py python3 py3",
        "ruby": "ruby rb",
        "rust": "rust rs",
        "sql": "sql sqlite sqlite3 postgresql postgres psql",
        "swift": "swift",
        "toml": "toml",
        "tsx": "tsx",
        "typescript": "typescript ts",
        "xml": "xml svg",
        "yaml": "yaml yml",
    }.items()
    for name in names.split()
}

_formatter = HtmlFormatter(nowrap=True)


class Highlighter:
    """Colours the code of one text."""

    def __init__(self) -> None:
        self.characters, self.seconds = LONGEST, SECONDS

    def html(self, code: str, language: str) -> str:
        """Code as HTML: with colours if its language is known and not too much came before."""
        lexer = lexer_of(language)
        if lexer is None or len(code) > self.characters or self.seconds <= 0:
            return escape(code)
        self.characters -= len(code)
        began = thread_time()
        html = str(format(self.tokens(lexer, code, began + self.seconds), _formatter))
        self.seconds -= thread_time() - began
        return html

    def tokens(self, lexer: Lexer, code: str, end: float) -> Iterator[tuple[_TokenType, str]]:
        """The tokens of code; what time has not sufficed for as one without colour."""
        code = code.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
        place = 0
        for kind, text in lexer.get_tokens(code):
            yield kind, text
            place += len(text)
            if thread_time() > end:
                yield Text, code[place:]
                return


def lexer_of(language: str) -> Lexer | None:
    """The lexer of a language by the name that a fence gives it."""
    name = LANGUAGES.get(language.lower())
    if name is None:
        return None
    # handlecodeblocks: that of Markdown would colour code within it with any lexer there is
    return _class_of(name)(stripnl=False, ensurenl=False, handlecodeblocks=False)


@cache
def _class_of(lexer: str) -> type[Lexer]:
    return find_lexer_class_by_name(lexer)
