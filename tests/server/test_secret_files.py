"""NAME_FILE names a file that holds the value of NAME: no secret stands in the environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from memoryweb.settings.environment import env
from tests.support.server import ROOT
from tests.support.settings import settings_of

SECRETS = ("DATABASE_URL", "EMAIL_URL", "OPENAI_API_KEY", "MEMORYWEB_SECRET_KEY", "REDIS_URL")


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_read_from_its_file_without_the_end_of_its_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "secret"
    file.write_text(" it's a $ecret: ü=# \n")
    monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(f"{name}_FILE", str(file))
    assert env.str(name, default="") == " it's a $ecret: ü=# "


def test_a_variable_that_is_empty_leaves_it_to_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("of the company")
    monkeypatch.setenv("MEMORYWEB_LOGIN_SECRET_COMPANY", "")
    settings = settings_of(
        tmp_path,
        monkeypatch,
        OIDC="company=https://id.example.org",
        LOGIN_ID_COMPANY="memoryweb",
        LOGIN_SECRET_COMPANY_FILE=str(tmp_path / "secret"),
    )
    assert settings["OIDC_APPS"][0]["secret"] == "of the company"


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read: No such file or directory"), (b"\xff\xfe", "it is not UTF-8")],
)
def test_a_file_that_cannot_be_read_is_named(
    content: bytes | None, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if content:
        (tmp_path / "secret").write_bytes(content)
    monkeypatch.delenv("EMAIL_URL", raising=False)
    monkeypatch.setenv("EMAIL_URL_FILE", str(tmp_path / "secret"))
    with pytest.raises(ImproperlyConfigured, match=f"EMAIL_URL_FILE names .*secret.*{words}"):
        env.str("EMAIL_URL", default="")


def test_a_value_and_a_file_at_the_same_time_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMAIL_URL", "smtp://one.example.org")
    monkeypatch.setenv("EMAIL_URL_FILE", str(tmp_path / "secret"))
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL and EMAIL_URL_FILE are both set"):
        env.str("EMAIL_URL", default="")


def test_no_setting_is_read_past_the_files() -> None:
    for module in (ROOT / "memoryweb/settings").glob("*.py"):
        assert "os.environ" not in module.read_text(), module
