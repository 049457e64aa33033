"""What the files in deploy/ say, for tests that hold them to it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import yaml

from tests.support.server import ROOT

DEPLOY = ROOT / "deploy"
HOME = "/opt/memoryweb"  # where the image and the units have the code
IMAGE = "memoryweb"
FILLED_IN = {
    "MEMORYWEB_URL": "https://memory.example.org",
    "POSTGRES_PASSWORD": "secret",
    "MEMORYWEB_SECRET_KEY": "a key of more than forty characters, which all share",
}


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return read


def own_services() -> dict[str, dict[str, Any]]:
    """Those that run memoryweb, by name."""
    services = compose()["services"].items()
    return {name: service for name, service in services if service["image"] == IMAGE}


def environment_of(service: dict[str, Any]) -> dict[str, str]:
    """What compose sets, once the three values are filled in."""
    return {
        name: re.sub(r"\$\{(\w+)[^}]*\}", lambda found: FILLED_IN[found[1]], value)
        for name, value in service["environment"].items()
    }


def variables(file: Path, *, set_only: bool = False) -> set[str]:
    """The variables that an example of a .env names; or only those that it sets."""
    return set(re.findall(rf"^{'' if set_only else '#?'}([A-Z_]+)=", file.read_text(), re.M))


def stages() -> list[list[tuple[str, str]]]:
    """The Containerfile: for each stage its instructions, each with what follows it."""
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    found: list[list[tuple[str, str]]] = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            word, _, rest = line.partition(" ")
            if word == "FROM":
                found.append([])
            found[-1].append((word, rest.strip()))
    return found


def the_only(word: str) -> str:
    """What follows an instruction that the last stage has once."""
    (rest,) = (rest for each, rest in stages()[-1] if each == word)
    return rest


def exec_form(rest: str, home: Path = Path(HOME)) -> list[str]:
    """A command that is started without a shell, as JSON has it; for code that is elsewhere."""
    words: list[str] = json.loads(rest[rest.index("[") :].replace(HOME, str(home)))
    return words


def settings_of_the_image(home: Path) -> dict[str, str]:
    """ENV of the last stage, for code that is elsewhere."""
    return dict(re.findall(r"(\w+)=(\S+)", the_only("ENV").replace(HOME, str(home))))


def copied() -> list[str]:
    """What the image takes from the repository."""
    return [
        source
        for word, rest in stages()[0]
        if word == "COPY"
        for source in rest.split()[:-1]
        if not source.startswith("--")
    ]


def copy_of_the_image(home: Path) -> None:
    """The files of the image, with the libraries that the tests have."""
    home.mkdir()
    for name in copied():
        if (source := ROOT / name).is_dir():
            shutil.copytree(source, home / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, home / name)
    (home / ".venv").symlink_to(sys.prefix)


def unit(name: str) -> ConfigParser:
    """A unit of systemd; a key that is there several times has its values on lines."""
    parser = ConfigParser(strict=False, interpolation=None, delimiters=["="])
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((DEPLOY / "systemd" / name).read_text())
    return parser
