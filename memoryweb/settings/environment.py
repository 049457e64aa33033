"""The environment, the folder of the code and that of the data."""

import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from platformdirs import user_data_path

from memoryweb.data_folder import DATABASE, LOCK, SECRET_KEY_FILE, make_private
from memoryweb.variables import FileAwareEnv

BASE_DIR = Path(__file__).resolve().parents[2]
# Run from where the code lies, templates and static files lie beside it, and the data in var/. A
# package has them in it (pyproject.toml), and the data are in the user's folder for such.
INSTALLED = not (BASE_DIR / "manage.py").exists()
PARTS = BASE_DIR / "memoryweb" if INSTALLED else BASE_DIR
HOME = user_data_path("memoryweb", appauthor=False) if INSTALLED else BASE_DIR
COMMAND = "memoryweb" if INSTALLED else "manage.py"  # what a person types

env = FileAwareEnv()
if (HOME / ".env").exists():
    env.read_env(str(HOME / ".env"))

DEBUG = env.bool("DEBUG", default=False)
_data = env.str("MEMORYWEB_DATA", default="") or (HOME if INSTALLED else HOME / "var")
DATA = Path(_data).expanduser().resolve()
DATABASE_URL = env.str("DATABASE_URL", default="")
REDIS_URL = env.str("REDIS_URL", default="")
HOSTED = DATABASE_URL.startswith(("postgres", "pgsql"))


SECRET_KEY_NAMED = bool(env.str("MEMORYWEB_SECRET_KEY", default=""))


# Keys that were the secret key before, one a line: what they encrypted and signed can be read.
SECRET_KEY_FALLBACKS = [
    key for key in env.str("MEMORYWEB_SECRET_KEY_FALLBACKS", default="").splitlines() if key
]


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
