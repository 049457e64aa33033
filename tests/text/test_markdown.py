"""What a model wrote becomes HTML: laid out well, and in bounded work, whatever it is."""

from __future__ import annotations

import json
import re
from html import unescape
from itertools import count

import pytest
from django.utils.translation import override
from pygments.token import Text

from agents.models.message import ToolCall
from agents.text import highlight, markdown
from agents.text.highlight import LANGUAGES, Highlighter
from agents.text.json import LONGEST, pretty, pretty_value
from agents.text.markdown import render
from tests.support.text_shapes import CODE, SHAPES
from tests.support.work import calls_of, killed_after

WORDS = 'Say <b> & </b>, a <div>, `<i>`, "\\<u>" and \\\\<u>.'


ANSWER = """\
### Short answer

**Merge sort** takes \\(O(n \\log n)\\), as $T(n) = 2T(n/2) + n$; it costs $10 or 10 USD.[^1]

| Name | Worst case | Time |
| :--- | :---: | ---: |
| merge | $n \\log n$ | 6.5 |

1. Split:
   ```python
   def merge(a, b): return "$a" + "$b"
   ```
2. Then sum:

   $$
   \\begin{aligned} a &= \\sum_{i=0}^n x_i \\\\ &= 1 \\end{aligned}
   $$
3. Finish

- [x] done
- [ ] O(n log n) checked

[^1]: Source: Knuth
"""


def words_of(html: str) -> str:
    """The text of some HTML."""
    return unescape(re.sub(r"<[^>]*>", "", html))


# -- what is laid out ------------------------------------------------------------------------------


COPY = '<button type="button" class="copy-code">Copy</button></div>'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("*a* **b** ~~c~~", "<p><em>a</em> <strong>b</strong> <del>c</del></p>\n"),
        ("~5 or ~6", "<p>~5 or ~6</p>\n"),
        ("see main.py", "<p>see main.py</p>\n"),
        ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>\n'),
        ("<div>\nx\n</div>", "<p>&lt;div&gt;\nx\n&lt;/div&gt;</p>\n"),
        (
            "```unknown\n<x>\n```",
            f'<div class="code"><div class="code-head"><span>unknown</span>{COPY}'
            '<pre><code class="language-unknown">&lt;x&gt;\n</code></pre></div>\n',
        ),
        (
            "    a < b",
            f'<div class="code"><div class="code-head">{COPY}'
            "<pre><code>a &lt; b\n</code></pre></div>\n",
        ),
        ("a\ud800b\ufdd0", "<p>a?b\ufffd</p>\n"),
        (
            "|a|b|c|\n|:-|-:|:-:|\n|1|2|3|",
            '<div class="wide"><table>\n<thead>\n<tr>\n<th class="to-left">a</th>\n'
            '<th class="to-right">b</th>\n<th class="to-center">c</th>\n</tr>\n</thead>\n'
            '<tbody>\n<tr>\n<td class="to-left">1</td>\n<td class="to-right">2</td>\n'
            '<td class="to-center">3</td>\n</tr>\n</tbody>\n</table></div>\n',
        ),
        (
            "- [ ] a\n- [x] b",
            '<ul>\n<li class="task"><span role="img" aria-label="To do" class="box"></span> a</li>'
            '\n<li class="task"><span role="img" aria-label="Done" class="box done"></span> b'
            "</li>\n</ul>\n",
        ),
    ],
)
def test_markdown_is_laid_out(text: str, html: str) -> None:
    assert str(render(text)).replace(' dir="auto"', "") == html


def test_each_part_is_written_in_the_direction_of_its_words() -> None:
    html = str(render("שלום\n\n# a\n\n- b\n\n|c|\n|-|\n|d|"))
    for part in ("<p", "<h1", "<li", "<th", "<td"):
        assert f'{part} dir="auto"' in html


