"""Tools that users write: read off their source, stored, held by agents."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from pytest_django import DjangoAssertNumQueries, Settings

from agents.models import Agent, Tool
from agents.tools import of_agent, schemas
from agents.tools.custom import CustomTool, SourceError, prepare, read_source
from agents.tools.custom.sandbox import Limits, limits_of
from tests.support.custom_tools import MODELS, POP, PUSH, PUSH_BY_CLIENT


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
        ('def f(x: int):\n    """D."""', "does not describe the argument 'x' of f"),
        ('def f(x: int):\n    """D.\n\n    Args:\n        y: z"""', "argument 'x' of f"),
        ('def f(x: set):\n    """D.\n\n    Args:\n        x: y"""', "set is not supported"),
        ('def f(x: Dict[int, str]):\n    """D.\n    Args:\n        x: y"""', "must be str"),
        (
            'def f(x: int = "a"):\n    """D.\n    Args:\n        x: y"""',
            "which is not of the type int",
        ),
        ('def f(x: int = g()):\n    """D.\n    Args:\n        x: y"""', "g() is not a constant"),
        ('def f(*x):\n    """D."""', "by its name"),
        ('async def f():\n    """D."""', "not 'async def'"),
        ("a" + ".b" * 40_000, "nested too deeply"),
        ("-" * 90_000 + "1", "nested too deeply"),
        ("x" * 100_001, "at most 100,000 are allowed"),
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
        (f'def {"f" * 65}():\n    """D."""', {}, "name", "at most 64 are allowed"),
        ('def é():\n    """D."""', {}, "name", "not a valid tool name"),
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
    assert limits_of(made) == Limits(4, 64)
    settings.TOOL_SECONDS, settings.TOOL_MEGABYTES = 2.0, 128
    assert limits_of(made) == Limits(2.0, 128)
    assert limits_of(Tool.from_source(alice, POP, megabytes=100)) == Limits(2.0, 100)


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
