"""deploy/: the files agree with each other and .env.example; their own tools accept them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from tests.support.deploy_samples import (
    DEPLOY,
    FILLED_IN,
    HOME,
    compose,
    copied,
    environment_of,
    exec_form,
    own_services,
    settings_of_the_image,
    stages,
    the_only,
    unit,
    variables,
)
from tests.support.processes import free_port
from tests.support.proxies import (
    caddy_sample,
    caddy_settings,
    certificate,
    nginx_sample,
    nginx_settings,
    program,
)
from tests.support.server import ROOT

KNOWN = variables(ROOT / ".env.example")
LASTING = ("memoryweb-web@.service", "memoryweb-worker@.service")
SERVICES = ("memoryweb-prepare.service", *LASTING)


def accepted(*command: str) -> None:
    """The tool has nothing to say against it."""
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stdout + ended.stderr


# -- compose ---------------------------------------------------------------------------------------


def test_the_compose_file_is_one_by_the_specification() -> None:
    check = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec")
    accepted(*check, str(DEPLOY / "compose.yaml"))


def test_compose_asks_for_three_values_and_sets_only_what_the_example_names() -> None:
    example = DEPLOY / "env.example"
    assert variables(example, set_only=True) == set(FILLED_IN)
    assert variables(example) - KNOWN == {"POSTGRES_PASSWORD"}
    asked = re.findall(r"\$\{(\w+)(:\?)?", (DEPLOY / "compose.yaml").read_text())
    assert {name for name, _ in asked} == set(FILLED_IN)
    assert all(required for _, required in asked)
    for service in own_services().values():
        assert set(environment_of(service)) <= KNOWN


def test_what_a_service_waits_for_is_there_and_can_be_told() -> None:
    services = compose()["services"]
    for name, service in services.items():
        for other, how in service.get("depends_on", {}).items():
            awaited, condition = services[other], how["condition"]
            if condition == "service_healthy":
                of_the_image = awaited["image"] == "memoryweb"
                check = awaited.get("healthcheck", {"test": of_the_image})
                assert check.get("test"), f"{name} waits for the health of {other}, which has none"
            else:
                assert condition == "service_completed_successfully"
                assert awaited["command"] == ["prepare"]
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            in_place = source.startswith("./") and (DEPLOY / source).exists()
            assert in_place or source in compose()["volumes"]


def test_only_web_is_asked_for_its_health_and_all_have_time_to_end() -> None:
    for name, service in own_services().items():
        is_web = "command" not in service
        assert ("healthcheck" in service) is not is_web, name
        assert service["stop_grace_period"] == "25s"


def test_web_trusts_the_address_of_caddy_and_caddy_knows_every_web_process() -> None:
    caddy = compose()["services"]["caddy"]
    address = caddy["networks"]["front"]["ipv4_address"]
    (network,) = compose()["networks"]["front"]["ipam"]["config"]
    assert ip_address(address) in ip_network(network["subnet"])
    assert ip_address(address) not in ip_network(network["ip_range"])  # that nobody else gets it
    web = {name: each for name, each in own_services().items() if "command" not in each}
    assert caddy["environment"]["MEMORYWEB_WEB"].split() == [f"{name}:8283" for name in web]
    for service in web.values():
        assert environment_of(service)["MEMORYWEB_TRUSTED_PROXIES"] == address
    settings = (DEPLOY / "Caddyfile").read_text()
    assert set(re.findall(r"\{\$(\w+)", settings)) == set(caddy["environment"])


# -- the image -------------------------------------------------------------------------------------


def test_the_image_is_of_what_dockerignore_lets_in_and_of_nothing_else() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    first, *others = [line for line in lines if not line.startswith("#")]
    assert first == "*"
    allowed = [line[1:] for line in others if line.startswith("!")]
    assert sorted(allowed) == sorted(copied())
    assert not {".env", "var", ".git", ".venv", "tests"} & set(allowed)


def test_the_last_stage_has_no_tools_to_build_and_runs_as_nobody_in_particular() -> None:
    build, last = stages()
    assert build[0][1].removesuffix(" AS build") == last[0][1]  # the same Python at the same place
    installed = " ".join(rest for word, rest in last if word == "RUN")
    packages = re.findall(r"install -y --no-install-recommends (.*?) +&&", installed)
    assert packages == ["postgresql-client"]
    words = [word for word, _ in last]
    assert the_only("USER") == "memoryweb"
    assert words.index("USER") > max(index for index, word in enumerate(words) if word == "RUN")
    assert the_only("COPY") == f"--from=build {HOME} {HOME}"
    assert the_only("WORKDIR") == HOME
    ours = {n for n in settings_of_the_image(Path("/")) if not n.startswith("PYTHON")}
    assert ours <= KNOWN


def test_the_commands_of_the_image_are_started_without_a_shell() -> None:
    assert exec_form(the_only("ENTRYPOINT")) == [f"{HOME}/.venv/bin/python", "manage.py"]
    assert exec_form(the_only("CMD")) == ["serve"]
    assert exec_form(the_only("HEALTHCHECK"))[0] == f"{HOME}/.venv/bin/python"


# -- systemd ---------------------------------------------------------------------------------------


def test_the_units_run_the_commands_of_the_documentation_and_are_hardened_alike() -> None:
    units = {name: dict(unit(name)["Service"]) for name in SERVICES}
    python = f"{HOME}/.venv/bin/python manage.py"
    assert {each["ExecStart"] for each in units.values()} == {
        f"{python} prepare",
        f"{python} serve --port %i",
        f"{python} procrastinate worker",
    }
    for name in LASTING:
        assert units[name].pop("TimeoutStopSec") == "25"
    own = {"ExecStart", "Type", "KillMode", "Restart", "RestartSec"}
    own |= {"RemainAfterExit", "TimeoutStartSec"}
    alike = [{k: v for k, v in each.items() if k not in own} for each in units.values()]
    assert alike[0] == alike[1] == alike[2]
    names = {each.partition("=")[0] for each in alike[0]["Environment"].split()}
    assert {each for each in names if not each.startswith("PYTHON")} <= KNOWN


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    systemd = program("systemd-analyze")
    for file in (DEPLOY / "systemd").iterdir():
        text = file.read_text().replace(HOME, str(tmp_path / "home"))
        (tmp_path / file.name).write_text(text)
    python = tmp_path / "home/.venv/bin/python"
    python.parent.mkdir(parents=True)
    shutil.copy(sys.executable, python)
    for name in LASTING:
        (tmp_path / name.replace("@", "@8283")).symlink_to(tmp_path / name)
    names = ["memoryweb.target", *(name.replace("@", "@8283") for name in SERVICES)]
    files = [str(tmp_path / name) for name in names]
    accepted(systemd, "verify", "--man=no", "--recursive-errors=no", *files)
    accepted(systemd, "security", "--offline=true", "--threshold=20", *files[1:2])


# -- proxies, which tests/slow/test_proxies.py runs ----------------------------------------------


def test_nginx_accepts_its_sample(tmp_path: Path) -> None:
    nginx, (key, cert, _) = program("nginx"), certificate(tmp_path)
    sample = nginx_sample(free_port(), free_port(), key, cert)
    settings = nginx_settings(tmp_path, 1, sample)
    accepted(nginx, "-t", "-c", str(settings), "-p", str(tmp_path))


@pytest.mark.parametrize("adapted", [True, False], ids=["as tests run it", "as it is"])
def test_caddy_accepts_its_sample(adapted: bool, tmp_path: Path) -> None:
    caddy, (key, cert, _) = program("caddy"), certificate(tmp_path)
    settings = DEPLOY / "Caddyfile"
    if adapted:
        sample = caddy_sample(free_port(), free_port(), key, cert)
        settings = caddy_settings(tmp_path, 1, sample)
    command = "validate" if adapted else "adapt"  # validate would ask for a certificate
    accepted(caddy, command, "--config", str(settings), "--adapter", "caddyfile")
