"""The folder that holds the data, for the account that runs memoryweb and for no other."""

from __future__ import annotations

import stat
from contextlib import suppress
from pathlib import Path

SECRET_KEY_FILE, LOCK, DATABASE = "secret_key", "lock", "memoryweb.sqlite3"
MADE_HERE = (SECRET_KEY_FILE, LOCK, f"{DATABASE}*")  # SQLite puts -wal and -shm beside its file


def make_private(folder: Path, *names: str) -> None:
    """Make the folder, and these files in it, readable to their owner alone; so are those which an
    older version made. What belongs to somebody else is left as it is.

    SQLite gives its further files the permissions of the first one.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(OSError):
        if not folder.stat().st_mode & stat.S_ISVTX:  # /tmp and the like are everybody's
            folder.chmod(0o700)
    for name in names:
        with suppress(OSError):
            (folder / name).touch(mode=0o600)
    for pattern in MADE_HERE:
        for file in folder.glob(pattern):
            with suppress(OSError):
                if file.stat().st_mode & 0o077:
                    file.chmod(0o600)
