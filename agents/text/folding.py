"""One form for each word: lower case, without diacritics, whatever way it was typed."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

SEPARATORS = (
    r"\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf"
    r"\u00d7\u00f7\u02c2-\u02df\u2000-\u206f\u20a0-\u20cf\u2190-\u25ff\u27c0-\u2bff\u2e00-\u2e7f"
    r"\u3000-\u3004\u3008-\u3020\u3030\u30fb\ue000-\uf8ff\ufe00-\ufe6f\ufeff\ufff0-\uffff"
)
# Scripts that put no space between words: CJK, kana, Thai, emoji, also Korean with its endings.
UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2600-\u27bf\u2e80-\u2fdf\u3005-\u3007"
    r"\u3021-\u302f\u3031-\u30fa\u30fc-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    r"\U0001b000-\U0001b2ff\U0001f000-\U0001faff\U00020000-\U0003ffff"
)
_marks = re.compile(r"[\u0300-\u036f]+")
_separators = re.compile(rf"[\0{SEPARATORS}\ud800-\udfff]+")
unspaced = re.compile(rf"[{UNSPACED}]+")


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, with their diacritics."""
    return _separators.sub(" ", lowered(text)).split()


def lowered(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower()


@lru_cache(maxsize=50_000)
def folded(word: str) -> str:
    """A word in lower case without its diacritics."""
    if word.isascii():
        return word
    word = _marks.sub("", unicodedata.normalize("NFKD", word))
    word = unicodedata.normalize("NFKC", word).lower()
    return word.replace("ς", "σ").replace("ß", "ss").replace("ı", "i")