def test_footnotes_of_two_texts_have_names_of_their_own() -> None:
    one, two = (str(render(f"{word}[^1]\n\n[^1]: {word} more\n")) for word in ("a", "b"))
    names = [set(re.findall(r'id="([^"]+)"', html)) for html in (one, two)]
    links = set(re.findall(r'href="#([^"]+)"', one))
    assert len(names[0]) == 2
    assert names[0] == links
    assert not names[0] & names[1]
    assert '<section class="footnotes">' in one


def test_an_answer_as_models_write_them_loses_no_word() -> None:
    html = str(render(ANSWER))
    for mark in ("**", "###", "| ---", "```", "$$", "\\(", "[^1]", "- [x]"):
        assert mark not in words_of(html), mark
    for word in ("Short answer", "6.5", "O(n log n)", "def merge", "10 USD", "Source: Knuth"):
        assert word in words_of(html), word
    assert html.count("<math") == 4
    assert html.count("<li") == 6


# -- formulas --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "mathml"),
    [
        ("$x_1*2*3$", "<math><msub><mi>x</mi><mn>1</mn></msub><mo"),
        ("a \\(x\\) b", "<p>a <math><mi>x</mi></math> b</p>"),
        ("$$\nx\n- y\n$$", '<p><math display="block"><mi>x</mi><mo'),
        ("\\[\nx\n= y\n\\]", '<p><math display="block"><mi>x</mi><mo>=</mo>'),
        ("- a:\n\n  $$\n  x\n  $$\n", '<math display="block"><mi>x</mi></math>'),
        ("**$x$**", "<strong><math><mi>x</mi></math></strong>"),
        ("$a<b$", "<math><mi>a</mi><mo>&lt;</mo><mi>b</mi></math>"),
        ("|$x$|\n|-|", "<math><mi>x</mi></math></th>"),
    ],
)
def test_a_formula_is_mathml(text: str, mathml: str) -> None:
    assert mathml in str(render(text)).replace(' dir="auto"', "")


@pytest.mark.parametrize(
    "text",
    [
        "$5 and $10, or $5-$10",
        "I have $100 and you have 50$.",
        "`$x$` and ``a $y$``",
        "```\n$x$\n```",
        "    $x$",
        "$HOME/$USER",
        "$a",
        "$\\nonsense{x}$",
        "$\\href{javascript:alert(1)}{x}$",
        "$" + "{" * 900 + "$",
        "$" + "\\sqrt{" * 200 + "x" + "}" * 200 + "$",
        "$" + "a" * 3000 + "$",
    ],
)
def test_what_is_no_formula_stays_as_it_is_written(text: str) -> None:
    html = str(render(text))
    assert "<math" not in html
    written = words_of(html).removeprefix("Copy")
    assert written.strip() == text.replace("`", "").strip()


def test_formulas_hold_nothing_but_mathml() -> None:
    html = str(render(r"$\text{<img src=x onerror=alert(1)>}$ $\color{red}{x}$ [a](http://b/$c$)"))
    assert "<img" not in html
    assert "style=" not in html
    assert 'href="http://b/%24c%24"' in html


def test_a_tag_is_shown_as_the_text_it_is() -> None:
    assert words_of(render(WORDS)).strip() == 'Say <b> & </b>, a <div>, <i>, "<u>" and \\<u>.'


def test_an_image_is_linked_to_and_not_fetched() -> None:
    html = str(render('![a "cat"](https://a.example/cat.png "t")'))
    assert "<img" not in html
    assert '!<a href="https://a.example/cat.png"' in html
    assert 'a "cat"</a>' in unescape(html)


def test_links_are_made_of_addresses_only() -> None:
    html = str(render("https://a.example/?a=1&b=2 www.b.example <me@c.example> d.com [x](y<z)"))
    assert re.findall(r'href="([^"]*)"', html) == [
        "https://a.example/?a=1&amp;b=2",
        "http://www.b.example",
        "mailto:me@c.example",
        "y%3Cz",
    ]


