"""Texts that are hard to draw: known to take parsers of Markdown quadratic time, or worse.

Each is a function of a size in characters. Most are after the pathological cases that authors of
parsers collect (deep nesting, delimiters that never close, many references).
"""

from __future__ import annotations

import random
from collections.abc import Callable

Shape = Callable[[int], str]


def repeated(*unit: str) -> Shape:
    """A text of one unit again and again, or of a half of each of two."""

    def make(size: int) -> str:
        share = size // len(unit)
        return "".join((each * (share // len(each) + 1))[:share] for each in unit)

    return make


def by_chance(alphabet: str) -> Shape:
    return lambda size: "".join(random.Random(len(alphabet)).choices(alphabet, k=size))


def numbered(line: str) -> Shape:
    """Lines that each hold their number."""

    def make(size: int) -> str:
        text, number = [], 0
        while size > 0:
            text.append(line.format(n=number))
            size -= len(text[-1])
            number += 1
        return "".join(text)

    return make


def references(size: int) -> str:
    count = size // 40
    return "\n".join([f"[{n}]: /u{n}" for n in range(count)]) + "\n\n" + "[x] [0][y] " * count


def staircase(size: int) -> str:
    """A list each of whose items is one deeper."""
    depth = int((2 * size) ** 0.5) - 3
    return "\n".join(" " * n + "- a" for n in range(depth))


def wide_table(size: int) -> str:
    """As many columns as half the text holds, then rows of one cell."""
    columns = size // 8
    return "|a" * columns + "|\n" + "|-" * columns + "|\n" + "x\n" * (size // 4)


def growing_backticks(size: int) -> str:
    return " ".join("e" + "`" * n for n in range(int((2 * size) ** 0.5)))


SHAPES: dict[str, Shape] = {
    "strong that is nested": repeated("*a **a ", "b** b*"),
    "emphasis that never opens": repeated("a** "),
    "emphasis that never closes": repeated("*a "),
    "emphasis of both marks": repeated("*a_ "),
    "underscores and stars": repeated("_*_**_"),
    "stars alone": repeated("*"),
    "stars and letters": repeated("a**b*c"),
    "threes": repeated("***a** b* "),
    "tildes": repeated("~~a "),
    "tildes alone": repeated("~"),
    "brackets that open": repeated("["),
    "brackets that close": repeated("]"),
    "brackets that are nested": repeated("[", "]"),
    "brackets with letters": repeated("[a"),
    "links that never close": repeated("[a]("),
    "links in angles": repeated("[a](<b"),
    "links in links": repeated("[", "](x)"),
    "links with a title that never closes": repeated('[a](b "c'),
    "links with nested parentheses": lambda n: "[a](" + "(" * n,
    "images": repeated("![["),
    "images that are nested": repeated("![", "](x)"),
    "references": references,
    "references that never end": repeated('[a]: b\n"'),
    "definitions": numbered("[{n}]: <{n}> 't'\n"),
    "one reference used often": lambda n: "[a]: " + "u" * (n // 2) + "\n\n" + "[a]" * (n // 6),
    "quotes that are nested": repeated("> "),
    "quotes without space": repeated(">"),
    "quotes and lists": repeated("> - "),
    "quotes that go on lazily": lambda n: "> " * 200 + "a\n" * (n // 2),
    "lists that are nested": repeated("- "),
    "lists that are numbered and nested": repeated("1. "),
    "a staircase of lists": staircase,
    "many items": repeated("- a\n"),
    "many loose items": repeated("* a\n\n"),
    "items that change their mark": repeated("- a\n* b\n+ c\n"),
    "empty items": repeated("*\n"),
    "headings": repeated("# a\n"),
    "hashes": repeated("#"),
    "headings that close": lambda n: "# " + "# " * (n // 2),
    "underlines": repeated("a\n=\n"),
    "rules": repeated("* * *\n"),
    "rules in one line": lambda n: "* " * (n // 2) + "a",
    "backticks that grow": growing_backticks,
    "backticks": repeated("`"),
    "backticks by turns": repeated("`a``b"),
    "fences": repeated("```\n"),
    "fences that never close": repeated("```a\n~~~b\n"),
    "fences of every language": numbered("```l{n}\nx\n```\n"),
    "code by indentation": repeated("    a\n\n"),
    "tables": lambda n: "|a|b|\n|-|-|\n" + "|x|y|\n" * (n // 6),
    "a wide table": wide_table,
    "table heads": repeated("|a|\n|-|\n"),
    "pipes": repeated("|"),
    "pipes in lines": repeated("a|b\n"),
    "pipes that are escaped": lambda n: "|a|\n|-|\n" + "\\|" * (n // 2),
    "backslashes": repeated("\\"),
    "escapes": repeated("\\*"),
    "entities": repeated("&amp;"),
    "entities that never end": repeated("&"),
    "numeric entities": repeated("&#x1F600;"),
    "angles": repeated("<"),
    "angles and letters": repeated("<a "),
    "addresses in angles": repeated("<http://a>"),
    "addresses in angles that never close": repeated("<http:"),
    "mail in angles": repeated("<a@b"),
    "comments": repeated("<!--"),
    "instructions": repeated("<?"),
    "declarations": repeated("<!A "),
    "addresses": repeated("http://a.example/ "),
    "one long address": lambda n: "http://a.example/" + "a" * n,
    "an address with parentheses": lambda n: "http://a.example/" + "(" * n,
    "an address with closed parentheses": lambda n: "http://a.example/" + "()" * (n // 2),
    "an address with dots": lambda n: "http://a" + ".a" * (n // 2),
    "an address with marks": lambda n: "http://a.example/" + "!?" * (n // 2),
    "schemes": repeated("http://"),
    "slashes": repeated("//"),
    "colons": repeated("a:"),
    "www": repeated("www."),
    "names with dots": repeated("a."),
    "names with dots that end in a domain": repeated("a.com"),
    "mail": repeated("a@b.example "),
    "at signs": repeated("a@"),
    "mailto": repeated("mailto:"),
    "dashes and dots": repeated("a-.b"),
    "one word": repeated("a"),
    "words": repeated("a "),
    "lines": repeated("a\n"),
    "lines that break hard": repeated("a  \n"),
    "blank lines": repeated("\n"),
    "spaces": repeated(" "),
    "spaces before a word": lambda n: " " * n + "a",
    "tabs": repeated("\t"),
    "tabs and dashes": repeated("\t- a\n"),
    "returns": repeated("\r"),
    "wide characters": repeated("日本"),
    "faces": repeated("👩‍👩‍👧"),
    "marks that combine": repeated("a\u0301"),
    "characters that are not seen": repeated("\u200b"),
    "marks by chance": by_chance("*_`[]()<>!#-+|~\\&:/@.\n "),
    "brackets by chance": by_chance("[]()!a "),
    "stars by chance": by_chance("*_ a"),
    "blocks by chance": by_chance(">-#`|1. \n"),
    "addresses by chance": by_chance("htp:/w.@a "),
}


UNITS_OF_CODE = (
    "a ¦a¦a\n¦a\t¦ ¦\n¦\t¦0¦0.¦0x¦_¦A¦a.b¦a.¦.¦,¦(¦)¦()¦a(¦a (¦{¦}¦{}¦{a¦[¦]¦[]¦[a¦<¦>¦<>¦<a ¦"
    "<a>¦<a¦</¦<!--¦<!¦<?¦<?php ¦<%¦a<b,¦a<b>¦=¦a=¦a=b ¦a = ¦:¦a:¦::¦a::b¦;¦a;¦a b;¦-¦--¦->¦a-¦"
    '"¦\'¦`¦\'\'¦\'a¦"a¦"""¦\'\'\'¦"\\¦\'\\¦f"{¦r"¦"a" ¦\\¦\\\n¦a\\\n¦\\\\¦\\a¦\\"¦/¦//¦/*¦'
    "/**¦*/¦/a¦(*¦{-¦#¦#a ¦#{¦##¦# \n¦$¦$a¦${¦$(¦$$¦@¦@a ¦@a(¦@a\n¦%¦%{¦%a¦{{¦{%¦}}¦&¦&a;¦!¦!a¦"
    "?¦?:¦|¦|a¦~¦~~~¦^¦*¦**¦+¦++¦a+¦<<¦<<a¦<<-¦<<<¦>>> ¦a a(¦a a a ¦a, ¦(a, ¦a b\n¦a: b\n¦"
    "- a\n¦  a\n¦a.b.c ¦a\n ¦\n ¦ \n¦a  ¦1 ¦1,¦é¦class a ¦def a¦def a(¦import a¦import a, ¦"
    "from a ¦function a¦int a ¦public ¦public a ¦static int a¦return ¦if a ¦else ¦begin ¦end ¦"
    "let a ¦new ¦a new ¦var a¦const a¦fn a¦fn a<¦func a¦package ¦namespace a¦select ¦a as ¦"
    "begin a ¦template<¦struct a{¦enum a¦interface ¦async "
)
CODE: dict[str, Shape] = {each: repeated(each) for each in UNITS_OF_CODE.split("¦")}
CODE |= {
    "marks by chance": by_chance("()[]{}<>'\"`/\\*#$@%&|!?=+-:;,. \na0"),
    "brackets by chance": by_chance("(){}[]<> a"),
    "quotes by chance": by_chance("'\"`\\ a\n"),
    "words by chance": by_chance("ab \n"),
    "one long word, then a bracket": lambda n: "a" * n + "(",
    "words, then a bracket": lambda n: "a " * (n // 2) + "(",
    "spaces, then a word": lambda n: " " * n + "a",
    "blank lines, then a word": lambda n: "\n" * n + "a",
    "a quote, then backslashes": lambda n: '"' + "\\" * n,
    "a quote that never closes": lambda n: "'" + "a" * n,
    "a comment that never closes": lambda n: "/*" + "*" * n,
    "a comment of stars and words": lambda n: "/*" + "*a" * (n // 2),
    "digits, then a letter": lambda n: "0" * n + "z",
    "digits with marks": lambda n: "1_" * (n // 2) + "z",
    "a tag of many attributes": lambda n: "<a " + "b=c " * (n // 4),
    "many lines of words": lambda n: "a a a a a a a a a\n" * (n // 18),
    "many declarations": lambda n: "public static int a b c d e f\n" * (n // 30),
    "types in types": lambda n: "a<" * (n // 2),
    "types with commas": lambda n: "a<b, c<d, " * (n // 10),
    "dots and words": lambda n: "a." * (n // 2) + "(",
    "commas and words": lambda n: "a, " * (n // 3) + "=",
}
