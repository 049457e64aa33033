"""Images in agent files: as Letta writes them, there and back."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from agents.agent_file import AgentFileError, export_agent, import_agent, limits
from agents.models import Agent, Image, Message, Run
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI
from tests.support.pictures import SVG, picture


@pytest.fixture
def file(agent: Agent, model: FakeOpenAI, ask: Ask) -> Any:
    """Of an agent that was shown two pictures, one of them twice."""
    keys = [Image.add(agent, picture(width)).sha256 for width in (30, 40)]
    ask("See", images=keys)
    ask("", images=keys[:1])
    return json.loads(json.dumps(export_agent(agent)))


def of_another_program(file: Any) -> Any:
    """The same without what only this program reads."""
    return {name: value for name, value in copy.deepcopy(file).items() if name != "memoryweb"}


def messages_of(agent: Agent) -> list[Any]:
    rows = Message.objects.filter(agent=agent, role="user").order_by("number")
    return [(row.content, [part["width"] for part in row.images]) for row in rows]


@pytest.mark.parametrize("own", [True, False])
def test_they_come_back(file: Any, bob: User, own: bool) -> None:
    made = import_agent(bob, file if own else of_another_program(file))
    assert messages_of(made.agent) == [("See", [30, 40]), ("", [30])]
    images = Image.objects.filter(agent=made.agent)
    assert [(image.width, image.is_named) for image in images.order_by("width")] == [
        (30, True),
        (40, True),
    ]
    assert not [note for note in made.notes if "image" in note]
    again = export_agent(made.agent)["agents"][0]["messages"]
    assert [each["content"] for each in again if each["role"] == "user"] == [
        each["content"] for each in file["agents"][0]["messages"] if each["role"] == "user"
    ]
    assert set(Run.objects.filter(agent=made.agent).values_list("reason", flat=True)) == {
        "end_turn"
    }


def test_they_are_written_as_lettas_parts(file: Any) -> None:
    said = [each["content"] for each in file["agents"][0]["messages"] if each["role"] == "user"]
    assert [[part["type"] for part in content] for content in said] == [
        ["text", "image", "image"],
        ["image"],
    ]
    source = said[0][1]["source"]
    assert (source["type"], source["media_type"]) == ("base64", "image/png")
    assert base64.b64decode(source["data"]).startswith(b"\x89PNG")


def test_what_cannot_be_read_is_left_out_and_said(file: Any, bob: User) -> None:
    given = of_another_program(file)
    content = next(each for each in given["agents"][0]["messages"] if each["role"] == "user")
    bad = base64.b64encode(SVG).decode()
    content["content"][1]["source"]["data"] = bad
    content["content"][2] = {"type": "image", "source": {"type": "url", "url": "https://x.y/z"}}
    made = import_agent(bob, given)
    assert messages_of(made.agent) == [("See", []), ("", [30])]
    assert "1 message held a file, or an image that cannot be read here: left out." in [
        note.replace("2 messages", "1 message") for note in made.notes
    ]


def test_there_are_at_most_so_many(file: Any, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_IMAGES_OF_AGENT", 2)
    with pytest.raises(AgentFileError, match="more than 2 images"):
        import_agent(bob, file)
    assert not Agent.objects.filter(owner=bob).exists()
