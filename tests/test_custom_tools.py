"""Tools that users write: read off their source, run in the sandbox, on drafts of the memory."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import psutil
import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import close_old_connections, connection, transaction
from pytest_django import DjangoAssertNumQueries, Settings

from agents.memory import BasicBlockMemory, TaskMemory
from agents.models import (
    Agent,
    Block,
    BlockEdit,
    Editor,
    Event,
    MemoryRefusal,
    Passage,
    Run,
    Step,
    Tool,
)
from agents.models.share import BlockShare
from agents.tools import Caller, ToolError, of_agent, schemas
from agents.tools.custom import (
    CustomTool,
    Prepared,
    SourceError,
    Stale,
    available,
    from_row,
    prepare,
    read_source,
    sandbox,
)
from agents.tools.custom.sandbox import Limits

PUSH = '''
def push(agent_state: "AgentState", task: str):
    """
    Put a task into the queue.

    Args:
        task (str): What there is to do.

    Returns:
        Optional[str]: None, always.
    """
    import json
    queue = json.loads(agent_state.memory.get_block("tasks").value)
    queue.append(task)
    agent_state.memory.update_block_value("tasks", json.dumps(queue))
    return None
'''
POP = '''
def pop(agent_state: "AgentState"):
    """Take the next task."""
    import json
    queue = json.loads(agent_state.memory.get_block("tasks").value)
    if not queue:
        return None
    print("QUEUE:", queue)
    agent_state.memory.update_block_value("tasks", json.dumps(queue[1:]))
    return queue[0]
'''
PUSH_BY_CLIENT = '''
def push(agent_state: "AgentState", task: str):
    """Put a task into the queue.

    Args:
        task (str): What there is to do.
    """
    from letta_client import Letta
    import json

    client = Letta(base_url="http://127.0.0.1:1")
    block = client.agents.blocks.retrieve(
        agent_id=agent_state.id,
        block_label="tasks",
    )
    queue = json.loads(block.value)
    queue.append(task)
    client.agents.blocks.modify(
        agent_id=agent_state.id,
        value=json.dumps(queue),
        block_label="tasks"
    )
    return None
'''
POP_BY_CLIENT = '''
def pop(agent_state: "AgentState"):
    """Take the next task."""
    from letta_client import Letta as Client
    import json

    client = Client(token="none")
    block = client.agents.blocks.retrieve(agent_state.id, block_label="tasks")
    queue = json.loads(block.value)
    if len(queue) == 0:
        return None
    client.agents.blocks.update("tasks", agent_id=agent_state.id, value=json.dumps(queue[1:]))
    return queue[0]
'''


@pytest.fixture
def agent(alice: User) -> Agent:
    """Alice's agent, with a queue of tasks."""
    return Agent.create(alice, "Worker", TaskMemory(human="Bob", persona="I work", tasks=[]))


@pytest.fixture
def caller(agent: Agent) -> Caller:
    run = Run.objects.create(agent=agent, key="k", text="Hello", status=Run.Status.RUNNING)
    return Caller(agent, Step.objects.create(run=run, number=1, model="m", endpoint="e"), "call-1")


