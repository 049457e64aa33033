"""What a page may be in besides as it was loaded, each brought about on a page of an agent's chat.

A state is a function of the open page and its agent's `Stage`; its name says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import FilePayload, Page, expect

from tests.browser import calls_that_wait, stage
from tests.browser.conftest import block, button, composer
from tests.browser.panels import archival, editor, panel, tab
from tests.browser.stage import Stage
from tests.support.fake_openai import text
from tests.support.pictures import picture

State = Callable[[Page, Stage], None]
SHOWN = "() => { for (const id of %s) document.getElementById(id).hidden = false; }"


def conflict(page: Page, stage: Stage) -> None:
    """The block changes while somebody types: 409."""
    button(block(page), "Edit").click()
    value = block(page).get_by_role("textbox").first
    expect(value).to_be_visible()
    stage.server.edit_block(stage.agent, "Name: Carol")
    value.fill("Name: Dave")
    button(block(page), "Save").click()
    expect(page.locator(".conflict")).to_be_visible()


def failed_run(page: Page, at: Stage) -> None:
    stage.leave_out_and_retry(at)
    stage.fail(at)
    expect(page.get_by_role("log").get_by_role("alert").last).to_be_visible()


def images(page: Page, stage: Stage) -> None:
    """One is attached, one was refused: 422."""
    good = FilePayload(name="red.png", mimeType="image/png", buffer=picture(64, 48, "red"))
    bad = FilePayload(name="bad.png", mimeType="image/png", buffer=b"<svg/>")
    page.locator("#attach-file").set_input_files([good])
    expect(page.get_by_role("list", name="Attached files").get_by_role("img")).to_be_visible()
    page.locator("#attach-file").set_input_files([bad])
    expect(page.locator("#composer-error")).to_contain_text("bad.png")


def refused_form(page: Page, stage: Stage) -> None:
    """Settings with a number that cannot be: 422."""
    page.goto(f"{stage.server.url}{stage.path}/settings/")
    page.locator("input[name=max_steps]").evaluate("field => field.removeAttribute('max')")
    page.locator("input[name=max_steps]").fill("5000")
    button(page, "Save").click()
    expect(page.locator(".errorlist").first).to_be_visible()


def drawer(name: str) -> State:
    """On a narrow page; it stays open when the page becomes wide."""

    def opened(page: Page, stage: Stage) -> None:
        page.set_viewport_size({"width": 390, "height": 844})
        page.locator(f".agent-head [data-toggle={name}]").click()
        expect(page.locator(f"#{name}")).to_be_visible()

    return opened


def palette(page: Page, stage: Stage) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("sarah")
    options = page.get_by_role("dialog", name="Search").get_by_role("option")
    expect(options.first).to_contain_text("Sarah")


def shortcuts(page: Page, stage: Stage) -> None:
    page.locator("#scroller").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Shortcuts")).to_be_visible()


def find_bar(page: Page, stage: Stage) -> None:
    page.keyboard.press("Control+f")
    page.keyboard.type("sarah")
    expect(page.locator("#find-count")).to_contain_text("of")


def menus(page: Page, stage: Stage) -> None:
    """Whatever folds out on the page is open."""
    for each in page.locator("summary:visible").all():
        each.evaluate("summary => { summary.parentElement.open = true; }")
    expect(page.get_by_role("textbox", name="Title")).to_be_visible()


def renaming(page: Page, stage: Stage) -> None:
    row = page.locator("#agents .row").first
    row.hover()
    button(row, "Rename Ruth").click()
    expect(page.locator("#rename-agent")).to_be_visible()


def forms_of_memory(page: Page, stage: Stage) -> None:
    """Every form of the panel is open: value, settings, who wrote what, a new block."""
    button(block(page, "persona"), "Settings").click()
    expect(block(page, "persona").get_by_role("textbox", name="Description")).to_be_visible()
    button(block(page), "Who wrote this").click()
    expect(page.locator(".blame")).to_be_visible()
    button(page, "Add a block").click()
    expect(page.get_by_role("textbox", name="Label")).to_have_count(2)


def attaching(page: Page, stage: Stage) -> None:
    button(page, "Attach a block").click()
    expect(page.locator("#new-block form").first).to_be_visible()


def saying_again(page: Page, stage: Stage) -> None:
    button(page, "Edit this message and send it again").press("Enter")
    expect(page.locator(".message-ask textarea")).to_be_visible()


def archive(page: Page, at: Stage) -> None:
    stage.put_away(at)
    tab(page, "Archival").click()
    button(archival(page), "Edit").first.click()
    expect(editor(archival(page), "Text of the passage").first).to_be_visible()


def compacted(page: Page, at: Stage) -> None:
    stage.make_room(at)
    expect(page.locator(".compaction").first).to_be_visible()
    for each in page.locator(".compaction summary").all():
        each.click()


def edits(page: Page, stage: Stage) -> None:
    tab(page, "History").click()
    expect(panel(page).locator(".edit").first).to_be_visible()


def past(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.server.url}{stage.path}/past/1/")
    expect(page.get_by_role("slider", name="Time travel")).to_be_visible()


def new_agent(page: Page, stage: Stage) -> None:
    """Filled in wrong."""
    page.goto(f"{stage.server.url}/agents/new/")
    page.get_by_role("textbox", name="Name", exact=True).fill("")
    page.locator("main form").first.evaluate("form => { form.noValidate = true; }")
    button(page, "Create agent").click()
    expect(page.locator(".errorlist").first).to_be_visible()


def new_token(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.server.url}/tokens/")
    page.get_by_role("textbox", name="Name").fill("Notebook")
    page.locator("main form button.button").first.click()
    expect(page.get_by_text(re.compile("mw_.{20}")).first).to_be_visible()


def tried_tool(page: Page, stage: Stage) -> None:
    page.goto(f"{stage.server.url}/tools/new/")
    page.get_by_role("textbox", name="Source").fill("def broken(:\n    pass")
    button(page, "Save").click()
    expect(page.get_by_text("The source is not Python").first).to_be_visible()


def out_of_reach(page: Page, stage: Stage) -> None:
    """All that is said where there is no way to the server, as it is said at a time."""
    ids = ["offline", "unreachable", "connection", "logged-out", "outdated", "to-newest"]
    page.evaluate(SHOWN % ids)


def never_spoken_to(page: Page, at: Stage) -> None:
    page.goto(f"{at.server.url}/agents/{at.server.make_agent('Fresh')}/")
    expect(composer(page)).to_be_visible()


def working(page: Page, at: Stage) -> None:
    """It streams an answer after a call, and messages wait."""
    stage.call_tools_and_go_on(at)
    at.send("And <another>")
    at.model.script(text("There."))
    expect(page.get_by_role("list", name="Queued messages")).to_be_visible()
    expect(page.get_by_role("log")).to_contain_text("Once")


def by_others(do: Callable[[Stage], None], shows: str) -> State:
    """What the agent or a script does, until it is drawn."""

    def happens(page: Page, at: Stage) -> None:
        do(at)
        expect(page.locator(shows).first).to_be_visible()

    return happens


STATES: dict[str, State] = {
    "conflict": conflict,
    "failed run": failed_run,
    "images": images,
    "refused form": refused_form,
    "agents' drawer": drawer("sidebar"),
    "memory's drawer": drawer("inspector"),
    "palette": palette,
    "shortcuts": shortcuts,
    "find bar": find_bar,
    "menus": menus,
    "renaming": renaming,
    "forms of memory": forms_of_memory,
    "attaching": attaching,
    "saying again": saying_again,
    "archive": archive,
    "compacted": compacted,
    "edits": edits,
    "past": past,
    "new agent": new_agent,
    "new token": new_token,
    "tried tool": tried_tool,
    "out of reach": out_of_reach,
    "never spoken to": never_spoken_to,
    "working": working,
    "reasoning": by_others(stage.stream_reasoning, ".step.running details, .step details"),
    "asking": by_others(calls_that_wait.ask_for_approval, "#core-memory .approval"),
    "a script's tool": by_others(calls_that_wait.bring_a_tool, "#log .approval"),
    "trying again": by_others(stage.try_again, "#status .working"),
    "reflection": by_others(stage.reflect, ".run-kind"),
    "versions": by_others(stage.say_again, ".versions"),
    "code": by_others(stage.finish, "#log .markdown pre"),
}
