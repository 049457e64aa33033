"""A step's exact request: shown, proven, and compared with what would be sent now."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.ledger import request_diff
from agents.ledger.request_diff import compare, lines_compared
from agents.llm.dialects import STRICTEST
from agents.llm.rendering import Stored, rendered
from agents.models import Agent, Editor, Message, Step
from agents.text.diff import Work
from agents.text.json import pretty_value
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.work import calls_of

APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie — ümlauts 日本"})


def request_page(web: Client, step: Step) -> str:
    answer = web.get(reverse("step_request", args=[step.run.agent_id, step.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_steps_request_is_shown_proven_and_can_be_had_as_it_was_sent(
    agent: Agent, model: FakeOpenAI, ask: Ask, web: Client
) -> None:
    model.script(calls(APPEND), text("Noted."))
    ask("I like pie")
    first, second = Step.objects.order_by("pk")
    html = request_page(web, first)
    assert "Verified: this is what was sent, byte for byte." in html
    assert first.request_sha256 in html
    assert "The request of step 1" in html
    for step, raw in zip((first, second), model.raw_bodies, strict=True):
        answer = web.get(reverse("step_request_raw", args=[agent.pk, step.pk]))
        assert answer.content == raw
        assert answer["Content-Type"] == "application/json"
        assert answer["Content-Disposition"] == f'attachment; filename="request-{step.pk}.json"'


def test_a_request_that_was_changed_since_is_said_not_to_be_proven(
    agent: Agent, ask: Ask, web: Client
) -> None:
    ask("Hello")
    Message.objects.filter(role="user").update(content="Something else")
    step = Step.objects.get()
    html = request_page(web, step)
    assert "Not verified" in html
    assert "Verified: this" not in html
    raw = web.get(reverse("step_request_raw", args=[agent.pk, step.pk]))
    assert "not-proven" in raw["Content-Disposition"]


def test_a_step_whose_request_was_not_kept_says_so(agent: Agent, ask: Ask, web: Client) -> None:
    ask("Hello")
    Step.objects.update(request={})
    step = Step.objects.get()
    assert "was not kept" in request_page(web, step)
    assert web.get(reverse("step_request_raw", args=[agent.pk, step.pk])).status_code == 404


def test_what_would_be_context_now_is_beside_it_with_the_differences(
    agent: Agent, model: FakeOpenAI, ask: Ask, web: Client
) -> None:
    ask("Hello")
    block = agent.block("human")
    assert block
    block.replace("Bob", "Sarah", by=Editor.person(agent.owner))
    agent.configure(tools=["core_memory_append"], model="another-model")
    html = request_page(web, Step.objects.get())
    assert re.search(r'<span class="removed">[^<]*Name: Bob\\n', html)
    assert re.search(r'<span class="added">[^<]*Name: Sarah\\n', html)
    assert '<span class="removed">&quot;fake-model&quot;</span>' in html
    assert '<span class="added">&quot;another-model&quot;</span>' in html
    gone = html[html.index('aria-label="core_memory_replace"') :]
    assert "It would not be sent any more." in gone[: gone.index("</section>")]
    answer = html[html.index("Message 2 · assistant") :]
    assert "It was not sent." in answer[: answer.index("</section>")]
    first = html[html.index("Message 1 · user") :]
    assert "The same." in first[: first.index("</section>")]


def test_what_left_the_context_is_told_as_not_sent_any_more(
    agent: Agent, model: FakeOpenAI, ask: Ask, web: Client
) -> None:
    agent.configure(context_window=2000)
    model.default = text("I see. " * 60)
    for _ in range(8):
        ask("And then " * 40)
    step = Step.objects.order_by("pk")[0]
    html = request_page(web, step)
    first = html[html.index("Message 1 · user") :]
    assert "It would not be sent any more." in first[: first.index("</section>")]
    assert "Verified: this" in html


@pytest.mark.parametrize(
    ("old", "new"),
    [("a\nb\nc", "a\nx\nc"), ("", "a"), ("a\na\na", "a\na"), ("same", "same"), ("a\nb", "b\na")],
)
def test_compared_lines_give_both_texts_again(old: str, new: str) -> None:
    pieces = list(lines_compared(old.split("\n"), new.split("\n"), Work()))
    assert "\n".join(p.text for p in pieces if p.kind != "added") == old
    assert "\n".join(p.text for p in pieces if p.kind != "removed") == new


def test_line_breaks_are_shown_and_backslashes_are_not_taken_for_them() -> None:
    assert pretty_value("a\nb") == '"a\\n\nb"'
    assert pretty_value("a\\nb") == '"a\\\\nb"'


def test_large_requests_are_compared_in_bounded_work() -> None:
    """500 kB on either side, half of the messages gone, the system message another."""

    def body(first: int, word: str) -> tuple[str, list[Any]]:
        history = [
            each
            for n in range(first, first + 3000)
            for each in rendered([Stored(n, "user", f"{n} the same words " * 9, [], "")], STRICTEST)
        ]
        system = {"role": "system", "content": "\n".join(f"{word} {n % 7}" for n in range(4000))}
        messages = ",".join([json.dumps(system), *(each.json for each in history)])
        return f'{{"model":"m","messages":[{messages}]}}', history

    old, old_history = body(0, "old")
    new, new_history = body(1500, "new")
    assert len(old) > 500_000
    groups: list[request_diff.Group] = []
    calls_of(lambda: groups.extend(compare(old, old_history, new, new_history)), most=2_000_000)
    assert [group.differing for group in groups] == [0, 1, 3000]
    titles = [row.title for row in groups[-1].rows]
    assert titles[0] == "Message 0 · user"
    assert titles[-1] == "Message 4,499 · user"
    assert request_diff.GROUPS[3] == groups[-1].title
