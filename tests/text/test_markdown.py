"""What a model wrote becomes HTML: laid out well, and in bounded work, whatever it is."""

from __future__ import annotations

import json
import re
from html import unescape
from itertools import count

import pytest
from pygments.token import Text

from agents.models.message import ToolCall
from agents.text import highlight
from agents.text.highlight import LANGUAGES, Highlighter
from agents.text.json import LONGEST, pretty, pretty_value
from agents.text.markdown import render
from tests.support.text_shapes import CODE, SHAPES
from tests.support.work import calls_of, killed_after

WORDS = 'Say <b> & </b>, a <div>, `<i>`, "\\<u>" and \\\\<u>.'


def words_of(html: str) -> str:
    """The text of some HTML."""
    return unescape(re.sub(r"<[^>]*>", "", html))


# -- what is laid out ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("*a* **b** ~~c~~", "<p><em>a</em> <strong>b</strong> <del>c</del></p>\n"),
        ("~5 or ~6", "<p>~5 or ~6</p>\n"),
        ("see main.py", "<p>see main.py</p>\n"),
        ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>\n'),
        ("<div>\nx\n</div>", "<p>&lt;div&gt;\nx\n&lt;/div&gt;</p>\n"),
        ("```unknown\n<x>\n```", '<pre><code class="language-unknown">&lt;x&gt;\n</code></pre>\n'),
        ("    a < b", "<pre><code>a &lt; b\n</code></pre>\n"),
        ("a\ud800b\ufdd0", "<p>a?b\ufffd</p>\n"),
    ],
)
def test_markdown_is_laid_out(text: str, html: str) -> None:
    assert str(render(text)) == html


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
