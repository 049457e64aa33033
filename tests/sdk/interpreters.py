"""Interpreters that have one version of letta-client each, kept in .venv-sdk/ between runs.

with Interpreter("0.1.42") as sdk:
    sdk.play("simple_agent", base_url="http://127.0.0.1:8283")
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / ".venv-sdk"
VERSIONS = ["0.1.42", "0.1.324", "1.12.0", "1.12.1"]
PLAYER = "tests.sdk.player"


def make_pythons() -> None:
    """All of them, at the same time."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(python_with, VERSIONS))


def python_with(version: str, package: str = "letta-client") -> Path:
    """A Python that can import that version of the package; made where there is none yet."""
    name = version if package == "letta-client" else f"{package}-{version}"
    home = KEPT / name
    python, ready = home / "bin" / "python", home / ".ready"
    KEPT.mkdir(exist_ok=True)
    with (KEPT / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (ready.exists() and works(python)):
            venv.create(home, clear=True, symlinks=True)
            pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-qq"]
            wanted = ["-c", str(ROOT / "constraints.txt"), f"{package}=={version}"]
            subprocess.run([*pip, "--no-input", *wanted], check=True, stdin=subprocess.DEVNULL)
            ready.touch()
    return python


def works(python: Path) -> bool:
    """Whether its interpreter is still there: the system's may have been upgraded."""
    try:
        return subprocess.run([python, "-c", ""], capture_output=True).returncode == 0
    except OSError:
        return False


class Interpreter:
    """One of them at work: it plays scenarios and tells what came of each."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.requests: list[list[Any]] = []
        """`[method, path, status]` of all that the SDK sent."""

    def __enter__(self) -> Self:
        self._child = subprocess.Popen(
            [python_with(self.version), "-u", "-W", "ignore", "-m", PLAYER, self.version],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *exc: object) -> None:
        self._child.kill()
        self._child.wait()

    def play(self, scenario: str, base_url: str, **given: Any) -> Any:
        """What the scenario gives back; AssertionError with its traceback where it fails."""
        assert self._child.stdin
        assert self._child.stdout
        asked = {"scenario": scenario, "base_url": base_url, "given": given}
        self._child.stdin.write(json.dumps(asked) + "\n")
        self._child.stdin.flush()
        line = self._child.stdout.readline()
        assert line, f"letta-client {self.version} ended in the scenario {scenario}."
        answer = json.loads(line)
        assert "failed" not in answer, f"letta-client {self.version}:\n{answer['failed']}"
        self.requests += answer["requests"]
        return answer["told"]
