"""Letta's programs for Node, kept in .venv-sdk/ between runs."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.sdk.interpreters import KEPT

PROGRAMS = Path(__file__).parent / "programs"
OPTIONS = ["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--fetch-retries=1"]
NO_NETWORK = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ENETUNREACH", "ETIMEDOUT", "ECONNRESET")


def node_home() -> Path:
    """A directory with the packages of `programs/package.json`; made where there is none yet."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("Letta's programs for Node need node and npm; install them to run this.")
    wanted = (PROGRAMS / "package.json").read_bytes()
    home = KEPT / f"node-{hashlib.sha256(wanted).hexdigest()[:12]}"
    home.mkdir(parents=True, exist_ok=True)
    with (home / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / ".ready").exists():
            (home / "package.json").write_bytes(wanted)
            made = subprocess.run(
                ["npm", "install", *OPTIONS], cwd=home, capture_output=True, text=True, check=False
            )
            if any(each in made.stderr for each in NO_NETWORK):
                pytest.skip(f"Letta's programs for Node cannot be downloaded: {made.stderr[:300]}")
            assert made.returncode == 0, made.stderr
            (home / ".ready").touch()
    return home
