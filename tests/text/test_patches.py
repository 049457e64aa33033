"""Patches as models write them: applied where they fit in one place, refused in words elsewhere."""

from __future__ import annotations

import pytest

from agents.text.patches import PatchError, operations, patched

TEXT = "Name: Bob\nCity: Riga\nLikes: pie"


@pytest.mark.parametrize(
    ("patch", "after"),
    [
        ("-City: Riga\n+City: Rome", "Name: Bob\nCity: Rome\nLikes: pie"),
        (" Name: Bob\n+Age: 30\n City: Riga", "Name: Bob\nAge: 30\nCity: Riga\nLikes: pie"),
        ("@@\n-Name: Bob\n@@\n-Likes: pie\n+Likes: tea", "City: Riga\nLikes: tea"),
        ("--- a\n+++ b\n@@ -1,2 +1 @@\n-Name: Bob\n City: Riga", "City: Riga\nLikes: pie"),
        ("+Has a dog", f"{TEXT}\nHas a dog"),
        ("*** Begin Patch\n-City: Riga\n*** End Patch", "Name: Bob\nLikes: pie"),
    ],
)
def test_a_patch_changes_the_lines_that_it_names(patch: str, after: str) -> None:
    [operation] = operations(patch, "human")

    assert patched(TEXT, operation.lines) == after


def test_lines_that_begin_like_a_header_can_be_taken_away() -> None:
    assert patched("a\n-- b\nc", [" a", "--- b"]) == "a\nc"


def test_an_empty_text_gets_the_lines_and_no_empty_one() -> None:
    assert patched("", ["+one", "+two"]) == "one\ntwo"


@pytest.mark.parametrize(
    ("patch", "sentence"),
    [
        ("-City: Oslo", "are not in the text like this"),
        ("-a\n+b", "occur in 2 places"),
        ("City: Riga", "begins with ' ', '-', '\\+' or '@@'"),
        ("@@\n\n@@", "has no lines"),
        ("*** Update Block:\n-a", "needs a label"),
        ("*** Move to: x", "must follow a header"),
        ("-a\n*** Update Block: x\n-a", "above the first header"),
        ("*** Add Block: x\nText", "does not begin with '\\+'"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused_in_words(patch: str, sentence: str) -> None:
    def apply() -> None:
        for operation in operations(patch, "human"):
            if operation.kind == "add":
                operation.added()
            patched(f"{TEXT}\na\na", operation.lines)

    with pytest.raises(PatchError, match=sentence):
        apply()


def test_a_patch_may_change_make_rename_and_delete_texts() -> None:
    patch = """*** Begin Patch
*** Add Block: pets
Description: All animals
+Rex
+
+Tom
*** Update Block: human
-Name: Bob
+Name: Eve
*** Move to: person
*** Delete Block: notes
*** End Patch"""

    found = operations(patch, "")

    assert [(each.kind, each.label, each.moved_to) for each in found] == [
        ("add", "pets", ""),
        ("update", "human", ""),
        ("move", "human", "person"),
        ("delete", "notes", ""),
    ]
    assert (found[0].added(), found[0].description) == ("Rex\n\nTom", "All animals")
