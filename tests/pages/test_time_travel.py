"""Time travel as a person sees it: the past page, what is not in it, and forks made from it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agents.models import Agent, Compaction, Editor, Event, Message, Run, Step
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.stored import of


def append(content: str, label: str = "human") -> tuple[str, dict[str, str]]:
    return "core_memory_append", {"label": label, "content": content}


@pytest.fixture
def story(agent: Agent, model: FakeOpenAI, ask: Ask) -> Agent:
    """Five steps in three runs: pie is noted in the first, cake in the third."""
    model.script(calls(append("Pie")), text("Noted."), calls(append("Cake")), text("Too."))
    ask("I like pie")
    block = agent.block("human")
    assert block
    block.replace("Bob", "Rob", by=Editor.person(agent.owner))
    ask("And cake")
    ask("Bye")
    agent.refresh_from_db()
    return agent


def at(web: Client, agent: Agent, number: int, **headers: Any) -> str:
    answer = web.get(reverse("past", args=[agent.pk, number]), headers=headers)
    assert answer.status_code == 200
    return answer.content.decode()


def part(html: str, name: str) -> str:
    """What is in the element of that id, up to the next of the page's parts."""
    return re.split(
        r'id="(?:past-said|past-log|past-memory|travel|past-fork)"', html.split(f'id="{name}"')[1]
    )[0]


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", html).split())


def test_the_past_says_what_it_is(story: Agent, web: Client) -> None:
    html = at(web, story, 3)
    assert "The past: after step 3 of 5, " in words(html)
    assert re.search(r"step 3 of 5, \d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC", words(html))
    assert "Back to now" in html
    assert re.search(r'min="1"\s+max="6"\s+value="3"', html)


def test_blocks_are_as_they_were_with_what_the_step_changed(story: Agent, web: Client) -> None:
    first, second, third = (part(at(web, story, n), "past-memory") for n in (1, 2, 3))
    assert "Name: Bob" in words(first)
    assert "<ins>" in first
    assert "changed in this step" in first
    assert "Pie" in second
    assert "<ins>" not in second
    assert "Cake" in third
    assert "Name: Rob" in words(third)
    assert "Cake" not in first + second


def test_the_conversation_ends_with_the_step(story: Agent, web: Client) -> None:
    shown = words(part(at(web, story, 3), "past-log"))
    assert "I like pie" in shown
    assert "Noted." in shown
    assert "And cake" in shown
    assert "Too." not in shown
    assert "Bye" not in shown
    assert "Another step followed" in shown
    assert "Another step followed" not in words(part(at(web, story, 4), "past-log"))


def test_the_context_is_the_one_that_was_sent(story: Agent, web: Client) -> None:
    html = part(at(web, story, 3), "past-memory")
    step = Step.objects.order_by("pk")[2]
    assert f"<b>{step.prompt_tokens:,}</b>" in html
    address = reverse("past_part", args=[story.pk, 3, "messages"])
    assert address in html
    sent = web.get(address).content.decode()
    assert "And cake" in sent
    assert "Bye" not in sent
    human = story.block("human")
    assert human
    name = f"block-{human.pk}"
    block = web.get(reverse("past_part", args=[story.pk, 3, name])).content.decode()
    assert "Pie" in block
    assert "Cake" not in block  # that came with its answer
    assert web.get(reverse("past_part", args=[story.pk, 9, name])).status_code == 404


def test_nothing_in_the_past_writes_but_the_fork(story: Agent, web: Client) -> None:
    html = at(web, story, 3)
    html = html[html.index("<main") : html.index("</main")]
    assert "hx-post" not in html
    assert "hx-ws:" not in html
    assert 'id="composer"' not in html
    posts = re.findall(r'<form[^>]*method="post"[^>]*action="([^"]+)"', html)
    own = [action for action in posts if "/agents/" in action]
    assert own == [reverse("past_fork", args=[story.pk, 3])]


def test_looking_at_the_past_changes_nothing(story: Agent, web: Client) -> None:
    before = Event.objects.count(), Message.objects.count(), story.last_seq
    for number in range(1, 6):
        at(web, story, number)
        at(web, story, number, **{"HX-Request": "true"})
    story.refresh_from_db()
    assert (Event.objects.count(), Message.objects.count(), story.last_seq) == before


def test_the_slider_gets_the_parts_that_differ(story: Agent, web: Client) -> None:
    html = at(web, story, 2, **{"HX-Request": "true"})
    targets = re.findall(r'<hx-partial hx-target="([^"]+)"', html)
    assert targets == ["#past-moment", "#past-log", "#past-memory", "#past-fork"]
    assert "<html" not in html
    assert reverse("past_fork", args=[story.pk, 2]) in html


def test_addresses_lead_to_a_step(story: Agent, web: Client) -> None:
    find, steps = reverse("past_at", args=[story.pk]), list(Step.objects.order_by("pk"))

    def led_to(**query: Any) -> str:
        return str(web.get(find, query)["Location"])

    def past(number: int) -> str:
        return reverse("past", args=[story.pk, number])

    assert led_to(at=2) == past(2)
    assert led_to(at=0) == past(1)
    assert led_to(step=steps[3].pk) == past(4)
    assert led_to() == led_to(at="x") == past(5)
    assert led_to(at=6) == reverse("agent", args=[story.pk])
    assert web.get(past(6))["Location"] == reverse("agent", args=[story.pk])
    assert web.get(past(0)).status_code == 404
    assert web.get(find, {"step": 10**12}).status_code == 404
    assert web.get(past(10**30))["Location"] == reverse("agent", args=[story.pk])


