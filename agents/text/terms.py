"""The terms of a text: what the index of search holds of it, and what a query asks the index for.

A word gives itself, in lower case without diacritics, and its stem in the text's language, behind a
mark for that language: so a word is always found as it stands, other forms of it are found too, and
no language's stems are taken for another's words. Scripts that put no space between words give
every character and every pair of neighbours, so that a word of two is found inside any sentence.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

import Stemmer

from .folding import folded, lowered, unspaced, words_of
from .languages import COMMON, DEFAULT, LATIN, common_words, languages_of

RULES = 2  # of what is a term; a change of them has everything indexed anew
VERSION = f"{RULES}_{Stemmer.version().replace('.', '_')}"

LONGEST = 100_000  # characters of a text that are indexed
LONGEST_WORD = 64
MOST_ASKED = 32  # words of one query

Forms = tuple[str, ...]  # the terms of one word: itself first, then its stems
_mark_of = {language: chr(0xE010 + place) for place, language in enumerate(COMMON)}
MARKS = "".join(_mark_of.values())  # of the languages, before their stems
_stemming = threading.Lock()  # a stemmer serves one thread at a time


def terms(text: str) -> list[str]:
    """The distinct terms of a text."""
    return list(dict.fromkeys(chain.from_iterable(tokens(text))))


def tokens(text: str) -> Iterator[Forms]:
    """The words of a text, each as its forms, as often as they stand there."""
    words = words_of(text[:LONGEST])
    languages, _ = languages_of(lowered(text[:LONGEST]), map(folded, words))
    for word in words:
        yield from forms_of(word, languages)


class Query(NamedTuple):
    """What a query asks for: of each word all forms, any of which will do, in these languages."""

    words: list[Forms]
    languages: tuple[str, ...]


def query_terms(query: str) -> Query:
    """What a query asks for; of a very long one the 32 longest words.

    The commonest words of its language, which ask rather than tell, are left out unless there are
    no others. Of a run without spaces only the pairs are asked for, where there are any.
    """
    words = words_of(query[:LONGEST])
    surfaces = [folded(word) for word in words]
    languages, sure = languages_of(lowered(query[:LONGEST]), surfaces)
    known = languages and (sure or languages[0] == DEFAULT)
    common = common_words[languages[0]] if known else frozenset()
    telling = [word for word, bare in zip(words, surfaces, strict=True) if bare not in common]
    if languages and languages[0] in LATIN:  # a text that shows no language counts as English
        languages = tuple(dict.fromkeys((*languages, DEFAULT)))
    groups: dict[str, Forms] = {}
    for word in telling or words:
        for found in forms_of(word, languages, asked=True):
            key = found[-1]  # forms of one word are asked for once
            groups[key] = tuple(dict.fromkeys((*groups.get(key, ()), *found)))
    longest = sorted(groups.values(), key=lambda found: len(found[0]), reverse=True)
    return Query(longest[:MOST_ASKED], languages)


def forms_of(word: str, languages: tuple[str, ...], *, asked: bool = False) -> Iterator[Forms]:
    """A word's forms, or those of its parts where it has scripts that know no words."""
    if word.isascii() or (folded(word) and not unspaced.search(word)):
        yield forms(word, languages)
    else:
        yield from _runs(folded(word), languages, asked)


def _runs(surface: str, languages: tuple[str, ...], asked: bool) -> Iterator[Forms]:
    for run in unspaced.findall(surface):
        if not asked or len(run) == 1:
            yield from ((character,) for character in run)
        yield from ((first + second,) for first, second in pairwise(run))
    yield from (forms(rest, languages) for rest in unspaced.split(surface) if rest)


@lru_cache(maxsize=50_000)
def forms(word: str, languages: tuple[str, ...]) -> Forms:
    """A word's terms: itself, and its stem in each of these languages where it is no common word of
    that language and has no digits."""
    word = word[:LONGEST_WORD]
    surface = folded(word)
    if len(word) < 3 or any(character.isdigit() for character in word):
        return (surface,)
    stems = (
        _mark_of[language] + stem(word, language)
        for language in languages
        if surface not in common_words[language]
    )
    return (surface, *stems)


def stem(word: str, language: str) -> str:
    """The stem of a word in lower case, without diacritics."""
    with _stemming:
        return folded(str(_stemmer(language).stemWord(word)))


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language, 0)
