"""What people call the browser that a User-Agent names."""

from __future__ import annotations

import pytest

from agents.templatetags.display import sentence_case
from agents.text.browsers import browser_name

LIKE_GECKO = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {LIKE_GECKO} Chrome/140.0 Safari/537.36"
            " Edg/140.0",
            "Edge, Windows",
        ),
        (
            f"Mozilla/5.0 (X11; Linux x86_64) {LIKE_GECKO} Chrome/140.0 Safari/537.36",
            "Chrome, Linux",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1"
            " (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
            "Safari, iPhone",
        ),
        (
            "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0",
            "Firefox, Android",
        ),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", ""),
    ],
)
def test_a_browser_and_its_system_are_named(user_agent: str, name: str) -> None:
    assert browser_name(user_agent) == name


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("\n    Make Primary\n", "Make primary"),
        ("Deactivate Authenticator App", "Deactivate authenticator app"),
        ("Download the JSON of GitHub", "Download the JSON of GitHub"),
        ("<b>As It Is</b>", "<b>As It Is</b>"),
    ],
)
def test_what_allauth_writes_in_title_case_is_written_as_ours(theirs: str, ours: str) -> None:
    assert sentence_case(theirs) == ours
