"""Static files: gathered once for each version, with hashes in their names, and compressed."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import CommandError
from whitenoise.storage import CompressedManifestStaticFilesStorage

MARK = "gathered.sha256"  # of what they were gathered from
LOCK = "gathering"


class HashedFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names files by their content, so that browsers keep them for good, and notes the sources."""

    def post_process(self, *args: Any, dry_run: bool = False, **options: Any) -> Iterator[Any]:
        yield from super().post_process(*args, dry_run=dry_run, **options)
        if not dry_run:
            Path(self.location, MARK).write_text(digest_of_sources())


def gather() -> None:
    """Put the static files where they are served from, unless they are there already.

    CommandError if that place cannot be written. Several processes may do it at once.
    """
    if settings.DEBUG or not settings.STATIC_ROOT or is_gathered(Path(settings.STATIC_ROOT)):
        return
    root = Path(settings.STATIC_ROOT)
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (root / LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_gathered(root):
                call_command("collectstatic", interactive=False, verbosity=0)
    except OSError as error:
        raise CommandError(
            f"The static files cannot be put into {root}: {error.strerror}. Let this user write"
            " there, or set MEMORYWEB_STATIC to another directory."
        ) from None


def is_gathered(root: Path) -> bool:
    try:
        return (root / MARK).read_text() == digest_of_sources()
    except OSError:
        return False


def digest_of_sources() -> str:
    """A SHA-256 of all static files of this version, by name and content."""
    digest = sha256()
    sources = (found for finder in get_finders() for found in finder.list([]))
    for name, storage in sorted(sources, key=lambda found: found[0]):
        digest.update(f"{name}\0".encode() + sha256(Path(storage.path(name)).read_bytes()).digest())
    return digest.hexdigest()
