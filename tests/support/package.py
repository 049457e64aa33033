"""The package: built from this tree, installed into an environment of its own, served from there.

    with Installed(tmp_path / "home", installed_package(tmp_path)) as server:
        ...

The environment is kept in .venv-sdk/package/ while what it needs stays the same; the package itself
is installed anew each time.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from hashlib import sha256
from pathlib import Path

from tests.sdk.interpreters import KEPT, works
from tests.support.server import ROOT, MemoryWeb

HOME = KEPT / "package"
USERS_DATA = "Library/Application Support" if sys.platform == "darwin" else ".local/share"
PIP = [sys.executable, "-m", "pip"]


def run(*command: str) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def installed_package(folder: Path) -> Path:
    """The program `memoryweb` as the wheel of this tree brings it."""
    run(*PIP, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT))
    (wheel,) = folder.glob("memoryweb-*.whl")
    files = [ROOT / "pyproject.toml", ROOT / "constraints.txt"]
    needed = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    python, ready = HOME / "bin" / "python", HOME / ".ready"
    install = [*PIP, "--python", str(python), "install", "-q", "--no-input"]
    if works(python) and ready.exists() and ready.read_text() == needed:
        run(*install, "--no-deps", "--force-reinstall", str(wheel))
    else:
        venv.create(HOME, clear=True, symlinks=True)
        run(*install, "-c", str(ROOT / "constraints.txt"), str(wheel))
        ready.write_text(needed)
    return HOME / "bin" / "memoryweb"


class Installed(MemoryWeb):
    """A server that somebody starts by `memoryweb`, in their home and with nothing else named."""

    def __init__(self, home: Path, program: Path) -> None:
        super().__init__(home / USERS_DATA / "memoryweb")
        home.mkdir(parents=True)
        self.program, self.cwd = [str(program)], home
        self.environment = {
            name: value
            for name, value in self.environment.items()
            if not name.startswith(("MEMORYWEB_", "OPENAI_", "XDG_", "PYTHONPATH"))
        } | {"HOME": str(home), "PORT": str(self.port)}
        self.serve: list[str] = []