def test_an_agent_that_took_no_step_has_no_past(agent: Agent, web: Client) -> None:
    answer = web.get(reverse("past_at", args=[agent.pk]))
    assert "There is no past yet" in answer.content.decode()


def test_each_step_of_the_transcript_leads_to_its_request_and_to_its_past(
    story: Agent, web: Client
) -> None:
    html = web.get(reverse("agent", args=[story.pk])).content.decode()
    for step in Step.objects.all():
        assert reverse("step_request", args=[story.pk, step.pk]) in html
        assert f"{reverse('past_at', args=[story.pk])}?step={step.pk}" in html


def test_a_compaction_is_in_the_past_from_its_step_on(
    agent: Agent, model: FakeOpenAI, ask: Ask, web: Client
) -> None:
    agent.configure(context_window=2000)
    model.default = text("I see. " * 60)
    while not Compaction.objects.exists():
        ask("And then " * 40)
    last = Step.objects.count()
    assert "Compacted" in words(at(web, agent, last))
    assert "Compacted" not in words(at(web, agent, last - 1))
    assert "Summary" in part(at(web, agent, last), "past-memory")


def test_a_step_whose_request_was_not_kept_shows_blocks_only(story: Agent, web: Client) -> None:
    Step.objects.update(request={})
    html = part(at(web, story, 2), "past-memory")
    assert "The request of this step was not kept" in html
    assert "Pie" in html


def test_runs_that_failed_and_calls_that_failed_are_told(
    agent: Agent, model: FakeOpenAI, ask: Ask, web: Client
) -> None:
    missing = ("core_memory_replace", {"label": "human", "old_content": "X", "new_content": "Y"})
    model.script(calls(missing), text("I could not."))
    ask("Change it")
    shown = words(part(at(web, agent, 2), "past-log"))
    assert "failed" in shown
    assert "does not occur in block" in shown


# -- fork ------------------------------------------------------------------------------------------


def fork(web: Client, agent: Agent, number: int, **form: str) -> Any:
    return web.post(reverse("past_fork", args=[agent.pk, number]), form)


def test_a_fork_is_made_under_its_name_and_led_to(story: Agent, web: Client) -> None:
    answer = fork(web, story, 1, name=" Another way ")
    made = Agent.objects.get(name="Another way")
    assert answer["Location"] == reverse("agent", args=[made.pk])
    assert made.owner == story.owner
    assert [block.value for block in made.core_memory()][1] == "Name: Bob\nPie"
    html = web.get(answer["Location"]).content.decode()
    assert "I like pie" in html
    assert "And cake" not in html


def test_a_fork_without_a_name_is_called_after_its_step(story: Agent, web: Client) -> None:
    assert 'value="Tutor, forked at step 2"' in at(web, story, 2)
    fork(web, story, 2, name="  ")
    assert Agent.objects.filter(name="Tutor, forked at step 2").exists()
    fork(web, story, 2, name="A\0B")
    assert Agent.objects.filter(name="A\ufffdB").exists()
    story.configure(name="x" * 100)
    fork(web, story, 2)
    assert Agent.objects.filter(name="x" * 82 + ", forked at step 2").exists()


def test_a_name_that_is_too_long_is_refused_and_kept(story: Agent, web: Client) -> None:
    answer = fork(web, story, 2, name="y" * 101)
    assert answer.status_code == 422
    html = answer.content.decode()
    assert "The name has 101 characters; at most 100 are allowed." in html
    assert "y" * 101 in html
    assert Agent.objects.count() == 1


def test_there_is_no_fork_of_a_step_that_is_not_there(story: Agent, web: Client) -> None:
    assert fork(web, story, 9).status_code == 404
    assert web.get(reverse("past_fork", args=[story.pk, 1])).status_code == 405


def test_a_stranger_reaches_no_past(story: Agent, bobs_web: Client) -> None:
    for name, args in (("past_at", []), ("past", [1]), ("past_part", [1, "prompt"])):
        assert bobs_web.get(reverse(name, args=[story.pk, *args])).status_code == 404
    assert fork(bobs_web, story, 1).status_code == 404
    assert Agent.objects.count() == 1


# -- a long life -----------------------------------------------------------------------------------


def grow(agent: Agent, runs: int, steps: int) -> None:
    """So many runs of so many steps each, stored as if they had been."""
    now = timezone.now()
    made = Run.objects.bulk_create(
        Run(**of(agent), key=f"old-{n}", status="done", reason="end_turn", started_at=now)
        for n in range(runs)
    )
    taken = Step.objects.bulk_create(
        Step(run=run, number=n, status="done", finished_at=now + timedelta(seconds=1))
        for run in made
        for n in range(1, steps + 1)
    )
    Message.objects.bulk_create(
        Message(
            **of(agent), run=step.run, step=step, role="assistant", content=f"Said {n}", number=n
        )
        for n, step in enumerate(taken, agent.message_count + 1)
    )


@pytest.mark.slow
def test_the_past_of_five_thousand_steps_takes_as_many_queries_as_a_short_one(
    story: Agent, web: Client
) -> None:
    def queries(number: int) -> int:
        with CaptureQueriesContext(connection) as captured:
            at(web, story, number)
        return len(captured)

    few = queries(4)
    grow(story, 100, 50)
    for number in (4, 2500, 5005):
        assert queries(number) <= few


def test_of_a_long_past_the_newest_steps_until_then_are_shown(story: Agent, web: Client) -> None:
    grow(story, 3, 50)
    html = part(at(web, story, 105), "past-log")
    assert "Older messages are not shown here" in html
    said = [int(n) for n in re.findall(r"Said (\d+)", html)]
    first = story.message_count + 1
    assert said[-1] == first + 99
    assert said == list(range(said[0], first + 100))
    assert 40 <= len(said) <= 61
