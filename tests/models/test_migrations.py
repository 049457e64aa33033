"""Migrations: old code goes on running while a new version's are applied (expand, then contract).

The first of an app makes its tables, which no older code knows, so anything goes there.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.test import override_settings
from django_migration_linter import MigrationLinter

pytestmark = pytest.mark.django_db(transaction=True)

NEXT = """
from django.db import migrations, models

class Migration(migrations.Migration):
    dependencies = [("agents", "0001_initial")]
    operations = [{operation}]
"""


def linted() -> MigrationLinter:
    linter = MigrationLinter(
        include_apps=["agents"], ignore_initial_migrations=True, no_cache=True, no_output=True
    )
    linter.lint_all_migrations()
    return linter


def test_no_migration_breaks_the_version_before_it() -> None:
    linter = linted()
    assert not linter.has_errors, "`manage.py sqlmigrate` shows what these do to running code."
    assert linter.nb_ignored, "the first ones"


@pytest.mark.parametrize(
    ("operation", "breaks"),
    [
        ('migrations.RemoveField("message", "said_by")', True),
        ('migrations.RenameField("message", "said_by", "author")', True),
        (
            'migrations.AddIndex("run", models.Index(fields=["key"], name="k"))',
            False,
        ),
    ],
)
def test_one_that_does_would_be_found(
    operation: str, breaks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "their_migrations"
    package.mkdir()
    (package / "__init__.py").touch()
    initial = Path(apps.get_app_config("agents").path) / "migrations" / "0001_initial.py"
    (package / "0001_initial.py").write_text(initial.read_text())
    (package / "0002_next.py").write_text(NEXT.format(operation=operation))
    monkeypatch.syspath_prepend(str(tmp_path))
    with override_settings(MIGRATION_MODULES={"agents": "their_migrations"}):
        assert linted().has_errors == breaks
    for name in [name for name in sys.modules if name.startswith("their_migrations")]:
        del sys.modules[name]
