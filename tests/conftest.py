"""The cast: alice and bob have agents, a stranger has none; the model is scripted."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import httpx2
import openai
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client, override_settings
from pytest_django import Settings

from agents.accounts import owner
from agents.llm import available, facts, health, model_lists
from agents.memory.classes import BasicBlockMemory, ChatMemory
from agents.models import (
    Agent,
    Block,
    BlockEdit,
    Editor,
    Passage,
    Run,
    Step,
    Tool,
    announcement,
    quota,
)
from agents.runs import failures
from agents.runs.loop import run_agent
from agents.tools import Caller
from tests.support import judges
from tests.support.counters import count_anew
from tests.support.endpoints import Bed
from tests.support.endpoints.talk import Talk
from tests.support.fake_openai import FakeOpenAI
from tests.support.on_postgres import can_differ
from tests.support.stored import of
from tests.support.tool_pages import SHOUT

Ask = Callable[..., Run]


def edit_of(edit: BlockEdit | None) -> BlockEdit:
    """An edit that must be there."""
    assert edit is not None
    return edit


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "only tests that could end differently on Postgres; see tests/support/on_postgres.py"
    parser.addoption("--that-can-differ", action="store_true", help=words)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--that-can-differ"):
        config.hook.pytest_deselected(items=[each for each in items if not can_differ(each)])
        items[:] = filter(can_differ, items)


def pytest_collection_finish() -> None:
    """What is loaded by now stays: let the garbage collector not look through it ever again."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """SQLite's test database is a file, as the real one is: runs and sockets have threads."""
    if connection.vendor == "sqlite":
        path = tmp_path_factory.mktemp("database") / "test.sqlite3"
        connection.settings_dict["TEST"]["NAME"] = str(path)


@pytest.fixture(autouse=True, scope="session")
def nothing_of_ones_own(django_test_environment: None) -> Iterator[None]:
    """Whatever stands in the environment or in `.env`: no real model is asked, nobody logs in."""
    with override_settings(
        OPENAI_API_KEY="",
        OPENAI_BASE_URL="",
        MODEL="",
        EMBEDDING_MODEL="",
        ENDPOINTS={},
        ENDPOINT_KEYS={},
        ACCOUNTS=False,
        SITE_URL="",
        TLS=False,
        FIRST_IS_ADMINISTRATOR=True,
        SIGNUP="open",
        MAIL=True,
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],  # the quickest
        REQUESTS_LIMIT=1_000_000,  # the tests of all people are made by the same few
        WHITENOISE_AUTOREFRESH=True,  # else every test's Client reads through all static files
        WHITENOISE_USE_FINDERS=True,
        STATIC_ROOT=None,
        STORAGES={
            "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
            "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
        },
    ):
        yield


