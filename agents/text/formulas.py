"""Formulas in what a model wrote: `$…$`, `$$…$$`, `\\(…\\)` and `\\[…\\]`, as MathML.

They are taken out before Markdown is parsed, which would take their `_` and `*` for emphasis, and
put in again afterwards. Sums of money are no formulas, and what cannot be read stays as written.
"""

from __future__ import annotations

import re
from html import escape
from urllib.parse import quote

from math_core import LatexError, LatexToMathML

LONGEST = 2_000  # characters of a formula
MOST = 20_000  # characters of all formulas of a text
LONGEST_MATHML = 100_000  # characters that a text's formulas may become
DEEPEST = 60  # elements in each other

# Characters that no text holds stand for a formula: one on each line that it has.
BEGIN, END, FURTHER = "\ufdd1", "\ufdd2", "\ufdd3"
PLACE = re.compile(rf"{BEGIN}(\d+){END}(?:\n[ \t>]*{FURTHER})*")
PLACE_IN_ADDRESS = re.compile(r"%EF%B7%91(\d+)%EF%B7%92")
IN_TAG_OR_CODE = re.compile(rf"<[^>]*[{BEGIN}%][^>]*>|(?<=<code>)[^<]+|(?<=\">)[^<]+(?=</code>)")

# Each alternative ends at the first character that could begin another, so that looking through a
# text takes time in proportion to it; code in a line is looked for within so many characters.
PARTS = re.compile(
    r"""
    (?m:^)[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+(?P<fence>`{3,}+|~{3,}+)[^\n`]*+\n
        (?:[\s\S]*?\n)??(?:[ \t>]*+(?P=fence)[`~]*+[ \t]*+(?m:$)|\Z)
    | (?<!`)(?P<ticks>`++)(?:(?!\n[ \t]*+\n)[\s\S]){1,1000}?(?<!`)(?P=ticks)(?!`)
    | \\\((?P<inline>(?:[^\\]|\\[^()\[\]])++)\\\)
    | \\\[(?P<display>(?:[^\\]|\\[^()\[\]])++)\\\]
    | (?P<opened>\\\[|\[\^[^\]\n]++\]:)
    | \\[\s\S]
    | \$\$(?P<block>(?:[^$\\]|\\[\s\S])++)\$\$
    | (?P<unclosed>\$\$)
    | (?<![\w$])\$(?P<dollars>(?![\s$])(?:[^$\\`\n]|\\[^\n])++)(?<!\s)\$(?![\w$])
    """,
    re.VERBOSE,
)
LINE_BEGINS = re.compile(r"(?:^|\n)[ \t>]*+$")
WORD = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{3,}(?=\s)")
SIGNS = re.compile(r"[\\^_={}]")
NESTING = re.compile(r"<(/?)m[^>]*?(/?)>")
ALIGNED = re.compile(r' style="text-align: (left|right);[^"]*"')

_converter = LatexToMathML(fancy_error=False, max_expansions=100)


class Formulas:
    """The formulas of one text, which is kept without them in `text`.

    `open_at` is where something begins whose end may still come: the first formula on lines of its
    own, or footnote, that is not closed.
    """

    def __init__(self, text: str) -> None:
        self.sources: list[str] = []
        self.mathml: list[str] = []
        self.open_at: int | None = None
        self._left, self._mathml_left = MOST, LONGEST_MATHML
        looked_at = "$" in text or "\\" in text or "[^" in text
        self.text = PARTS.sub(self._take, text) if looked_at else text

    def _take(self, found: re.Match[str]) -> str:
        kind, source = found.lastgroup, found[0]
        if kind in ("opened", "unclosed") and self.open_at is None:
            before = found.string[max(0, found.start() - 20) : found.start()]
            self.open_at = found.start() if LINE_BEGINS.search(before) else None
        if kind not in ("inline", "display", "block", "dollars"):
            return source
        latex = found[kind]
        if len(latex) > min(LONGEST, self._left) or re.search(r"\n[ \t]*\n", latex):
            return source
        if kind == "dollars" and WORD.search(latex) and not SIGNS.search(latex):
            return source  # "$100 and you have 50$"
        self._left -= len(latex)
        mathml = mathml_of(latex.strip(), display=kind in ("display", "block"))
        if mathml is None or len(mathml) > self._mathml_left:
            return source
        self._mathml_left -= len(mathml)
        self.sources.append(source)
        self.mathml.append(mathml)
        further = re.sub(
            r"(\n[ \t]*)[^\n]*", rf"\1{FURTHER}", source.removeprefix(source.partition("\n")[0])
        )
        return f"{BEGIN}{len(self.sources) - 1}{END}{further}"

    def put_in(self, html: str) -> str:
        """The HTML that Markdown became, with the formulas; in code and addresses as written."""
        if not self.sources:
            return html
        html = IN_TAG_OR_CODE.sub(lambda found: self._as_written(found[0]), html)
        return PLACE.sub(lambda found: self.mathml[int(found[1])], html)

    def _as_written(self, part: str) -> str:
        part = PLACE.sub(lambda found: escape(self.sources[int(found[1])]), part)
        return PLACE_IN_ADDRESS.sub(lambda found: quote(self.sources[int(found[1])]), part)


def mathml_of(latex: str, display: bool) -> str | None:
    """A formula as MathML; None if it cannot be read."""
    try:
        mathml = _converter.convert_with_local_state(latex, displaystyle=display)
    except LatexError:
        return None
    depth = 0
    for end, alone in NESTING.findall(mathml):
        depth += 0 if alone else -1 if end else 1
        if depth > DEEPEST:
            return None
    return ALIGNED.sub(r' class="to-\1"', mathml)
