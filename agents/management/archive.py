"""A backup: one tar with the database, the secret key, and a manifest with their SHA-256."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

FORMAT = 1
MANIFEST, KEY = "manifest.json", "secret_key"
DATABASES = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}
LARGEST_MANIFEST = 1024 * 1024  # bytes
CHUNK = 1024 * 1024


@dataclass(frozen=True)
class Manifest:
    """What a backup holds. `migrations` are the newest of each application, `files` the SHA-256 of
    each file."""

    made_at: str
    database: str
    migrations: list[str]
    key_sha256: str  # of the secret key's SHA-256: tells keys apart and gives none away
    files: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def has_key(self) -> bool:
        return KEY in self.files


def fingerprint(key: str) -> str:
    return hashlib.sha256(hashlib.sha256(key.encode()).digest()).hexdigest()


def create(file: Path) -> None:
    """Create an empty file that only this user can read; CommandError if it exists."""
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise CommandError(f"{file} already exists; name a new file.") from None
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from None


def pack(file: Path, manifest: Manifest, parts: Iterable[Path]) -> None:
    """Write the parts, with their checksums in the manifest, which comes first."""
    parts = list(parts)
    manifest.files.update({part.name: sha256_of(part) for part in parts})
    content = json.dumps(asdict(manifest), indent=2).encode()
    with tarfile.open(file, "w") as tar:
        head = tarfile.TarInfo(MANIFEST)
        head.size, head.mode = len(content), 0o600
        tar.addfile(head, io.BytesIO(content))
        for part in parts:
            tar.add(part, part.name, recursive=False)


def unpack(file: Path, folder: Path) -> Manifest:
    """Take the parts out into a folder and check each. CommandError if anything is wrong."""
    try:
        with tarfile.open(file) as tar:
            manifest = read_manifest(tar)
            for name in manifest.files:
                if (part := tar.extractfile(name)) is None:
                    raise KeyError(name)
                (folder / name).touch(mode=0o600)
                with (folder / name).open("wb") as written:
                    shutil.copyfileobj(part, written, CHUNK)
    except FileNotFoundError:
        raise CommandError(f"There is no file {file}.") from None
    except (tarfile.TarError, KeyError, ValueError, TypeError) as error:
        raise CommandError(f"{file} is not a whole backup of memoryweb ({error}).") from None
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
    for name, expected in manifest.files.items():
        if sha256_of(folder / name) != expected:
            words = f"{file} is damaged: {name} does not have the SHA-256 that the manifest names."
            raise CommandError(f"{words} Nothing was restored.")
    return manifest


def read_manifest(tar: tarfile.TarFile) -> Manifest:
    opened = tar.extractfile(MANIFEST)
    if opened is None:
        raise KeyError(MANIFEST)
    read: dict[str, Any] = json.loads(opened.read(LARGEST_MANIFEST))
    if read.get("format") != FORMAT:
        raise ValueError(f"its format is {read.get('format')}, and this version reads {FORMAT}")
    manifest = Manifest(**read)
    if set(manifest.files) - {KEY} != {DATABASES.get(manifest.database)}:
        raise ValueError("its manifest names other files")
    return manifest


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as opened:
        while chunk := opened.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
