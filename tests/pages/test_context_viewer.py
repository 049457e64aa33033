"""The context window's picture and chart, with what a step costs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from agents.llm import model_lists
from agents.llm.prices import dollars
from agents.memory.context import compile_context, sections
from agents.models import Agent, Block, Event, RequestText, Run, Step
from agents.pages import context_chart, step_chart
from agents.pages.context import bar_now, context_now
from agents.pages.context_chart import ContextBar
from agents.text.core_memory import JSON_TEMPLATE, TAGS_TEMPLATE
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.stored import of


def shown(web: Client, agent: Agent) -> str:
    answer = web.get(reverse("panel_tab", args=[agent.pk, "context"]))
    assert answer.status_code == 200
    return answer.content.decode()


def bar(agent: Agent) -> ContextBar:
    return bar_now(Agent.objects.get(pk=agent.pk).first_conversation)


def by_key(bar: ContextBar) -> dict[str, context_chart.BarPart]:
    return {share.key: share for share in bar.shares}


# -- the picture -----------------------------------------------------------------------------------


def test_every_part_of_the_window_is_in_the_bar(agent: Agent, ask: Ask) -> None:
    ask("Hello")
    found = bar(agent)
    names = [share.name for share in found.shares]
    assert names == [
        "System prompt",
        "Block persona",
        "Block human",
        "Metadata",
        "Tool definitions",
        "Messages",
        "Free",
    ]
    assert sum(share.width for share in found.shares) == pytest.approx(100, abs=0.1)
    ends = [share.x + share.width for share in found.shares]
    assert ends == pytest.approx([*(share.x for share in found.shares[1:]), 100], abs=0.01)
    assert abs(sum(share.tokens for share in found.shares) - found.window) <= len(names)
    assert found.full == pytest.approx(85)


def test_the_blocks_shares_are_core_memorys_size(agent: Agent) -> None:
    for label, value in (("日本", "ü" * 99), ("empty", "")):
        block = Block.objects.create(owner=agent.owner, label=label, value=value)
        agent.attach(block)
    context = compile_context(agent.first_conversation)
    whole = next(part.size for part in sections(context) if part.kind == "core_memory")
    for template in (TAGS_TEMPLATE, JSON_TEMPLATE, "{{ memory.human.value }}{{ memory.empty }}"):
        found = context_chart.context_bar(context, list(context.blocks), template, "m")
        blocks = [share for share in found.shares if share.label]
        assert [share.label for share in blocks] == ["persona", "human", "日本", "empty"]
        assert sum(share.size for share in blocks) == whole


def test_the_numbers_agree_with_what_the_endpoint_reports(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.default = text("A plain answer of the usual length, which goes on for a line or so.")
    for number in range(8):
        ask(f"Question {number}: what did I say of the garden, and what should I do this week?")
        if not number:
            continue
        before = bar(agent).tokens
        words = "And now for something that takes a few more words than that."
        ask(words)
        step = Step.objects.order_by("-pk")[0]
        assert step.prompt_tokens
        asked = compile_context(Agent.objects.get(pk=agent.pk).first_conversation).tokens(
            len(words) + 40
        )
        assert (before + asked) / step.prompt_tokens == pytest.approx(1, abs=0.05)


def test_tokens_are_estimated_until_an_endpoint_has_reported(
    agent: Agent, web: Client, ask: Ask
) -> None:
    assert "Estimated at 4 bytes per token" in shown(web, agent)
    ask("Hello")
    html = shown(web, agent)
    assert "Estimated" not in html
    assert "as the endpoint counted them" in html


def test_what_is_larger_than_the_window_is_drawn_to_its_own_scale(agent: Agent) -> None:
    agent.configure(context_window=1000, system_prompt="x" * 8000)
    found = bar(agent)
    assert found.shares[-1].tokens == found.shares[-1].width == 0
    assert found.end < 100
    assert found.percent > 100
    assert sum(share.width for share in found.shares) == pytest.approx(100, abs=0.1)


def test_small_parts_can_be_seen(agent: Agent) -> None:
    agent.configure(context_window=1_000_000)
    assert all(share.width >= context_chart.NARROWEST for share in bar(agent).shares)


def test_a_parts_text_is_what_the_model_is_sent(agent: Agent, web: Client, ask: Ask) -> None:
    ask("Hello <b>")
    human = agent.block("human")
    assert human
    texts = {
        key: web.get(reverse("context_part", args=[agent.pk, key])).content.decode()
        for key in by_key(bar(agent))
        if key != "free"
    }
    assert "You are a tutor." in texts["prompt"]
    assert "Name: Bob" in texts[f"block-{human.pk}"]
    assert "helpful" not in texts[f"block-{human.pk}"]
    assert "Hello &lt;b&gt;" in texts["messages"]
    assert "core_memory_append" in texts["tools"]
    for name in ("free", "nonsense"):
        assert web.get(reverse("context_part", args=[agent.pk, name])).status_code == 404


def test_of_a_very_long_part_the_end_is_shown(
    agent: Agent, web: Client, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.pages.context.LONGEST_TEXT", 500)
    ask("The beginning. " + "x" * 500)
    ask("The end.")
    html = web.get(reverse("context_part", args=[agent.pk, "messages"])).content.decode()
    assert "characters are not shown here" in html
    assert "The beginning." not in html
    assert "The end." in html


def test_looking_changes_nothing_and_asks_nobody(
    agent: Agent, web: Client, ask: Ask, model: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask("Hello")
    step = Step.objects.get()

    def refuse(*args: Any, **more: Any) -> None:
        raise AssertionError("Nobody is to be asked.")

    monkeypatch.setattr("agents.llm.clients.client", refuse)
    model_lists.forget()
    seen = len(model.raw_bodies), Event.objects.count(), RequestText.objects.count()
    for handle in ("", "vendor/some-model", "letta/letta-free", "other"):
        Agent.objects.filter(pk=agent.pk).update(model=handle)
        shown(web, agent)
        web.get(reverse("step_request", args=[agent.pk, step.pk]))
    assert seen == (len(model.raw_bodies), Event.objects.count(), RequestText.objects.count())


def test_where_only_the_endpoint_could_say_the_last_steps_model_counts(
    agent: Agent, ask: Ask, settings: Settings
) -> None:
    ask("Hello")
    Step.objects.update(model="told-before", window=12_345)
    settings.MODEL = ""
    model_lists.forget()
    context, model, _ = context_now(agent.first_conversation)
    assert (model, context.window) == ("told-before", 12_345)
    agent.model = "gpt-4o"
    context, model, _ = context_now(agent.first_conversation)
    assert (model, context.window) == ("gpt-4o", 128_000)


def test_tools_that_a_rule_holds_back_are_not_in_it(agent: Agent) -> None:
    first = {"tool_name": "core_memory_append", "type": "run_first"}
    agent.configure(tool_rules=[first])
    context, _, _ = context_now(agent.first_conversation)
    assert [tool["function"]["name"] for tool in json.loads(context.tools)] == [
        "core_memory_append"
    ]
    assert context.options == {"tool_choice": "required"}


# -- over time -------------------------------------------------------------------------------------


def steps_made(agent: Agent, count: int, **fields: Any) -> list[Step]:
    run = Run.objects.create(**of(agent), key="many", text="Many", status="done", reason="end_turn")
    made = [
        Step(
            run=run,
            number=number,
            status="done",
            model="priced-model",
            **{"window": 1000, "prompt_tokens": number, "completion_tokens": 10} | fields,
        )
        for number in range(1, count + 1)
    ]
    Step.objects.bulk_create(made)
    return list(run.steps.all())


def test_there_is_no_chart_before_the_first_step(agent: Agent, web: Client) -> None:
    assert "will be drawn here" in shown(web, agent)
    assert step_chart.chart(agent.first_conversation) is None


def test_each_bar_leads_to_its_step(agent: Agent, web: Client) -> None:
    made = steps_made(agent, 3)
    html = shown(web, agent)
    assert re.findall(r'data-step="(\d+)"', html) == [str(step.pk) for step in made]
    assert f"?panel=context&amp;step={made[0].pk}#step-{made[0].pk}" in html
    assert 'aria-label="Step 3: 3 tokens sent, 10 received"' in html


def test_the_newest_two_hundred_steps_are_drawn(agent: Agent, web: Client) -> None:
    made = steps_made(agent, 230)
    chart = step_chart.chart(agent.first_conversation)
    assert chart
    assert [bar.step for bar in chart.bars] == [step.pk for step in made[30:]]
    assert (chart.bars[0].number, chart.bars[-1].number) == (31, 230)
    assert chart.bars[-1].x + chart.bars[-1].width == pytest.approx(100, abs=0.5)
    assert "The newest 200 of 230 steps" in shown(web, agent)


def test_the_chart_is_as_high_as_its_bars_with_the_windows_that_fit_in(agent: Agent) -> None:
    made = steps_made(agent, 6, prompt_tokens=1000)
    for steps, window in ((made[:2], 1000), (made[2:4], 500), (made[4:], 2000)):
        Step.objects.filter(pk__in=[step.pk for step in steps]).update(window=window)
    chart = step_chart.chart(agent.first_conversation)
    assert chart
    assert {bar.prompt for bar in chart.bars} == {90.909}
    assert [(level.tokens, round(level.window)) for level in chart.levels] == [
        (1000, 91),
        (500, 45),
    ]
    assert chart.levels[0].end == chart.levels[1].x


def test_many_small_parts_are_one_part_of_the_bar(agent: Agent, web: Client) -> None:
    for number in range(5):
        block = Block.objects.create(owner=agent.owner, label=f"small {number}", value="x")
        agent.attach(block)
    agent.configure(system_prompt="Be kind. " * 2000)
    found = bar(agent)
    assert found.folded
    small = [share for share in found.shares if share.is_small]
    assert {f"small {number}" for number in range(5)} <= {share.label for share in small}
    assert found.folded.tokens == sum(share.tokens for share in small)
    drawn = [share for share in found.shares if not share.is_small]
    assert found.folded.width + sum(share.width for share in drawn) == pytest.approx(100, abs=0.1)
    html = shown(web, agent)
    assert f"{len(small)} small parts" in html
    assert "Block small 3" in html


def test_a_step_without_usage_is_told_as_estimated(agent: Agent, web: Client) -> None:
    steps_made(agent, 1, prompt_tokens=None, completion_tokens=None, context_tokens=77)
    assert "Step 1: 77 tokens sent (estimated), 0 received" in shown(web, agent)


# -- costs -----------------------------------------------------------------------------------------


def test_without_a_price_no_costs_are_shown(agent: Agent, web: Client) -> None:
    steps_made(agent, 2)
    assert "$" not in shown(web, agent)


def test_costs_are_shown_where_the_model_has_a_price(
    agent: Agent, web: Client, settings: Settings
) -> None:
    settings.PRICES = '{"priced": [1000, 10000], "memoryweb-demo": [10, 10]}'
    steps_made(agent, 2)
    html = shown(web, agent)
    assert "Step 2: 2 tokens sent, 10 received, $0.10" in html
    assert "They cost $0.20." in html
    found = bar(agent)
    assert found.cost == dollars(found.tokens / 100_000)
    assert found.shares[-1].cost == ""


# -- who may look ----------------------------------------------------------------------------------


def test_a_stranger_sees_none_of_it(agent: Agent, ask: Ask, bob: User, bobs_web: Client) -> None:
    ask("Hello")
    step = Step.objects.get()
    for name, args in (
        ("panel_tab", ["context"]),
        ("context_part", ["prompt"]),
        ("step_request", [step.pk]),
        ("step_request_raw", [step.pk]),
    ):
        assert bobs_web.get(reverse(name, args=[agent.pk, *args])).status_code == 404
    own = Agent.objects.create(owner=bob, name="Bob's")
    for name in ("step_request", "step_request_raw"):
        assert bobs_web.get(reverse(name, args=[own.pk, step.pk])).status_code == 404
