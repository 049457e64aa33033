"""What people say and keep secret is in no line that web processes and workers log."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_openai import FakeOpenAI, calls, error_in_stream, status, text
from tests.support.server import ROOT, MemoryWeb
from tests.support.site import own_site

pytestmark = pytest.mark.slow
KEY = "sk-secret-of-the-endpoint"
SAID = "my-marked-words"
TOLD = "the-marked-answer"
ARGUMENT = "the-marked-argument"
MARKED = (KEY, SAID, TOLD, ARGUMENT)


def talk(web: MemoryWeb, model: FakeOpenAI) -> None:
    """A conversation in which all goes wrong that a log might tell of."""
    model.script(
        calls(("core_memory_append", {"label": "human", "content": ARGUMENT})),
        calls(("core_memory_replace", {"label": "human", "old_content": "x", "new_content": SAID})),
        text(f"{TOLD}."),
        status(500, f"Broken: {SAID}"),
        error_in_stream(f"It broke at {SAID}"),
        error_in_stream(f"It broke at {SAID}"),
        error_in_stream(f"It broke at {SAID}"),
    )
    agent = web.make_agent(human=f"Name: {SAID}")
    with web.page(agent) as page:
        page.send(f"I say {SAID}")
        page.wait_for(TOLD)
        page.wait_for("ended done")
        page.send(f"Again {SAID}")
        page.wait_for(f"It broke at {SAID}")
        page.say(command="send", agent=agent, text=SAID, key="a key that is none")
        page.say(command=SAID)
        next(frame for frame in page.frames() if "refused" in frame)
    web.get(f"/agents/{agent}/search/?q={SAID}")
    web.get(f"/v1/agents/{SAID}")
    web.post(f"/agents/{agent}/messages/", text=f"Once more {SAID}", key="k")


def lines(log: Path) -> list[dict[str, Any]]:
    """All lines that are objects; the rest is the summary that `serve` prints."""
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


@pytest.mark.sqlite_only
def test_a_single_process_logs_ids_and_no_words(tmp_path: Path, model: FakeOpenAI) -> None:
    options = {"LOG_FORMAT": "json", "LOG_LEVEL": "DEBUG", "OPENAI_API_KEY": KEY}
    with MemoryWeb(tmp_path / "data", model, **options) as web:
        talk(web, model)
    logged = web.log.read_text()
    assert not [word for word in MARKED if word in logged]
    assert any(line.get("run_id") and line.get("step_id") for line in lines(web.log))
    assert any(line.get("request_id") for line in lines(web.log))


@pytest.mark.hosted_only
def test_web_and_worker_log_ids_and_no_words(tmp_path: Path, model: FakeOpenAI) -> None:
    options = {"LOG_LEVEL": "DEBUG", "OPENAI_API_KEY": KEY}
    log = tmp_path / "worker.log"
    with own_site(tmp_path, model, **options) as site, ExitStack() as stack:
        with log.open("wb") as output:
            worker = subprocess.Popen(
                [sys.executable, "manage.py", "procrastinate", "worker"],
                cwd=ROOT,
                env=site.web[0].environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        stack.callback(worker.wait)
        stack.callback(worker.kill)
        talk(site.web[0], model)
        logged = log.read_text() + "".join(web.log.read_text() for web in site.web)
    assert not [word for word in MARKED if word in logged]
    told = lines(log)
    assert any(line.get("run_id") and line.get("step_id") and line.get("job_id") for line in told)