# -- what is not -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a " * 60_000, "it has 120,000 characters; at most 100,000 are formatted"),
        ("> " * 200 + "x", "it is nested too deeply"),
        ("- a\n" + "\n".join("  " * n + "- a" for n in range(1, 200)), "it is nested too deeply"),
        (SHAPES["a wide table"](20_000), "its layout would be many times as long"),
    ],
)
def test_what_would_be_too_much_is_shown_as_it_was_written_and_says_so(text: str, why: str) -> None:
    html = str(render(text))
    assert f"This text is shown as it was written: {why}." in html
    assert words_of(html).endswith(f"\n{text}")


@pytest.mark.slow
def test_no_text_takes_long_to_lay_out() -> None:
    """All shapes at the greatest size, in the time that one took alone: 20 s and more."""
    killed_after(
        30,
        "from agents.text.markdown import LONGEST, render",
        "from tests.support.text_shapes import SHAPES",
        "for shape in SHAPES.values(): render(shape(LONGEST)[:LONGEST])",
    )


def test_json_that_grows_by_its_nesting_is_left_as_it_is() -> None:
    nested = "[" + ",".join(["[" * 900 + "]" * 900] * 50) + "]"
    assert ToolCall("1", "tool", nested).pretty() == nested
    calls_of(pretty, nested + " ", most=1_000_000)
    assert len(pretty_value(json.loads(nested))) < 2 * len(nested)
    long = json.dumps(["a"] * LONGEST)
    assert pretty(long) == long
    assert pretty('{"a": [1]}') == '{\n  "a": [\n    1\n  ]\n}'


# -- code ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(LANGUAGES.values())))
@pytest.mark.parametrize("shape", ["marks by chance", "words by chance", "quotes by chance"])
def test_code_loses_nothing_by_its_colours(name: str, shape: str) -> None:
    code = f"{CODE[shape](300)}\n"
    assert unescape(re.sub(r"</?span[^>]*>", "", Highlighter().html(code, name))) == code


def test_colours_end_when_their_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(step=highlight.SECONDS / 10)
    monkeypatch.setattr(highlight, "thread_time", lambda: next(clock))
    code = "x = 1\n" * 50
    highlighter = Highlighter()
    html = highlighter.html(code, "python")
    assert words_of(html) == code
    assert html.count("<span") < 20
    assert "<span" not in highlighter.html("x = 1", "python")


def test_long_code_and_that_of_other_languages_has_no_colours() -> None:
    assert "<span" in Highlighter().html("x = 1\n", "py")
    assert "<span" not in Highlighter().html("x = 1\n" * 4000, "py")
    assert "<span" not in Highlighter().html("val x = 1\n", "scala")
    code = Highlighter()
    assert "<span" in code.html("x = 1\n" * 3000, "py")
    assert "<span" not in code.html("x = 1\n" * 3000, "py")


def test_the_rest_of_code_without_colours_is_one_piece() -> None:
    lexer = highlight.lexer_of("python")
    assert lexer
    *_, (kind, rest) = Highlighter().tokens(lexer, "\ufeffa\r\nb\rc", 0)
    assert (kind, rest) == (Text, "\nb\nc")


@pytest.mark.slow
def test_java_that_took_a_quarter_of_a_minute_takes_a_moment() -> None:
    killed_after(
        10,
        "from agents.text.markdown import render",
        "render('```java\\n' + 'a a a\\n' * 3300 + '```')",
        "render('```java\\n' + 'a ' * 9900 + '\\n```')",
        "render('```scala\\n\\'' + chr(92) * 9900 + '\\n```')",
    )


def test_what_the_page_says_in_a_text_is_kept_for_each_language() -> None:
    text = "a" * (markdown.LONGEST + 1)
    assert "100,001" in render(text)
    with override("de"):
        assert "100.001" in render(text)
    assert "100,001" in render(text)
