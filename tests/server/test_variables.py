"""Variables that nothing reads are named, and `.env.example` names those that something does."""

from __future__ import annotations

import re

import pytest
from django.core.exceptions import ImproperlyConfigured

from memoryweb.variables import FileAwareEnv, known, unknown_variables
from tests.support.deploy_samples import variables
from tests.support.server import ROOT

BY_NAME = re.compile(r"MEMORYWEB_(ENDPOINT_KEY|LOGIN_ID|LOGIN_SECRET)_[A-Z]+")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("MEMORYWEB_MODLE", "MEMORYWEB_MODLE is set, and nothing reads it. Did you mean"
         " MEMORYWEB_MODEL?"),
        ("MEMORYWEB_DATABASE_URL", "Did you mean DATABASE_URL?"),
        ("MEMORYWEB_QQQ", "MEMORYWEB_QQQ is set, and nothing reads it."),
    ],
)  # fmt: skip
def test_a_variable_that_nothing_reads_is_named_with_the_nearest_one(name: str, words: str) -> None:
    (sentence,) = unknown_variables({name: "1"})
    assert sentence.endswith(words)


def test_what_is_read_is_not_named_nor_are_variables_of_others() -> None:
    set_here = ["MEMORYWEB_MODEL", "MEMORYWEB_SECRET_KEY_FILE", "MEMORYWEB_TEST_BROWSER", "HOME"]
    assert unknown_variables(dict.fromkeys(set_here, "1")) == []


def test_the_example_names_all_that_is_read_and_nothing_else() -> None:
    named = {each.removesuffix("_FILE") for each in variables(ROOT / ".env.example")}
    read = {each for each in known if not BY_NAME.fullmatch(each)}
    assert {each for each in named if not BY_NAME.fullmatch(each)} == read


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("int", "many", "A_LIMIT is a whole number, not 'many'."),
        ("float", "1,5", "A_LIMIT is a number, not '1,5'."),
        ("bool", "maybe", "A_LIMIT is 1 or 0, not 'maybe'."),
    ],
)
def test_a_number_that_is_none_and_a_switch_that_is_neither_are_refused(
    kind: str, given: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_LIMIT", given)
    with pytest.raises(ImproperlyConfigured, match=re.escape(words)):
        getattr(FileAwareEnv(), kind)("A_LIMIT", default=1)
    known.discard("A_LIMIT")


@pytest.mark.parametrize(
    ("kind", "given", "is_"),
    [
        ("int", "", 7),
        ("int", " 3 ", 3),
        ("bool", "", 7),
        ("bool", "On", True),
        ("bool", "0", False),
    ],
)
def test_what_is_empty_counts_as_not_set(
    kind: str, given: str, is_: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_LIMIT", given)
    assert getattr(FileAwareEnv(), kind)("A_LIMIT", default=7) == is_
    known.discard("A_LIMIT")
