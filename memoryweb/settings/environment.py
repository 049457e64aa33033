"""The environment, and the folder of the data."""

import secrets
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured
from environ.fileaware_mapping import FileAwareMapping

from memoryweb.data_folder import DATABASE, LOCK, SECRET_KEY_FILE, make_private

BASE_DIR = Path(__file__).resolve().parents[2]


class Variables(FileAwareMapping):  # type: ignore[misc]
    """Variables of the environment; NAME_FILE names a file that holds the value of NAME.

    ImproperlyConfigured if both are set, or the file cannot be read.
    """

    def __getitem__(self, name: str) -> str:
        file = self.env.get(f"{name}_FILE")
        if not file:
            return str(self.env[name])
        if self.env.get(name):
            raise ImproperlyConfigured(f"{name} and {name}_FILE are both set. Keep one of them.")
        try:
            return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise ImproperlyConfigured(
                f"{name}_FILE names {file}, which cannot be read: {why}. Name a file that this user"
                " can read, or unset it."
            ) from None


class FileAwareEnv(environ.FileAwareEnv):  # type: ignore[misc]
    """Reads the variables by type."""

    ENVIRON = Variables()


env = FileAwareEnv()
if (BASE_DIR / ".env").exists():
    env.read_env(str(BASE_DIR / ".env"))

DEBUG = env.bool("DEBUG", default=False)
DATA = Path(env.str("MEMORYWEB_DATA", default="") or BASE_DIR / "var").expanduser().resolve()
DATABASE_URL = env.str("DATABASE_URL", default="")
REDIS_URL = env.str("REDIS_URL", default="")
HOSTED = DATABASE_URL.startswith(("postgres", "pgsql"))


SECRET_KEY_NAMED = bool(env.str("MEMORYWEB_SECRET_KEY", default=""))


def _secret_key() -> str:
    """The key in MEMORYWEB_SECRET_KEY, else one made at the first start and kept in the data."""
    if key := str(env.str("MEMORYWEB_SECRET_KEY", default="")):
        return key
    path = DATA / SECRET_KEY_FILE
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(50))
    return path.read_text()


try:
    make_private(DATA, *([] if HOSTED else [LOCK, DATABASE]))
    SECRET_KEY = _secret_key()
except OSError as _error:
    raise ImproperlyConfigured(
        f"The data directory {DATA} cannot be used: {_error.strerror}. Let this user write"
        " there, or set MEMORYWEB_DATA to another directory."
    ) from None