def tool(owner: User, body: str, signature: str = "agent_state", **settings: Any) -> CustomTool:
    """A tool with these lines as its body."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    described = "".join(
        f"\n        {name.split(':')[0].strip()}: what it is"
        for name in signature.split(", ")
        if ":" in name
    )
    args = f"\n\n    Args:{described}\n    " if described else ""
    source = f'def probe({signature}):\n    """Try something.{args}"""\n{lines}\n'
    return from_row(Tool.from_source(owner, source, **settings))


def tried(agent: Agent, body: str, **settings: Any) -> Prepared:
    return tool(agent.owner, body, **settings).prepare(agent, {})


def value(agent: Agent, label: str) -> str:
    block = agent.block(label)
    assert block is not None
    return block.value


def complaint(error: pytest.ExceptionInfo[ValidationError]) -> dict[str, list[str]]:
    return error.value.message_dict


# -- the schema, read off the source --------------------------------------------------------------


def parameters(signature: str, described: str, before: str = "") -> dict[str, Any]:
    source = f'{before}\ndef f({signature}):\n    """Do it.\n\n    Args:\n{described}\n    """\n'
    read: dict[str, Any] = read_source(source).schema["parameters"]
    return read


def test_name_docstring_and_signature_are_the_schema() -> None:
    assert read_source(PUSH).schema == {
        "name": "push",
        "description": "Put a task into the queue.",
        "parameters": {
            "type": "object",
            "properties": {"task": {"type": "string", "description": "What there is to do."}},
            "required": ["task"],
            "additionalProperties": False,
        },
    }


def test_nothing_is_run_to_read_a_source(tmp_path: Any) -> None:
    path = tmp_path / "written"
    read = read_source(f'open({str(path)!r}, "w")\ndef f():\n    """Do it."""\n    1 / 0\n')
    assert read.name == "f"
    assert not path.exists()


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        ("str", {"type": "string"}),
        ("int", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("bool", {"type": "boolean"}),
        ("Any", {}),
        ("list", {"type": "array", "items": {}}),
        ("List[str]", {"type": "array", "items": {"type": "string"}}),
        ("dict", {"type": "object", "additionalProperties": True}),
        ("Dict[str, int]", {"type": "object", "additionalProperties": {"type": "integer"}}),
        ("Literal['a', 'b']", {"type": "string", "enum": ["a", "b"]}),
        ("Optional[int]", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("Union[int, None]", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("'int | None'", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("typing.Union[str, int]", {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
    ],
)
def test_a_type_is_a_schema(annotation: str, schema: dict[str, Any]) -> None:
    read = parameters(f"x: {annotation}", "        x: a thing")
    assert read["properties"]["x"] == {**schema, "description": "a thing"}
    assert read["required"] == ["x"]


def test_what_has_a_default_need_not_be_given() -> None:
    read = parameters(
        "a: int = 3, b: Optional[str] = None, *, c: list = []",
        "        a: A\n        b: B\n        c: C",
    )
    assert "required" not in read
    assert [p["default"] for p in read["properties"].values()] == [3, None, []]


MODELS = '''
from pydantic import BaseModel, Field
from dataclasses import dataclass

@dataclass
class Place:
    city: str
    country: str = "Latvia"

class Stop(BaseModel):
    """A stop.

    Attributes:
        nights: How long.
    """
    place: Place
    nights: int = Field(1, ge=1, le=30)
    wishes: List[str] = Field(default_factory=list, description="What to see.")
'''


def test_models_of_the_source_are_written_out_where_they_are_used() -> None:
    read = parameters("stops: List[Stop]", "        stops: where to go", MODELS)
    stop = read["properties"]["stops"]["items"]
    assert stop["required"] == ["place"]
    assert stop["properties"]["place"]["properties"]["country"] == {
        "type": "string",
        "default": "Latvia",
    }
    assert stop["properties"]["nights"] == {
        "type": "integer",
        "default": 1,
        "minimum": 1,
        "maximum": 30,
        "description": "How long.",
    }
    assert stop["properties"]["wishes"]["description"] == "What to see."
    assert "$ref" not in str(read)


def test_what_the_server_gives_a_tool_is_never_in_its_schema() -> None:
    read = read_source(
        'def f(self, agent_state: "AgentState", request_heartbeat: bool = False):\n'
        '    """Do it."""\n'
    )
    assert read.schema["parameters"]["properties"] == {}


def test_a_docstring_may_be_laid_out_in_many_ways() -> None:
    read = parameters(
        "a: str, b: Dict[str, int], c: str",
        "      a(str): words\n        over two lines\n\n"
        "      b (Dict[str, int]):\n          numbers: by name\n      c  : C\n\n"
        "    Raises:\n      d: no",
    )
    said = {name: p["description"] for name, p in read["properties"].items()}
    assert said == {"a": "words over two lines", "b": "numbers: by name", "c": "C"}


def test_the_last_public_function_is_the_tool_unless_another_is_named() -> None:
    source = (
        'def a():\n    """A."""\ndef b():\n    """B."""\ndef _c():\n    """C."""\n'
        'class D:\n    def d(self):\n        """D."""\n'
    )
    assert read_source(source).name == "b"
    assert read_source(source, "a").description == "A."


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "no public function"),
        ("x = 1", "no public function"),
        ("def f(:", "not Python: invalid syntax in line 1"),
        ("def f(x):\n    return 1\nreturn 2", "'return' outside function in line 3"),
        ("x = '\0'", "not Python"),
        ("def f(): pass", "f has no docstring"),
        ('def f():\n    """Args:\n        x: a thing"""', "f has no docstring that says what"),
        ('def f(x):\n    """D.\n\n    Args:\n        x: y"""', "The type of the argument 'x' of f"),
        ('def f(x: int):\n    """D."""', "says nothing of the argument 'x' of f"),
        ('def f(x: int):\n    """D.\n\n    Args:\n        y: z"""', "argument 'x' of f"),
        ('def f(x: set):\n    """D.\n\n    Args:\n        x: y"""', "the type set is not one of"),
        ('def f(x: Dict[int, str]):\n    """D.\n    Args:\n        x: y"""', "must be str"),
        ('def f(x: int = "a"):\n    """D.\n    Args:\n        x: y"""', "'a', which is no int"),
        ('def f(x: int = g()):\n    """D.\n    Args:\n        x: y"""', "g() is not a constant"),
        ('def f(*x):\n    """D."""', "by its name"),
        ('async def f():\n    """D."""', "not 'async def'"),
        ("a" + ".b" * 40_000, "nested too deeply"),
        ("-" * 90_000 + "1", "nested too deeply"),
        ("x" * 100_001, "100,000 is the most"),
        (
            'class A(BaseModel):\n    a: int = X\ndef f():\n    """D."""',
            "The field 'a' of A: X is not a constant",
        ),
        (
            'class A(BaseModel):\n    a: "A"\ndef f(x: A):\n    """D.\n    Args:\n        x: y"""',
            "A contains itself",
        ),
        (
            "\n".join(f"class A{n}(BaseModel):\n a: A{n + 1}\n b: A{n + 1}" for n in range(30))
            + '\nclass A30(BaseModel):\n a: int\ndef f(x: A0):\n """D.\n Args:\n  x: y"""',
            "too many parts",
        ),
    ],
)
def test_a_source_that_is_no_tool_is_told_why(source: str, words: str) -> None:
    with pytest.raises(SourceError) as error:
        read_source(source)
    assert words in str(error.value)
    assert str(error.value).endswith((".", "'."))


# -- the row ---------------------------------------------------------------------------------------


def test_a_tool_is_made_of_its_source_and_made_anew_by_its_name(alice: User, bob: User) -> None:
    first = Tool.from_source(alice, PUSH, tags=["queue"], seconds=2)
    again = Tool.from_source(alice, PUSH_BY_CLIENT.replace("Put", "Push"))
    bobs = Tool.from_source(bob, PUSH)
    assert first.pk == again.pk != bobs.pk
    again.refresh_from_db()
    assert (again.description, again.tags, again.seconds) == (
        "Push a task into the queue.",
        ["queue"],
        2,
    )
    assert again.json_schema["description"] == "Push a task into the queue."
    assert "letta_client" in again.source
    assert list(Tool.objects.visible_to(bob)) == [bobs]


def test_an_indented_source_with_the_line_ends_of_a_form_is_a_source(alice: User) -> None:
    made = Tool.from_source(alice, '    def f():\r\n        """Do it."""\r\n        return 1\r\n')
    assert made.source == 'def f():\n    """Do it."""\n    return 1\n'


@pytest.mark.parametrize(
    ("source", "settings", "field", "words"),
    [
        ("x = 1", {}, "source", "no public function"),
        (PUSH, {"name": "pull"}, "source", "no function 'pull'"),
        ('def core_memory_append():\n    """D."""', {}, "name", "a built-in tool"),
        (f'def {"f" * 65}():\n    """D."""', {}, "name", "64 is the most"),
        ('def é():\n    """D."""', {}, "name", "no name for a tool"),
        (PUSH, {"seconds": 5.5}, "seconds", "at most 5 s"),
        (PUSH, {"seconds": 0}, "seconds", "more than 0"),
        (PUSH, {"seconds": float("nan")}, "seconds", "more than 0"),
        (PUSH, {"megabytes": 65}, "megabytes", "at most 64 MB"),
        (PUSH, {"return_char_limit": 50_001}, "return_char_limit", "50000"),
        (PUSH, {"tags": ["a", 1]}, "tags", "a list of texts"),
    ],
)
def test_what_is_no_tool_is_refused_field_by_field(
    source: str, settings: dict[str, Any], field: str, words: str, alice: User
) -> None:
    with pytest.raises(ValidationError) as error:
        Tool.from_source(alice, source, **settings)
    assert words in complaint(error)[field][0]
    assert not Tool.objects.exists()


def test_the_operator_raises_and_lowers_what_a_tool_may_take(
    alice: User, settings: Settings
) -> None:
    made = Tool.from_source(alice, PUSH, seconds=4)
    assert made.limits() == Limits(4, 64)
    settings.TOOL_SECONDS, settings.TOOL_MEGABYTES = 2.0, 128
    assert made.limits() == Limits(2.0, 128)
    assert Tool.from_source(alice, POP, megabytes=100).limits() == Limits(2.0, 100)


# -- running ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("push", "pop"), [(PUSH, POP), (PUSH_BY_CLIENT, POP_BY_CLIENT)])
def test_both_ways_to_keep_a_queue_work(push: str, pop: str, caller: Caller) -> None:
    agent = caller.agent
    pushing = from_row(Tool.from_source(agent.owner, push))
    popping = from_row(Tool.from_source(agent.owner, pop))
    for task in ("wash", "dry"):
        assert pushing.function(caller, **pushing.parse(f'{{"task": "{task}"}}')) == "None"
    assert value(agent, "tasks") == '["wash", "dry"]'
    assert [popping.function(caller) for _ in range(3)] == ["wash", "dry", "None"]
    assert value(agent, "tasks") == "[]"
    edits = BlockEdit.objects.order_by("pk")
    assert [e.after for e in edits] == ['["wash"]', '["wash", "dry"]', '["dry"]', "[]"]
    assert {(e.editor_kind, e.step, e.tool_call_id) for e in edits} == {
        ("agent", caller.step, "call-1")
    }


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("None", "None"),
        ("'words'", "words"),
        ("['a', 1, None]", "['a', 1, None]"),
        ("{'a': 'ü', 'b': [True]}", '{"a": "ü", "b": [true]}'),
        ("{1: {2, 2}}", "{1: {2}}"),
        ("3.5", "3.5"),
        ("agent_state.name", "Worker"),
    ],
)
def test_what_is_returned_is_text(returned: str, text: str, agent: Agent) -> None:
    ran = tried(agent, f"return {returned}")
    assert (ran.returned, ran.error) == (text, "")


def test_print_is_stdout(agent: Agent) -> None:
    ran = tried(agent, "import sys\nprint('one', 2)\nprint('three', file=sys.stderr)\nreturn 'r'")
    assert (ran.stdout, ran.returned) == ("one 2\nthree\n", "r")


def test_output_is_cut_with_a_note(agent: Agent) -> None:
    ran = tried(agent, "print('p' * 60_000)\nreturn 'r' * 70_000")
    assert ran.stdout == f"{'p' * 50_000}\n[Cut here: 10,001 of 60,001 characters left out.]"
    assert ran.returned == f"{'r' * 50_000}\n[Cut here: 20,000 of 70,000 characters left out.]"
    ran = tried(agent, "return 'r' * 101", return_char_limit=100)
    assert ran.returned == f"{'r' * 100}\n[Cut here: 1 of 101 characters left out.]"


def test_arguments_are_checked_before_the_sandbox_is_entered(agent: Agent) -> None:
    probe = tool(agent.owner, "return x", "x: int, y: str = 'b'")
    assert probe.parse('{"x": 1}') == {"x": 1, "y": "b"}
    for given, words in (
        ('{"x": "1"}', "probe was not called: the argument 'x'"),
        ("{}", "probe was not called: the argument 'x' is missing"),
        ('{"x": 1, "z": 2}', "probe was not called: there is no argument 'z'"),
        ('{"x": 1, "y": 2}', "probe was not called: the argument 'y' must be a string"),
        ('{"x": 1, "agent_state": {}}', "there is no argument 'agent_state'"),
    ):
        with pytest.raises(ToolError, match=words):
            probe.parse(given)


def test_arguments_made_of_models_arrive_as_these(agent: Agent) -> None:
    source = (
        MODELS
        + '''
def f(stops: List[Stop], by_name: Dict[str, Optional[Place]]):
    """Do it.

    Args:
        stops: where to go
        by_name: places
    """
    first = stops[0]
    assert isinstance(first, Stop) and isinstance(first.place, Place)
    mine = Stop(place=Place("Oslo", "Norway"), nights=2)
    first.wishes.append("the sea")
    return [first.place.city, first.place.country, first.nights, first.wishes, mine.wishes,
            mine.model_dump()["nights"], by_name["a"].city, by_name["b"]]
'''
    )
    made = from_row(Tool.from_source(agent.owner, source))
    arguments = made.parse(
        '{"stops": [{"place": {"city": "Riga"}}], "by_name": {"a": {"city": "Bonn"}, "b": null}}'
    )
    ran = made.prepare(agent, arguments)
    assert ran.error == ""
    assert ran.returned == "['Riga', 'Latvia', 1, ['the sea'], [], 2, 'Bonn', None]"


def test_the_line_of_a_failure_is_that_of_the_source_as_it_was_written(agent: Agent) -> None:
    source = """from pydantic import (
    BaseModel,
)
class A(
    BaseModel,
    extra="forbid",
):
    x: int = 3