@pytest.fixture(autouse=True)
def every_request_is_judged(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """What asks a model in this process keeps the judges' rules, whoever answers it.

    The fake server judges what reaches it over its socket, which other processes do as well; the
    endpoints of the `bed` refuse in their own ways.
    """
    if "bed" in request.fixturenames:
        yield
        return
    send = httpx2.AsyncClient.send
    broken: list[str] = []

    async def judged(client: Any, request: httpx2.Request, **options: Any) -> httpx2.Response:
        ours = "OpenAI" in request.headers["user-agent"] and request.url.host != "127.0.0.1"
        if ours and request.url.path.endswith("/chat/completions"):
            body = json.loads(request.content)
            rules = judges.broken_rules(str(request.url), body)
            broken.extend(judges.verdict(words, body) for words in rules)
        return await send(client, request, **options)

    monkeypatch.setattr(httpx2.AsyncClient, "send", judged)
    yield
    assert not broken, broken[0]


@pytest.fixture(autouse=True)
def nothing_of_earlier_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test's rows are rolled back, and what the process remembers of quotas and announcements
    with them. It is not read again in mid-test, where statements may be counted."""
    quota.forget()
    monkeypatch.setattr(quota, "READ_SECONDS", float("inf"))
    monkeypatch.setattr(announcement, "_known", (float("inf"), []))


@pytest.fixture(autouse=True)
def no_endpoint_is_defined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until a test defines one, which then holds at once; many tests have no database to ask."""
    monkeypatch.setattr(available, "KEPT_SECONDS", float("inf"))
    available.forget()
    available._kept[None] = available._Kept([], float("inf"))
    # what a thread of its own would write is not in the test's transaction
    monkeypatch.setattr(health, "note", lambda endpoint, error: None)


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("alice")


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create_user("bob")


@pytest.fixture
def accounts(settings: Settings) -> None:
    """The server is one where people log in; nothing that they did is counted yet."""
    settings.ACCOUNTS = True
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    count_anew(settings)


def browser(user: User) -> Client:
    """A browser in which a person is logged in."""
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def web(accounts: None, alice: User) -> Client:
    """Alice's browser, on a server where people log in."""
    return browser(alice)


@pytest.fixture
def bobs_web(accounts: None, bob: User) -> Client:
    """Bob's browser, there too."""
    return browser(bob)


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create_superuser("olga")


@pytest.fixture
def desk(accounts: None, operator: User) -> Client:
    """The operator's browser, there too."""
    return browser(operator)


@pytest.fixture
def by(alice: User) -> Editor:
    """Alice, by hand."""
    return Editor.person(alice)


@pytest.fixture
def agent(alice: User) -> Agent:
    """Alice's agent, which knows Bob's name."""
    memory = ChatMemory(human="Name: Bob", persona="You are a helpful assistant")
    return Agent.create(alice, "Tutor", memory, system_prompt="You are a tutor.")


@pytest.fixture
def human(agent: Agent) -> Block:
    """A block of Alice's agent."""
    block = agent.block("human")
    assert block is not None
    return block


@pytest.fixture
def shared(agent: Agent, human: Block, alice: User) -> Agent:
    """A second agent that holds the same block."""
    other = Agent.objects.create(owner=alice, name="Second")
    other.attach(human)
    return other


@pytest.fixture
def rex(agent: Agent, by: Editor) -> Passage:
    return Passage.insert(agent, "Rex is a dog", ["pets", "Bob, too"], by=by)


@pytest.fixture
def shout(alice: User) -> Tool:
    return Tool.from_source(alice, SHOUT)


@pytest.fixture
def caller(agent: Agent) -> Caller:
    """The agent in a step."""
    run = Run.objects.create(**of(agent), key="k", text="Hello", status=Run.Status.RUNNING)
    return Caller(agent, Step.objects.create(run=run, number=1, model="m", endpoint="e"), "call-1")


@pytest.fixture
def team(alice: User) -> Block:
    """A block of Alice's that no agent holds."""
    return Block.objects.create(owner=alice, label="team", value="Ten people")


@pytest.fixture
def bobs(bob: User) -> Agent:
    """Bob's agent, without blocks."""
    return Agent.create(bob, "Planner", BasicBlockMemory())


@pytest.fixture
def own(db: None) -> Agent:
    """An agent of the one owner of a server without accounts."""
    return Agent.create(owner(), "Own", ChatMemory(human="Name: Bob"))


@pytest.fixture(scope="session")
def anywhere() -> Iterator[openai.OpenAI]:
    """One client for all tests: it takes longer to make than a test to run."""
    with openai.OpenAI(base_url="http://unused", api_key="any", max_retries=0) as client:
        yield client


@pytest.fixture
def model(settings: Settings) -> Iterator[FakeOpenAI]:
    """The scripted model, behind a real socket; everything asks it."""
    with FakeOpenAI() as server:
        settings.OPENAI_BASE_URL = server.base_url
        settings.OPENAI_API_KEY = ""
        settings.MODEL = "fake-model"
        settings.MODEL_TIMEOUT = 5.0
        model_lists.forget()
        facts.forget()
        yield server


@pytest.fixture
def bed(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Bed:
    """Endpoints at any address, which refuse and send what real servers do; nothing waits."""
    settings.ENDPOINTS, settings.ENDPOINT_KEYS = {}, {}
    bed = Bed(settings.ENDPOINTS)
    monkeypatch.setattr(failures, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", bed.handle)
    return bed


@pytest.fixture
def talk(agent: Agent) -> Talk:
    """A conversation with Alice's agent."""
    return Talk(agent)


@pytest.fixture
def ask(agent: Agent, model: FakeOpenAI) -> Ask:
    """Send the agent a message and execute the run here and now."""
    keys = iter(range(1000))

    def send(text: str = "Hello", of: Agent = agent, images: Sequence[str] = ()) -> Run:
        run = of.send(text, f"key-{next(keys)}", images)
        run_agent(run.pk)
        run.refresh_from_db()
        return run

    return send
