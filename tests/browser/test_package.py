"""`pip install memoryweb`: the wheel of this tree, in an environment that has nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import block, log, say
from tests.support.package import Installed, installed_package

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_installed_command_serves_from_the_users_own_folder(
    context: BrowserContext, tmp_path: Path
) -> None:
    server = Installed(tmp_path / "home", installed_package(tmp_path))
    with server:
        agent = server.make_agent("Tutor", human="Name: unknown")
        page = context.new_page()
        page.goto(f"{server.url}/agents/{agent}/")
        say(page, "My name is Sarah.")
        expect(block(page)).to_contain_text("Sarah")
        expect(log(page)).to_contain_text("Sarah")
        page.goto(f"{server.url}/api/")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        found = server.command("doctor", "--json")
        assert found.returncode == 0, found.stdout + found.stderr
        assert {each["state"] for each in json.loads(found.stdout)} <= {"ok", "warning"}
    assert (server.data / "memoryweb.sqlite3").exists()
    assert (server.data / "static" / "icon.svg").exists()
    assert server.command("--version").stdout.startswith("0.")
    server.environment["MEMORYWEB_MODLE"] = "gpt-4o-mini"
    refused = server.command("serve", "--host", "192.0.2.1")
    assert "Did you mean MEMORYWEB_MODEL?" in refused.stderr
    assert "serves this machine only" in refused.stderr