def f(a: A, self, request_heartbeat: bool = True):
    '''Do it.

    Args:
        a: an A
    '''
    if request_heartbeat or self.memory.get_block("human").value != "Bob":
        return "wrong"
    raise ValueError(f"{a.x}")
"""
    made = from_row(Tool.from_source(agent.owner, source))
    ran = made.prepare(agent, made.parse('{"a": {"x": 7}}'))
    assert ran.error == "f failed and changed nothing: ValueError: 7 (line 17 of its source)"


def test_what_monty_has_of_the_standard_library_can_be_imported(agent: Agent) -> None:
    ran = tried(
        agent,
        "import json, re, math, datetime, random, collections\n"
        "from typing import Optional, TYPE_CHECKING\n"
        "return [json.dumps({'a': 1}), re.sub('a', 'b', 'aa'), math.floor(2.5),\n"
        "        datetime.date(2026, 1, 2).isoformat(), TYPE_CHECKING]",
    )
    assert ran.returned == "['{\"a\": 1}', 'bb', 2, '2026-01-02', False]"


# -- the sandbox holds -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("open('/etc/passwd').read()", "PermissionError"),
        ("open('/tmp/x', 'w').write('a')", "PermissionError"),
        ("import pathlib\npathlib.Path('/etc/passwd').read_text()", "PermissionError"),
        ("import os\nos.listdir('/')", "PermissionError"),
        ("import os\nos.system('ls')", "AttributeError"),
        ("import socket", "ModuleNotFoundError"),
        ("import subprocess", "ModuleNotFoundError"),
        ("import urllib.request", "ModuleNotFoundError"),
        ("import requests", "ModuleNotFoundError"),
        ("import agents.models", "ModuleNotFoundError"),
        ("import django", "ModuleNotFoundError"),
        ("agent_state.__class__.__subclasses__()", "AttributeError"),
        ("agent_state.memory.get_block.__globals__", "AttributeError"),
        ("agent_state.memory._drafts", "AttributeError"),
        ("agent_state.memory.__init__()", "AttributeError"),
        ("type(agent_state)('a', 'b', 'c', [], None)", "TypeError"),
        ("__import__('os')", "NameError"),
    ],
)
def test_there_is_no_way_out(body: str, error: str, agent: Agent) -> None:
    assert f"probe failed and changed nothing: {error}" in tried(agent, body).error


def test_there_is_nothing_of_ours_in_its_environment(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a secret")
    ran = tried(
        agent,
        "import os\n"
        "return [os.getenv('OPENAI_API_KEY'), os.getenv('PATH', 'none'), dict(os.environ)]",
    )
    assert ran.returned == "[None, 'none', {}]"


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "while True:\n    try:\n        pass\n    finally:\n        continue",
        "while True: print('x' * 1000)",
        "sum(range(10 ** 12))",
        "import re\nre.findall('(?=(a+))', 'a' * 50_000)",
        "int('9' * 4000) ** 5000",
    ],
)
def test_time_runs_out(body: str, agent: Agent) -> None:
    began = time.monotonic()
    ran = tried(agent, body, seconds=0.3)
    assert time.monotonic() - began < 3
    assert (
        ran.error == "probe failed and changed nothing: TimeoutError: it did not end within 0.3 s"
    )
    assert len(ran.stdout) < 51_000


def test_waiting_takes_no_time(agent: Agent) -> None:
    began = time.monotonic()
    assert tried(agent, "import time\ntime.sleep(60)\nreturn 'woke'").returned == "woke"
    assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    "body",
    [
        "x = 'a'\nwhile True: x += x",
        "[0] * 10 ** 9",
        "x = []\nwhile True: x = [x, x]",
        "list(range(10 ** 9))",
        "10 ** 10 ** 9",
        "'a'.join(['x' * 1000] * 10 ** 6)",
        "a = [1] * 1_000_000\nreturn [a] * 100_000",
        "f'{1:1000000000}'",
    ],
)
def test_memory_runs_out(body: str, agent: Agent) -> None:
    ran = tried(agent, body)
    assert "MemoryError: it needs more than 64 MB" in ran.error


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("def g(): return g()\ng()", "RecursionError"),
        ("import re\nre.match(r'(a*)*\\1b', 'a' * 5000)", "re.PatternError"),
        ("import json\njson.loads('[' * 100_000)", "json.JSONDecodeError"),
        ("while True: agent_state.memory.get_block('tasks')", "more than 1,000 times"),
        ("raise ValueError('no\\nway')", "ValueError: no\nway (line 3 of its source)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt (line 3 of its source)"),
        ("x = 1\nreturn x / 0", "ZeroDivisionError: division by zero (line 4 of its source)"),
        ("class A(dict): pass", "class inheritance"),
        ("raise ValueError('x' * 1_000_000)", "characters left out"),
    ],
)
def test_a_failure_is_a_sentence_with_error_and_line(body: str, words: str, agent: Agent) -> None:
    ran = tried(agent, body)
    assert ran.error.startswith("probe failed and changed nothing: ")
    assert words in ran.error
    assert len(ran.error) < 11_000
    assert tried(agent, "return 'the next one runs'").returned == "the next one runs"


def test_a_tool_cannot_pretend_to_have_returned_text(agent: Agent) -> None:
    source = 'def probe():\n    """Try."""\n    return 1\nstr = len = lambda _: {}\n'
    ran = from_row(Tool.from_source(agent.owner, source)).prepare(agent, {})
    assert "cannot be shown as text" in ran.error or "TypeError" in ran.error


def test_calls_out_of_the_sandbox_come_back_on_the_thread_that_entered_it() -> None:
    seen = []

    def enter() -> None:
        ask = {"probe": {"ask": lambda: seen.append(threading.get_ident())}}
        sandbox.run("import probe\nprobe.ask()", inputs={}, modules=ask, limits=Limits(1, 64))
        seen.append(threading.get_ident())

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert len(seen) == 2
    assert seen[0] == seen[1] != threading.get_ident()


def test_a_worker_that_dies_fails_one_call_and_no_other(agent: Agent) -> None:
    def kill() -> None:
        for child in psutil.Process().children():
            if child.name() == "monty":
                child.kill()

    def ask(code: str) -> sandbox.Ran:
        modules = {"probe": {"kill": kill}}
        return sandbox.run(code, inputs={}, modules=modules, limits=Limits(1, 64))

    assert "the sandbox broke down" in ask("import probe\nprobe.kill()\nprobe.kill()").error
    assert ask("1 + 1").value == 2


# -- without the sandbox ---------------------------------------------------------------------------


def test_there_is_a_sandbox() -> None:
    assert available() == (True, "")


def test_without_the_sandbox_custom_tools_are_off_and_say_so(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = tool(caller.agent.owner, "return 1")
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    monkeypatch.setattr(sandbox, "_pools", {})
    sandbox._monty.cache_clear()
    there, why = available()
    assert not there
    assert why.startswith("Custom tools are off: the sandbox they run in, pydantic-monty, cannot")
    with pytest.raises(ToolError, match="Custom tools are off"):
        probe.prepare(caller.agent, {}).apply(caller)


def test_a_sandbox_that_does_not_start_is_no_sandbox(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_pools", {})
    monkeypatch.setenv("MONTY_BIN", "/bin/false")
    there, why = available()
    assert not there
    assert "does not start" in why
    assert "does not start" in tried(agent, "return 1").error


# -- the agent's memory ----------------------------------------------------------------------------


def test_agent_state_is_the_agent_and_its_memory(agent: Agent) -> None:
    ran = tried(
        agent,
        "m = agent_state.memory\n"
        "b = m.get_block('human')\n"
        "return [agent_state.id, m.list_block_labels(), b.label, b.value, b.limit, b.read_only,\n"
        "        [x.label for x in m.blocks], m.compile()]",
    )
    block = agent.block("human")
    assert block
    assert ran.returned == str(
        [
            f"agent-{agent.pk}",
            ["persona", "human", "tasks"],
            "human",
            "Bob",
            2000,
            False,
            ["persona", "human", "tasks"],
            '<persona characters="6/2000">\nI work\n</persona>\n<human characters="3/2000">\nBob\n'
            '</human>\n<tasks characters="2/2000">\n[]\n</tasks>',
        ]
    )
    assert "What the agent knows" in block.description


def test_a_tool_reads_what_it_wrote_in_the_same_call(agent: Agent) -> None:
    ran = tried(
        agent,
        "import letta_client\n"
        "client = letta_client.Letta()\n"
        "agent_state.memory.update_block_value('human', 'Ann')\n"
        "client.agents.blocks.modify(agent_state.id, 'persona', value='Kind')\n"
        "block = client.agents.blocks.retrieve(agent_state.id, 'human')\n"
        "client.blocks.modify(block.id, value=block.value + 'a')\n"
        "return [block.value, client.blocks.retrieve(block.id).value,\n"
        "        agent_state.memory.get_block('persona').value,\n"
        "        client.agents.core_memory.retrieve_block(agent_state.id, 'human').value,\n"
        "        client.agents.retrieve(agent_state.id).memory.get_block('human').value,\n"
        "        [b.value for b in client.agents.blocks.list(agent_state.id)],\n"
        "        'Anna' in client.agents.core_memory.retrieve(agent_state.id).compile(),\n"
        "        client.agents.core_memory.retrieve(agent_state.id).prompt_template != '']",
    )
    assert ran.error == ""
    assert ran.returned == str(
        ["Ann", "Anna", "Kind", "Anna", "Anna", ["Kind", "Anna", "[]"], True, True]
    )
    assert [(c.label, c.before, c.after) for c in ran.changes] == [
        ("persona", "I work", "Kind"),
        ("human", "Bob", "Anna"),
    ]


@pytest.mark.parametrize(
    "call",
    [
        "client.agents.blocks.retrieve(agent_id={id}, block_label='human')",
        "client.agents.blocks.retrieve('human', agent_id={id})",
        "client.agents.blocks.list({id})",
        "client.agents.blocks.modify({id}, 'human', value='x')",
        "client.agents.blocks.update('human', agent_id={id}, value='x')",
        "client.agents.core_memory.retrieve({id})",
        "client.agents.core_memory.modify_block({id}, 'human', value='x')",
        "client.agents.passages.list({id})",
        "client.agents.passages.create({id}, text='x')",
        "client.agents.passages.search({id}, query='x')",
        "client.agents.retrieve({id})",
    ],
)
def test_a_tool_reaches_no_other_agent_not_even_of_the_same_person(call: str, agent: Agent) -> None:
    other = Agent.create(agent.owner, "Other", TaskMemory(human="A secret"))
    body = "from letta_client import Letta\nclient = Letta()\n" + call.format(
        id=f"'agent-{other.pk}'"
    )
    ran = tried(agent, body)
    assert f"LookupError: There is no agent agent-{other.pk} here" in ran.error
    assert "secret" not in ran.error


def test_a_tool_reaches_no_block_that_the_agent_does_not_hold(agent: Agent) -> None:
    other = Agent.create(agent.owner, "Other", TaskMemory(human="A secret"))
    block = other.block("human")
    assert block
    for call in (f"retrieve('block-{block.pk}')", f"modify('block-{block.pk}', value='x')"):
        ran = tried(agent, f"from letta_client import Letta\nLetta().blocks.{call}")
        assert "LookupError: There is no block" in ran.error


@pytest.mark.parametrize(
    ("write", "error", "words"),
    [
        ("('human', 'x' * 2001)", "ValueError", "2,001 of 2,000 characters; shorten it by 1"),
        ("('human', ['x'])", "TypeError", "must be a string, not list"),
        ("('human', 'a\\x00')", "ValueError", "cannot hold the character"),
        ("('persona', 'x')", "ValueError", "read-only"),
        ("('tasks', '[]\\n1. wash')", "ValueError", "would no longer be JSON"),
        ("('dog', 'x')", "LookupError", "the blocks are: 'persona', 'human', 'tasks'"),
    ],
)
def test_a_write_that_the_block_refuses_is_an_exception_the_tool_can_see(
    write: str, error: str, words: str, agent: Agent
) -> None:
    agent.blocks.filter(label="persona").update(read_only=True)
    ran = tried(
        agent,
        f"try:\n    agent_state.memory.update_block_value{write}\n"
        f"except {error} as error:\n    return str(error)",
    )
    assert words in ran.returned
    assert not ran.changes
    assert error in tried(agent, f"agent_state.memory.update_block_value{write}").error


def test_a_block_that_was_shared_to_be_read_is_only_read(agent: Agent, bob: User) -> None:
    block = Block.objects.create(owner=bob, label="bobs", value="Bob's")
    BlockShare.objects.create(block=block, user=agent.owner, can_write=False)
    agent.attachments.create(block=block, label="bobs", position=9)
    ran = tried(
        agent,
        "m = agent_state.memory\n"
        "print(m.get_block('bobs').value)\n"
        "m.update_block_value('bobs', '')",
    )
    assert ran.stdout == "Bob's\n"
    assert "shared to be read only" in ran.error


def test_archival_memory_is_written_with_the_return_and_seen_by_the_call_before(
    caller: Caller,
) -> None:
    agent = caller.agent
    by = Editor.person(agent.owner)
    for text in ("Sarah loves cats", "Riga is in Latvia"):
        Passage.insert(agent, text, ["old"], by=by)
    ran = tried(
        agent,
        "from letta_client import Letta\n"
        "passages = Letta().agents.passages\n"
        "made = passages.create(agent_id=agent_state.id, text='Bob loves terriers', tags=['new'])\n"
        "found = passages.search(agent_state.id, query='loves', top_k=5)\n"
        "return [made[0].text, [p.text for p in passages.list(agent_state.id)],\n"
        "        [p.text for p in passages.list(agent_state.id, limit=1, ascending=False)],\n"
        "        [p.text for p in passages.list(agent_state.id, search='riga')],\n"
        "        found.count, [r.content for r in found.results],\n"
        "        [r.content for r in\n"
        "         passages.search(agent_state.id, 'loves', tags=['old']).results]]",
    )
    assert ran.error == ""
    assert ran.returned == str(
        [
            "Bob loves terriers",
            ["Sarah loves cats", "Riga is in Latvia", "Bob loves terriers"],
            ["Bob loves terriers"],
            ["Riga is in Latvia"],
            2,
            ["Bob loves terriers", "Sarah loves cats"],
            ["Sarah loves cats"],
        ]
    )
    assert agent.passages.count() == 2
    with transaction.atomic():
        ran.apply(caller)
    stored = agent.passages.get(text="Bob loves terriers")
    assert (stored.tags, stored.step, stored.editor_kind) == (["new"], caller.step, "agent")


def test_one_call_puts_away_and_searches_only_so_often(agent: Agent) -> None:
    start = "from letta_client import Letta\np = Letta().agents.passages\n"
    ran = tried(agent, f"{start}for n in range(101): p.create(agent_state.id, text='x')")
    assert "One call may put away 100 passages" in ran.error
    ran = tried(agent, f"{start}for n in range(21): p.search(agent_state.id, query='x')")
    assert "One call may search 20 times" in ran.error
    assert (
        "ValueError: The passage is empty"
        in tried(agent, f"{start}p.create(agent_state.id, text=' ')").error
    )


# -- kept or not -----------------------------------------------------------------------------------


def test_a_call_that_was_only_prepared_has_changed_nothing(caller: Caller) -> None:
    agent = caller.agent
    events = agent.events.count()
    push = from_row(Tool.from_source(agent.owner, PUSH))
    ran = push.prepare(agent, {"task": "wash"})
    (change,) = ran.changes
    assert (change.label, change.before, change.after) == ("tasks", "[]", '["wash"]')
    assert {kind for kind, _ in change.pieces()} != {"same"}
    assert value(agent, "tasks") == "[]"
    assert (agent.events.count(), BlockEdit.objects.count()) == (events, 0)


def test_a_call_that_is_kept_is_one_edit_a_block_with_its_event(caller: Caller) -> None:
    agent = caller.agent
    ran = tried(
        agent,
        "for n in range(3):\n"
        "    agent_state.memory.update_block_value('tasks', str([n]))\n"
        "agent_state.memory.update_block_value('human', 'Ann')",
    )
    with transaction.atomic():
        assert ran.apply(caller) == "None"
    edits = {e.block.label: (e.before, e.after) for e in BlockEdit.objects.all()}
    assert edits == {"tasks": ("[]", "[2]"), "human": ("Bob", "Ann")}
    assert agent.events.filter(kind=Event.Kind.BLOCK_EDITED).count() == 2


def test_a_raise_after_a_write_takes_it_back(caller: Caller) -> None:
    agent = caller.agent
    ran = tried(
        agent,
        "from letta_client import Letta\n"
        "agent_state.memory.update_block_value('human', 'Ann')\n"
        "Letta().agents.passages.create(agent_state.id, text='x')\n"
        "print('so far')\n"
        "raise RuntimeError('oh')",
    )
    assert (ran.changes, ran.passages, ran.stdout) == ([], [], "so far\n")
    with pytest.raises(ToolError, match="probe failed and changed nothing: RuntimeError: oh"):
        ran.apply(caller)
    assert value(agent, "human") == "Bob"
    assert not agent.passages.exists()


def test_what_a_call_read_must_still_read_so_when_it_is_kept(caller: Caller) -> None:
    agent = caller.agent
    push = from_row(Tool.from_source(agent.owner, PUSH))
    ran = push.prepare(agent, {"task": "wash"})
    tasks = agent.block("tasks")
    assert tasks
    tasks.set_value('["cook"]', by=Editor.person(agent.owner))
    with pytest.raises(Stale), transaction.atomic():
        ran.apply(caller)
    assert value(agent, "tasks") == '["cook"]'
    with transaction.atomic():
        push.prepare(agent, {"task": "wash"}).apply(caller)
    assert value(agent, "tasks") == '["cook", "wash"]'


def test_a_block_the_call_did_not_touch_may_change_meanwhile(caller: Caller) -> None:
    agent = caller.agent
    ran = from_row(Tool.from_source(agent.owner, PUSH)).prepare(agent, {"task": "wash"})
    human = agent.block("human")
    assert human
    human.set_value("Ann", by=Editor.person(agent.owner))
    with transaction.atomic():
        ran.apply(caller)
    assert (value(agent, "human"), value(agent, "tasks")) == ("Ann", '["wash"]')


def test_a_block_that_was_detached_meanwhile_is_not_written(caller: Caller) -> None:
    agent = caller.agent
    push = from_row(Tool.from_source(agent.owner, PUSH))
    ran = push.prepare(agent, {"task": "wash"})
    tasks = agent.block("tasks")
    assert tasks
    agent.detach(tasks)
    with pytest.raises(Stale), transaction.atomic():
        ran.apply(caller)
    assert "There is no block 'tasks'" in push.prepare(agent, {"task": "wash"}).error


def test_a_block_that_became_read_only_meanwhile_is_not_written(caller: Caller) -> None:
    agent = caller.agent
    ran = from_row(Tool.from_source(agent.owner, PUSH)).prepare(agent, {"task": "wash"})
    tasks = agent.block("tasks")
    assert tasks
    tasks.configure(read_only=True)
    with pytest.raises(MemoryRefusal, match="read-only"), transaction.atomic():
        ran.apply(caller)
    assert value(agent, "tasks") == "[]"


@pytest.mark.django_db(transaction=True)
def test_of_calls_at_the_same_time_none_is_lost(caller: Caller) -> None:
    agent = caller.agent
    push = from_row(Tool.from_source(agent.owner, PUSH))
    failures: list[Exception] = []

    def keep_on(worker: int) -> None:
        for n in range(10):
            while True:
                try:
                    ran = push.prepare(agent, {"task": f"{worker}/{n}"})
                    with transaction.atomic():
                        ran.apply(caller)
                    break
                except Stale:
                    continue
                except Exception as error:
                    failures.append(error)
                    break
        connection.close()

    workers = [threading.Thread(target=keep_on, args=(n,)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    close_old_connections()
    assert failures == []
    done = eval(value(agent, "tasks"))
    assert sorted(done) == sorted(f"{w}/{n}" for w in range(4) for n in range(10))
    assert BlockEdit.objects.count() == 40


@pytest.mark.django_db(transaction=True)
def test_calls_that_write_to_several_shared_blocks_do_not_wait_for_each_other_for_ever(
    caller: Caller,
) -> None:
    first = caller.agent
    second = Agent.create(first.owner, "Second", BasicBlockMemory())
    for block in reversed(first.core_memory()[:2]):
        second.attach(block)
    body = (
        "m = agent_state.memory\n"
        "for label in m.list_block_labels()[:2]:\n"
        "    m.update_block_value(label, m.get_block(label).value + '.')"
    )
    dot = tool(first.owner, body)
    steps = [caller]
    run = Run.objects.create(agent=second, key="k", text="Hello", status=Run.Status.RUNNING)
    step = Step.objects.create(run=run, number=1, model="m", endpoint="e")
    steps.append(Caller(second, step, "call-2"))
    failures: list[Exception] = []

    def keep_on(by: Caller) -> None:
        for _ in range(10):
            while True:
                try:
                    ran = dot.prepare(by.agent, {})
                    with transaction.atomic():
                        ran.apply(by)
                    break
                except Stale:
                    continue
                except Exception as error:
                    failures.append(error)
                    break
        connection.close()

    workers = [threading.Thread(target=keep_on, args=(by,)) for by in steps]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
    dots = sum(block.value.count(".") for block in first.core_memory())
    assert dots == 40


# -- whose tools an agent has ----------------------------------------------------------------------


def test_an_agent_has_built_in_tools_methods_and_its_owners_own_in_its_order(
    agent: Agent, bob: User
) -> None:
    Tool.from_source(agent.owner, PUSH)
    Tool.from_source(bob, POP)
    agent.tools = ["push", "task_queue_pop", "core_memory_append", "pop", "no_such"]
    found = of_agent(agent)
    assert list(found) == ["push", "task_queue_pop", "core_memory_append"]
    assert isinstance(found["push"], CustomTool)
    told = {t["function"]["name"]: t["function"] for t in schemas(of_agent(agent).values())}
    assert told["push"]["parameters"]["required"] == ["task"]
    told = {
        t["function"]["name"]: t["function"]
        for t in schemas(of_agent(agent).values(), heartbeat=True)
    }
    assert "request_heartbeat" in told["push"]["parameters"]["properties"]
    assert (
        "request_heartbeat"
        not in Tool.objects.get(name="push").json_schema["parameters"]["properties"]
    )


def test_the_database_is_asked_only_for_tools_of_ones_own(
    agent: Agent, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    Tool.from_source(agent.owner, PUSH)
    with django_assert_num_queries(0):
        assert len(of_agent(agent)) == len(agent.tools)
    agent.tools.append("push")
    with django_assert_num_queries(1):
        assert len(of_agent(agent)) == len(agent.tools)


def test_a_call_with_checked_arguments_can_be_prepared_from_the_row(agent: Agent) -> None:
    row = Tool.from_source(agent.owner, PUSH)
    assert prepare(row, agent, {"task": "wash"}).changes[0].after == '["wash"]'
