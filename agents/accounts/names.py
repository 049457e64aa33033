"""Names of accounts, none of which looks like another's."""

from __future__ import annotations

import re
import unicodedata

from django.core.exceptions import ValidationError
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

OWNER = "owner"
INVISIBLE = re.compile("[\u115f\u1160]")  # Hangul fillers, which count as letters
SCRIPTS = (gettext_noop("Latin"), gettext_noop("Cyrillic"), gettext_noop("Greek"))  # most mixed
WRITTEN_TOGETHER = (  # Japanese, Korean, Chinese with its phonetic letters
    {"CJK", "HIRAGANA", "KATAKANA"},
    {"CJK", "HANGUL"},
    {"CJK", "BOPOMOFO"},
)


def checked_name(name: str) -> str:
    """A user name in its normal form; ValidationError if it could look like another person's."""
    name = unicodedata.normalize("NFKC", name)
    if name.lower() == OWNER:
        raise ValidationError(_("This name is taken; choose another one."))
    if "@" in name:
        raise ValidationError(_("A user name has no '@': it would look like an email address."))
    if INVISIBLE.search(name):
        raise ValidationError(_("This user name contains an invisible letter; leave it out."))
    scripts = {script_of(letter) for letter in name if letter.isalpha() or not letter.isascii()}
    scripts -= {"MODIFIER"}
    if len(scripts) > 1 and not any(scripts <= together for together in WRITTEN_TOGETHER):
        names = [_(script.capitalize()) for script in sorted(scripts)]
        words = _(
            "This user name mixes letters of several scripts (%(scripts)s), so it could look like"
            " another person's; use only one script."
        )
        raise ValidationError(words % {"scripts": get_text_list(names, _("and"))})
    return name


def script_of(letter: str) -> str:
    """The script of a letter or digit, by its name in Unicode: GREEK SMALL LETTER ALPHA."""
    script = re.split("[ -]", unicodedata.name(letter, "?"))[0]
    return "CJK" if script == "IDEOGRAPHIC" else script
